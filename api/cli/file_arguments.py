"""The parsers of the commands for files and folders."""

from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from typing import Any, Protocol

from api.cli.texts import text

HOURS = {"h": 1, "d": 24, "w": 168}
ROLES = ("viewer", "editor")
CONFLICTS = ("fail", "rename", "replace")
PATHS = "path or id in the drive; a quoted pattern (* ? [..] **) names several"


class Commands(Protocol):
    """The result of `ArgumentParser.add_subparsers`, whose class has no public name."""

    def add_parser(self, name: str, **options: Any) -> ArgumentParser:
        """Return the parser of a new command."""
        ...


def add_file_commands(commands: Commands, client: ArgumentParser) -> None:
    """Add the commands for files and folders."""
    as_json = ArgumentParser(add_help=False, parents=[client])
    as_json.add_argument("--json", action="store_true", help="print the result as JSON")
    _add_transfers(commands, as_json, client)
    _add_changes(commands, as_json)
    _add_views(commands, as_json, client)
    _add_shares(commands, as_json)
    _add_trash(commands, as_json, client)
    _add_versions(commands, as_json)


class Several(Action):
    """At least two values: one that goes somewhere, and where to."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: Any, option: str | None = None) -> None:
        """Store the values, or end with the usage."""
        del option
        if len(values) < 2:
            parser.error(text("what_and_where"))
        setattr(namespace, self.dest, values)


def _conflict(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--on-conflict",
        choices=CONFLICTS,
        default="fail",
        help="if the name is taken (default: %(default)s); what is replaced in the drive stays as a version, "
        "or in the trash",
    )


def _add_transfers(commands: Commands, as_json: ArgumentParser, client: ArgumentParser) -> None:
    get = commands.add_parser("get", parents=[as_json], help="fetch files from the drive")
    get.add_argument("paths", nargs="+", metavar="PATH", help=f"{PATHS}; the last of several: where to (- is a pipe)")
    get.add_argument("-r", "--recursive", action="store_true", help="also folders, with all that is in them")
    get.set_defaults(target="files.get:get")
    _conflict(get)
    put = commands.add_parser("put", parents=[as_json], help="send files of this computer into the drive")
    put.add_argument("paths", nargs="+", metavar="FILE", help="- is standard input; the last of several: where to")
    put.add_argument("-r", "--recursive", action="store_true", help="also folders, with all that is in them")
    put.set_defaults(target="files.put:put")
    _conflict(put)
    cat = commands.add_parser("cat", parents=[client], help="print files of the drive")
    cat.add_argument("paths", nargs="+", metavar="PATH", help=PATHS)
    cat.set_defaults(target="files.get:cat")


def _add_changes(commands: Commands, as_json: ArgumentParser) -> None:
    move = commands.add_parser("mv", parents=[as_json], help="move or rename items of the drive")
    move.set_defaults(target="files.organise:move")
    copy = commands.add_parser("cp", parents=[as_json], help="copy items of the drive")
    copy.set_defaults(target="files.organise:copy")
    for command in (move, copy):
        command.add_argument("paths", nargs="+", action=Several, metavar="PATH", help=f"{PATHS}; the last: where to")
        _conflict(command)
    remove = commands.add_parser("rm", parents=[as_json], help="move items of the drive to the trash")
    remove.add_argument("paths", nargs="+", metavar="PATH", help=PATHS)
    for command in (copy, remove):
        command.add_argument("-r", "--recursive", action="store_true", help="for habit: folders go whole anyway")
    remove.set_defaults(target="files.organise:remove")
    folders = commands.add_parser("mkdir", parents=[as_json], help="make folders in the drive")
    folders.add_argument("paths", nargs="+", metavar="PATH")
    folders.add_argument("-p", "--parents", action="store_true", help="also those above; no complaint if it is there")
    folders.set_defaults(target="files.organise:make_folders")


def _add_views(commands: Commands, as_json: ArgumentParser, client: ArgumentParser) -> None:
    tree = commands.add_parser("tree", parents=[as_json], help="show a folder with everything below it")
    tree.add_argument("path", nargs="?", default="/", metavar="PATH", help="path or id (default: %(default)s)")
    tree.add_argument("--depth", type=_count, metavar="N", help="only so many levels")
    tree.set_defaults(target="files.listing:tree")
    usage = commands.add_parser("du", parents=[as_json], help="say how much room folders take")
    usage.add_argument("paths", nargs="*", default=["/"], metavar="PATH", help="path or id (default: /)")
    usage.add_argument("--depth", type=_count, default=1, metavar="N", help="levels with a line (default: %(default)s)")
    usage.set_defaults(target="files.listing:disk_usage")
    browser = commands.add_parser("open", parents=[client], help="open the drive, or a file, in the browser")
    browser.add_argument("path", nargs="?", metavar="PATH", help="path or id of a file")
    browser.add_argument("--print", action="store_true", help="print the address instead")
    browser.set_defaults(target="files.browser:open_in_browser")


def _add_shares(commands: Commands, as_json: ArgumentParser) -> None:
    share = commands.add_parser("share", parents=[as_json], help="share with a person; without one: who has access")
    share.add_argument("path", metavar="PATH")
    share.add_argument("email", nargs="?", metavar="EMAIL")
    what = share.add_mutually_exclusive_group()
    what.add_argument("--role", choices=ROLES, help="what they may do (default: viewer)")
    what.add_argument("--remove", action="store_true", help="take their access back")
    what.add_argument("--leave", action="store_true", help="leave what somebody shared with you")
    share.add_argument("--yes", action="store_true", help="don't ask if there is no account with the email")
    share.set_defaults(target="files.sharing:share")
    link = commands.add_parser("link", parents=[as_json], help="make an address that opens an item for anybody")
    link.add_argument("path", metavar="PATH")
    link.add_argument("--role", choices=ROLES, help="what they may do (default: viewer)")
    link.add_argument("--expires", type=_hours, metavar="TIME", help="from now, as 12h, 7d or 4w (default: never)")
    link.add_argument("--password", nargs="?", const="", metavar="PASSWORD", help="without one it is asked for")
    link.add_argument("--max-downloads", type=_count, metavar="N")
    what = link.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the links of the item")
    what.add_argument("--change", metavar="ID", help="give that link other terms")
    what.add_argument("--remove", metavar="ID", help="end that link")
    link.set_defaults(target="files.sharing:link")


def _add_trash(commands: Commands, as_json: ArgumentParser, client: ArgumentParser) -> None:
    names = "list|restore|delete|empty"
    trash = commands.add_parser("trash", help="what is in the trash").add_subparsers(metavar=names, required=True)
    listing = trash.add_parser("list", parents=[as_json], help="list it, what came last first")
    listing.set_defaults(target="files.trash:list_trash")
    restore = trash.add_parser("restore", parents=[as_json], help="bring items back")
    restore.add_argument("items", nargs="+", metavar="ITEM", help="id, or former path or name")
    restore.add_argument("--to", metavar="PATH", help="another folder than before")
    restore.set_defaults(target="files.trash:restore")
    _conflict(restore)
    delete = trash.add_parser("delete", parents=[client], help="delete items for good")
    delete.add_argument("items", nargs="+", metavar="ITEM", help="id, or former path or name")
    delete.set_defaults(target="files.trash:delete")
    empty = trash.add_parser("empty", parents=[client], help="delete everything in it for good")
    empty.set_defaults(target="files.trash:empty")
    for command in (delete, empty):
        command.add_argument("--yes", action="store_true", help="don't ask")


def _add_versions(commands: Commands, as_json: ArgumentParser) -> None:
    one = ArgumentParser(add_help=False, parents=[as_json])
    one.add_argument("path", metavar="PATH")
    names = "list|get|restore|diff"
    versions = commands.add_parser("versions", help="the contents that a file had").add_subparsers(
        metavar=names, required=True
    )
    listing = versions.add_parser("list", parents=[one], help="list them, newest first")
    listing.set_defaults(target="files.versions:list_versions")
    numbered = ArgumentParser(add_help=False, parents=[one])
    numbered.add_argument("number", type=_number, metavar="NUMBER")
    get = versions.add_parser("get", parents=[numbered], help="fetch one")
    get.add_argument("to", nargs="?", default=".", metavar="TARGET", help="where to (default: here; - is a pipe)")
    get.set_defaults(target="files.versions:get")
    _conflict(get)
    restore = versions.add_parser("restore", parents=[numbered], help="make it the newest one")
    restore.set_defaults(target="files.versions:restore")
    diff = versions.add_parser("diff", parents=[numbered], help="compare it with another one, or the newest")
    diff.add_argument("other", nargs="?", type=_number, metavar="OTHER")
    diff.set_defaults(target="files.versions:diff")


def _count(word: str) -> int:
    if word.isascii() and word.isdigit() and len(word) < 10:
        return int(word)
    raise ArgumentTypeError(text("no_number", word=word))


def _number(word: str) -> int:
    if number := _count(word):
        return number
    raise ArgumentTypeError(text("first_number"))


def _hours(word: str) -> int:
    """Return the hours of a time like 12h, 7d or 4w."""
    number, unit = (word[:-1], word[-1:]) if word[-1:] in HOURS else (word, "h")
    if number.isascii() and number.isdigit() and len(number) < 7 and int(number):
        return int(number) * HOURS[unit]
    raise ArgumentTypeError(text("unsupported_time", text=word))
