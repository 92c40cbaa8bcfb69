"""The parser of `drive-agent`: its commands, their options, and the function that runs each (imported when needed)."""

from argparse import REMAINDER, SUPPRESS, ArgumentParser, ArgumentTypeError
from importlib.metadata import version
from pathlib import Path

from api.cli.file_arguments import Commands, add_file_commands
from api.cli.help import PlainHelp
from api.cli.parser import Parser
from api.cli.texts import text

SCOPES = ("read", "write", "share", "delete", "purge")
TIERS = ("core", "all", "whole")
MAX_DAYS_OF_KEYS = 3650
RISK_LEVELS = ("read", "write")
CONFIG_HELP = "file of settings (default: drive-agent.env in the data directory)"
EPILOG = """\
Commands that work in the drive talk to the running service, or to the one at --url; with none running
they start the same service for as long as they last.

Settings come from the environment, then from the file of --config; without --config, from drive-agent.env
in the data directory (DRIVE_DATA_DIR). No file of the current folder is read.

Exit codes: 0 done, 1 failed (a sentence says why), 2 wrong usage.
"""


def build_parser() -> Parser:
    """Return the parser; a parsed command has `target`, the `module:function` below `api.cli` that runs it."""
    parser = Parser(
        prog="drive-agent",
        description="Your drive, and an assistant that works in it, asks before what matters, and can take it back.",
        epilog=EPILOG,
        formatter_class=PlainHelp,
    )
    parser.add_argument("--version", action="version", version=f"drive-agent {version('drive-agent')}")
    parser.add_argument("--config", type=Path, metavar="FILE", help=CONFIG_HELP)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    common = _common_options()
    client = _client_options(common)
    _add_service_commands(commands, common)
    _add_status(commands, client)
    _add_backup(commands, common)
    _add_chat(commands, client)
    _add_drive_commands(commands, client)
    add_file_commands(commands, client)
    _add_grant_commands(commands, client)
    _add_thread_commands(commands, client)
    _add_memory_commands(commands, client)
    _add_plan_commands(commands, client)
    _add_server_commands(commands, client)
    _add_assistant_commands(commands, client)
    _add_people_commands(commands, client)
    return parser


def _common_options() -> ArgumentParser:
    options = ArgumentParser(add_help=False)
    # Without a default, which would replace a value given before the command.
    options.add_argument("--config", type=Path, metavar="FILE", default=SUPPRESS, help=CONFIG_HELP)
    return options


def _client_options(common: ArgumentParser) -> ArgumentParser:
    options = ArgumentParser(add_help=False, parents=[common])
    options.add_argument("--url", help="address of the service to use (or DRIVE_AGENT_URL)")
    options.add_argument("--token", help="access token or API key (or DRIVE_AGENT_TOKEN; default: the local token)")
    return options


def _add_service_commands(commands: Commands, common: ArgumentParser) -> None:
    serve = commands.add_parser("serve", parents=[common], help="start the service")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=_port, default=8000, help="port; 0 takes a free one (default: %(default)s)")
    serve.add_argument("--log-level", choices=("debug", "info", "warning", "error"), help="least level of the log")
    serve.add_argument("--tls-cert", metavar="FILE", help="serve HTTPS with this certificate (PEM, or DRIVE_TLS_CERT)")
    serve.add_argument("--tls-key", metavar="FILE", help="its private key (PEM, or DRIVE_TLS_KEY)")
    serve.set_defaults(target="service.serve:serve")
    mcp = commands.add_parser("mcp", parents=[common], help="serve the drive as an MCP server over stdio")
    mcp.add_argument("--tools", choices=TIERS, help="the tools that the host is shown at first (default: core)")
    mcp.set_defaults(target="service.stdio:serve_stdio")
    completion = commands.add_parser("completion", help="print what a shell needs to complete these commands")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    # The scripts' call: the words of a line up to the cursor, to complete the last one.
    completion.add_argument("line", nargs=REMAINDER, help=SUPPRESS)
    completion.set_defaults(target="completion.command:completion")
    admin = commands.add_parser("admin", help="the first administrator").add_subparsers(metavar="create", required=True)
    first = admin.add_parser("create", parents=[common], help="make the first administrator; prints their key once")
    first.add_argument("email", metavar="EMAIL")
    first.set_defaults(target="commands.first_admin:create_first_admin")
    doctor = commands.add_parser("doctor", parents=[common], help="check this installation")
    doctor.add_argument("--json", action="store_true", help="print the checks as JSON")
    doctor.set_defaults(target="commands.doctor:doctor")


def _add_chat(commands: Commands, client: ArgumentParser) -> None:
    chat = commands.add_parser(
        "chat",
        parents=[client],
        help="talk to the assistant",
        epilog="Approvals are answered with y, n or e(dit); when standard input ends first, they are rejected and "
        "the exit code is 1.",
    )
    chat.add_argument(
        "message",
        nargs="?",
        type=_message,
        metavar="MESSAGE",
        help="without it: an interactive chat; -: a pipe's text",
    )
    which = chat.add_mutually_exclusive_group()
    which.add_argument("--thread", metavar="ID", help="go on with this conversation")
    which.add_argument("--continue", action="store_true", dest="newest", help="go on with the one used last")
    chat.add_argument("--folder", metavar="PATH", help="the folder of the drive you are in")
    chat.add_argument("--file", metavar="PATH", help="the file of the drive you have open")
    chat.add_argument("--model", metavar="NAME", help="the model of this conversation, from now on")
    chat.add_argument("--assistant", metavar="NAME", help="the assistant of this conversation, from now on")
    answering = chat.add_mutually_exclusive_group()
    answering.add_argument(
        "--yes-to", choices=RISK_LEVELS, help="approve actions up to this risk unasked; never sharing or deleting"
    )
    answering.add_argument(
        "--unattended", action="store_true", help="don't ask: what needs an approval waits for days until you come"
    )
    chat.add_argument("--json", action="store_true", help="print the events as JSON, one a line")
    chat.set_defaults(target="chat.command:chat")


def _add_status(commands: Commands, client: ArgumentParser) -> None:
    status = commands.add_parser("status", parents=[client], help="state of the service; for administrators")
    status.add_argument("--json", action="store_true", help="print the state as JSON")
    status.set_defaults(target="commands.status:status")


def _add_drive_commands(commands: Commands, client: ArgumentParser) -> None:
    _add_export(commands, client)
    importer = commands.add_parser("import", parents=[client], help="take a folder or file of this computer in")
    importer.add_argument(
        "directory", metavar="DIR", help="the folder to import, with all that is below it; a file; or an export"
    )
    importer.add_argument(
        "--into", metavar="PATH", help="folder of the drive that takes the content of DIR (default: one named like DIR)"
    )
    importer.add_argument("--no-wait", action="store_true", help="don't wait until the files can be searched")
    importer.set_defaults(target="exports.restore:import_any")
    listing = commands.add_parser("ls", parents=[client], help="list a folder of the drive")
    listing.add_argument("path", nargs="?", default="/", metavar="PATH", help="path or id (default: %(default)s)")
    listing.add_argument("--json", action="store_true", help="print the items as a JSON array")
    listing.set_defaults(target="commands.drive:list_folder")
    search = commands.add_parser("search", parents=[client], help="find files by name, words and meaning")
    search.add_argument("query", nargs="?", default="", metavar="QUERY", help="leave it out to list by the options")
    search.add_argument("--kind", choices=("file", "folder"), help="only files, or only folders")
    search.add_argument("--type", metavar="TYPE", help="only files of a type, such as pdf, image or .docx")
    search.add_argument("--belongs-to", metavar="WHOM", help="only what belongs to me, shared (others) or an email")
    search.add_argument("--modified-after", metavar="TIME", help="only what is of this time (ISO 8601) or later")
    search.add_argument("--modified-before", metavar="TIME", help="only what is of before this time (ISO 8601)")
    search.add_argument("--json", action="store_true", help="print the hits as a JSON array")
    search.set_defaults(target="commands.drive:search")
    index = commands.add_parser("index", parents=[client], help="the search index: its state, or build it anew")
    action = index.add_mutually_exclusive_group(required=True)
    action.add_argument("--status", action="store_true", help="say how far it is and what could not be read")
    action.add_argument("--rebuild", action="store_true", help="read all files again")
    index.add_argument("--json", action="store_true", help="print the status as JSON")
    index.set_defaults(target="commands.drive:index")
    undo = commands.add_parser("undo", parents=[client], help="take back what a run, a conversation or one change did")
    redo = commands.add_parser("redo", parents=[client], help="do again what was taken back")
    for command, name in ((undo, "undo"), (redo, "redo")):
        what = command.add_mutually_exclusive_group(required=True)
        what.add_argument("run_id", nargs="?", metavar="RUN_ID", help="a run of the assistant")
        what.add_argument("--change", type=_count, metavar="NUMBER", help="one change, whoever made it for you")
        if name == "undo":
            what.add_argument("--thread", metavar="ID", help="all runs of this conversation, as one change")
            command.add_argument("--since", metavar="RUN_ID", help="of the conversation only this run and later ones")
        command.add_argument("--yes", action="store_true", help="don't ask after the preview")
        command.set_defaults(target=f"commands.undo:{name}")
    audit = commands.add_parser("audit", parents=[client], help="say what a run called, and who allowed it")
    audit.add_argument("run_id", metavar="RUN_ID")
    audit.add_argument("--json", action="store_true", help="print the audit as JSON")
    audit.set_defaults(target="commands.audit:audit")


def _add_export(commands: Commands, client: ArgumentParser) -> None:
    export = commands.add_parser("export", parents=[client], help="give the whole drive out, as a folder or a zip file")
    export.add_argument(
        "target_path",
        metavar="DIR|FILE.zip",
        help="a new folder or zip file; or an export, which is brought up to date",
    )
    export.add_argument("--verify", action="store_true", help="check the export that is there, and change nothing")
    export.set_defaults(target="exports.command:export")


def _add_backup(commands: Commands, common: ArgumentParser) -> None:
    backup = commands.add_parser("backup", parents=[common], help="copy all data of this machine's service elsewhere")
    backup.add_argument("target_path", metavar="DIR", help="folder of backups; a later one copies only what is new")
    backup.add_argument("--keep", type=_count, default=7, metavar="N", help="backups to keep (default: %(default)s)")
    backup.add_argument("--verify", action="store_true", help="check the backups that are there, and make none")
    backup.set_defaults(target="backups.backup:backup")
    restore = commands.add_parser("restore", parents=[common], help="make a backup the data of a service")
    restore.add_argument("source_path", metavar="DIR", help="folder of backups")
    restore.add_argument("--generation", metavar="TIME", help="the backup of that name (default: the newest)")
    restore.add_argument("--into", metavar="FOLDER", help="data directory to make (default: that of the settings)")
    restore.add_argument("--force", action="store_true", help="give a folder that is there another name first")
    restore.set_defaults(target="backups.restore:restore")
    migrate = commands.add_parser("migrate", parents=[common], help="move a data directory to PostgreSQL")
    migrate.add_argument(
        "source_path", nargs="?", metavar="DIR", help="data directory to move (default: that of the settings)"
    )
    migrate.set_defaults(target="backups.migration:migrate")


def _add_grant_commands(commands: Commands, client: ArgumentParser) -> None:
    grants = commands.add_parser("grants", help="what the assistant may do unasked")
    actions = grants.add_subparsers(metavar="list|withdraw", required=True)
    listing = actions.add_parser("list", parents=[client], help="list the grants that hold now")
    listing.add_argument("--json", action="store_true", help="print the grants as a JSON array")
    listing.set_defaults(target="commands.grants:list_grants")
    withdraw = actions.add_parser("withdraw", parents=[client], help="be asked again from now on")
    withdraw.add_argument("grant_id", metavar="ID")
    withdraw.set_defaults(target="commands.grants:withdraw_grant")


def _add_thread_commands(commands: Commands, client: ArgumentParser) -> None:
    names = "list|search|show|rename|delete|export"
    threads = commands.add_parser("threads", help="your conversations").add_subparsers(metavar=names, required=True)
    listing = threads.add_parser("list", parents=[client], help="list them, the one used last first")
    listing.add_argument("--json", action="store_true", help="print them as a JSON array")
    listing.set_defaults(target="commands.threads:list_threads")
    search = threads.add_parser("search", parents=[client], help="find some by words of titles and messages")
    search.add_argument("query", type=_message, metavar="QUERY")
    search.add_argument("--json", action="store_true", help="print them as a JSON array")
    search.set_defaults(target="commands.threads:search")
    export = threads.add_parser("export", parents=[client], help="write one to a file, with calls and citations")
    export.add_argument("thread", metavar="ID")
    export.add_argument("to", nargs="?", default="-", metavar="FILE", help="where to (default: standard output)")
    export.add_argument("--format", choices=("markdown", "json"), default="markdown")
    export.set_defaults(target="commands.threads:export")
    show = threads.add_parser("show", parents=[client], help="print the messages of one")
    show.add_argument("thread", metavar="ID")
    show.add_argument("--json", action="store_true", help="print it as JSON")
    show.set_defaults(target="commands.threads:show")
    rename = threads.add_parser("rename", parents=[client], help="give one another title")
    rename.add_argument("thread", metavar="ID")
    rename.add_argument("title", type=_message, metavar="TITLE")
    rename.set_defaults(target="commands.threads:rename")
    delete = threads.add_parser("delete", parents=[client], help="delete some for good; their changes stay")
    delete.add_argument("threads", nargs="+", metavar="ID")
    delete.add_argument("--yes", action="store_true", help="don't ask")
    delete.set_defaults(target="commands.threads:delete")


def _add_memory_commands(commands: Commands, client: ArgumentParser) -> None:
    memory = commands.add_parser("memory", help="what the assistant was asked to remember")
    actions = memory.add_subparsers(metavar="list|forget|edit", required=True)
    listing = actions.add_parser("list", parents=[client], help="list what is remembered")
    listing.add_argument("--json", action="store_true", help="print the facts as a JSON array")
    listing.set_defaults(target="commands.memory:list_memories")
    forget = actions.add_parser("forget", parents=[client], help="forget a fact for good")
    forget.add_argument("memory", metavar="ID")
    forget.set_defaults(target="commands.memory:forget")
    edit = actions.add_parser("edit", parents=[client], help="give a fact another text")
    edit.add_argument("memory", metavar="ID")
    edit.add_argument("text", type=_message, metavar="TEXT")
    edit.set_defaults(target="commands.memory:edit")


def _add_plan_commands(commands: Commands, client: ArgumentParser) -> None:
    one = ArgumentParser(add_help=False, parents=[client])
    one.add_argument("thread", metavar="THREAD", help="id of the conversation, as `chat` prints it")
    one.add_argument("--json", action="store_true", help="print the plan as JSON")
    names = "show|edit|pause|resume|stop"
    plan = commands.add_parser("plan", help="the plan of a conversation").add_subparsers(metavar=names, required=True)
    show = plan.add_parser("show", parents=[one], help="what was done and what is to come")
    show.set_defaults(target="commands.plan:show")
    edit = plan.add_parser("edit", parents=[one], help="change steps that have not begun")
    what = edit.add_mutually_exclusive_group(required=True)
    what.add_argument("--step", type=int, metavar="N", help="the step to change")
    what.add_argument("--stdin", action="store_true", help="take the list of the steps from standard input, as JSON")
    edit.add_argument("--title", metavar="TEXT", help="what the step is called")
    edit.add_argument("--instruction", metavar="TEXT", help="what the step does")
    edit.add_argument("--remove", action="store_true", help="leave the step out")
    edit.set_defaults(target="commands.plan:edit")
    commands_of_plan = {
        "pause": "wait after the running step, as long as it takes",
        "resume": "let it go on",
        "stop": "end it after the running step; what was done stays",
    }
    for name, summary in commands_of_plan.items():
        plan.add_parser(name, parents=[one], help=summary).set_defaults(target="commands.plan:change", command=name)


def _add_server_commands(commands: Commands, client: ArgumentParser) -> None:
    named = ArgumentParser(add_help=False, parents=[client])
    named.add_argument("server", metavar="SERVER", help="name or id")
    names = "list|add|edit|test|tools|enable|disable|remove|import"
    servers = commands.add_parser("servers", help="your own MCP servers").add_subparsers(metavar=names, required=True)
    listing = servers.add_parser("list", parents=[client], help="list your servers")
    listing.add_argument("--json", action="store_true", help="print the servers as a JSON array")
    listing.set_defaults(target="servers.definitions:list_servers")
    add = servers.add_parser("add", parents=[client], help="define a server, and test it")
    add.add_argument("name", metavar="NAME")
    # --url is the address of the service, in every command.
    add.add_argument("server_url", nargs="?", default="", metavar="URL", help="its address, if it is remote")
    add.add_argument("--type", choices=("sse", "streamableHttp"), help="without it, told by the address")
    add.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="of a call (default: %(default)s)")
    edit = servers.add_parser("edit", parents=[named], help="change a server")
    edit.add_argument("--name", metavar="NAME", help="another name")
    edit.add_argument("--timeout", type=float, metavar="SECONDS", help="of a call")
    edit.set_defaults(target="servers.definitions:edit")
    secret = "its value is asked for, or taken from a variable of that name"  # noqa: S105 - a help text
    for command in (add, edit):
        for option, summary in (("--header", "header of every request"), ("--env", "environment of the program")):
            command.add_argument(
                option, action="append", default=[], metavar="NAME[=VALUE]", help=f"{summary}; {secret}"
            )
    add.add_argument("--stdio", nargs=REMAINDER, metavar="...", help="last: the program to run, and its arguments")
    add.set_defaults(target="servers.definitions:add")
    test = servers.add_parser("test", parents=[named], help="connect to a server now")
    test.add_argument("--json", action="store_true", help="print the result as JSON")
    test.set_defaults(target="servers.definitions:test")
    _add_tool_commands(servers, named)
    sign_in = servers.add_parser("sign-in", parents=[named], help="sign in to a server with your browser (OAuth)")
    sign_in.set_defaults(target="servers.sign_in:sign_in")
    sign_out = servers.add_parser("sign-out", parents=[named], help="delete the tokens of a sign-in")
    sign_out.set_defaults(target="servers.sign_in:sign_out")
    remove = servers.add_parser("remove", parents=[named], help="delete a server")
    remove.set_defaults(target="servers.definitions:remove")
    importer = servers.add_parser("import", parents=[client], help="take over those of Claude Desktop, Cursor, VS Code")
    importer.add_argument("file", metavar="FILE", help="their JSON; - is standard input")
    importer.set_defaults(target="servers.importing:import_servers")


def _add_tool_commands(servers: Commands, named: ArgumentParser) -> None:
    tools = servers.add_parser("tools", parents=[named], help="list the tools of a server, or decide about one")
    decisions = {
        "--accept": "use its changed definition, which is shown",
        "--auto-approve": "don't ask before it is called",
        "--ask": "ask again before it is called",
    }
    for option, summary in decisions.items():
        tools.add_argument(option, action="append", default=[], metavar="TOOL", help=summary)
    tools.add_argument("--json", action="store_true", help="print the tools as a JSON array")
    tools.set_defaults(target="servers.tools:tools")
    for name, enabled in {"enable": True, "disable": False}.items():
        switch = servers.add_parser(name, parents=[named], help=f"{name} a server, or only some of its tools")
        switch.add_argument("tools", nargs="*", metavar="TOOL")
        switch.set_defaults(target="servers.tools:switch", enabled=enabled)


def _add_assistant_commands(commands: Commands, client: ArgumentParser) -> None:
    fields = ArgumentParser(add_help=False, parents=[client])
    fields.add_argument("--description", metavar="TEXT")
    fields.add_argument("--model", metavar="NAME", help="its model; '' is the one of the settings")
    fields.add_argument("--instructions", metavar="TEXT", help="how it works")
    fields.add_argument("--drive-tools", metavar="NAME,...", help="the drive's tools that it may use; all: any")
    fields.add_argument("--default", action="store_true", help="new conversations have it")
    chosen = fields.add_mutually_exclusive_group()
    chosen.add_argument("--server", action="append", default=[], metavar="NAME", help="an MCP server that it uses")
    chosen.add_argument("--no-servers", action="store_true", help="it uses none")
    named = ArgumentParser(add_help=False)
    named.add_argument("assistant", metavar="ASSISTANT", help="name or id")
    names = "list|create|edit|delete"
    assistants = commands.add_parser("assistants", help="assistants of your own").add_subparsers(
        metavar=names, required=True
    )
    listing = assistants.add_parser("list", parents=[client], help="list your assistants and their servers")
    listing.add_argument("--json", action="store_true", help="print the assistants as a JSON array")
    listing.set_defaults(target="servers.assistants:list_assistants")
    create = assistants.add_parser("create", parents=[fields], help="define an assistant")
    create.add_argument("name", metavar="NAME")
    create.set_defaults(target="servers.assistants:create")
    edit = assistants.add_parser("edit", parents=[named, fields], help="change an assistant")
    edit.add_argument("--name", metavar="NAME", help="another name")
    edit.set_defaults(target="servers.assistants:edit")
    delete = assistants.add_parser("delete", parents=[named, client], help="delete an assistant")
    delete.set_defaults(target="servers.assistants:delete")


def _add_people_commands(commands: Commands, client: ArgumentParser) -> None:
    keys = commands.add_parser("key", help="API keys").add_subparsers(metavar="create|list|revoke", required=True)
    create = keys.add_parser("create", parents=[client], help="make a key; its secret is printed once")
    create.add_argument("name", metavar="NAME")
    create.add_argument("--scope", required=True, type=_scopes, metavar=",".join(SCOPES), help="what it may do")
    create.add_argument("--days", type=_days, metavar="N", help="days until it expires (default: never)")
    create.add_argument("--tools", choices=TIERS, help="the tools that an MCP host with it is shown at first")
    create.add_argument("--json", action="store_true", help="print the key as JSON")
    create.set_defaults(target="commands.keys:create_key")
    listing = keys.add_parser("list", parents=[client], help="list your keys")
    listing.add_argument("--json", action="store_true", help="print the keys as a JSON array")
    listing.set_defaults(target="commands.keys:list_keys")
    revoke = keys.add_parser("revoke", parents=[client], help="make a key useless, at once and for good")
    revoke.add_argument("key", metavar="ID", help="the key's id, or its name if only one has it")
    revoke.set_defaults(target="commands.keys:revoke_key")
    link = commands.add_parser("login-link", parents=[client], help="print an address that logs a browser in, once")
    link.set_defaults(target="commands.keys:login_link")
    _add_user_commands(commands, client)
    _add_group_commands(commands, client)


def _add_user_commands(commands: Commands, client: ArgumentParser) -> None:
    names = "add|list|disable|enable|promote|demote|reset-password|remove"
    users = commands.add_parser("user", help="people").add_subparsers(metavar=names, required=True)
    add = users.add_parser("add", parents=[client], help="give a person a drive; prints their first key once")
    add.add_argument("email", metavar="EMAIL")
    add.set_defaults(target="commands.people:add_user")
    people = users.add_parser("list", parents=[client], help="list who has an account; for administrators")
    people.add_argument("--json", action="store_true", help="print the accounts as a JSON array")
    people.set_defaults(target="commands.people:list_users")
    for name, words in (
        ("disable", "let nobody act as a person: keys, sessions and runs end at once"),
        ("enable", "let a person in again"),
        ("promote", "make a person an administrator"),
        ("demote", "make a person no administrator"),
    ):
        change = users.add_parser(name, parents=[client], help=words)
        change.add_argument("user", metavar="EMAIL")
        change.set_defaults(target="commands.people:change_user", change=name)
    reset = users.add_parser(
        "reset-password", parents=[client], help="print an address at which a person sets a new password, once"
    )
    reset.add_argument("user", metavar="EMAIL")
    reset.set_defaults(target="commands.people:reset_password")
    remove = users.add_parser("remove", parents=[client], help="remove a person for good")
    remove.add_argument("user", metavar="EMAIL")
    files = remove.add_mutually_exclusive_group(required=True)
    files.add_argument("--hand-over-to", metavar="EMAIL", help="give the files to another person")
    files.add_argument("--delete-files", action="store_true", help="delete the files for good")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    remove.set_defaults(target="commands.people:remove_user")


def _add_group_commands(commands: Commands, client: ArgumentParser) -> None:
    names = "list|create|change|delete"
    groups = commands.add_parser("group", help="groups of people").add_subparsers(metavar=names, required=True)
    listing = groups.add_parser("list", parents=[client], help="list the groups")
    listing.add_argument("--json", action="store_true", help="print the groups as a JSON array")
    listing.set_defaults(target="commands.people:list_groups")
    create = groups.add_parser("create", parents=[client], help="make a group; for administrators")
    create.add_argument("name", metavar="NAME")
    create.add_argument("--member", action="append", default=[], metavar="EMAIL", help="a person in it")
    create.set_defaults(target="commands.people:create_group")
    change = groups.add_parser("change", parents=[client], help="rename a group, or change who is in it")
    change.add_argument("group", metavar="GROUP", help="name or id")
    change.add_argument("--name", metavar="NAME", help="another name")
    change.add_argument("--add", action="append", default=[], metavar="EMAIL", help="a person to put in")
    change.add_argument("--remove", action="append", default=[], metavar="EMAIL", help="a person to take out")
    change.set_defaults(target="commands.people:change_group")
    delete = groups.add_parser("delete", parents=[client], help="delete a group with all access that it was given")
    delete.add_argument("group", metavar="GROUP", help="name or id")
    delete.set_defaults(target="commands.people:delete_group")


def _port(word: str) -> int:
    if word.isascii() and word.isdigit() and int(word) <= 65535:
        return int(word)
    raise ArgumentTypeError(text("no_port", word=word))


def _count(word: str) -> int:
    if word.isascii() and word.isdigit() and int(word[:9]) > 0 and len(word) < 9:
        return int(word)
    raise ArgumentTypeError(text("no_count", word=word))


def _message(words: str) -> str:
    if words.strip():
        return words
    raise ArgumentTypeError(text("no_words"))


def _scopes(words: str) -> list[str]:
    scopes = [word.strip() for word in words.split(",") if word.strip()]
    unknown = [word for word in scopes if word not in SCOPES]
    if unknown or not scopes:
        raise ArgumentTypeError(text("which_scopes", scopes=",".join(SCOPES)))
    return scopes


def _days(word: str) -> int:
    if (
        word.isascii()
        and word.isdigit()
        and len(word) <= len(str(MAX_DAYS_OF_KEYS))
        and 0 < int(word) <= MAX_DAYS_OF_KEYS
    ):
        return int(word)
    raise ArgumentTypeError(text("no_days", word=word, most=MAX_DAYS_OF_KEYS))
