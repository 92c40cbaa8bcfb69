"""`drive-agent servers`: list, add, test, switch and remove a person's MCP servers."""

from __future__ import annotations

import os
import sys
from getpass import getpass
from typing import TYPE_CHECKING, Any

from api.cli.failure import CommandError
from api.cli.servers.finding import SERVERS, find_server
from api.cli.servers.stdio_permission import ask_permission
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_json, print_list, visible_line
from api.cli.texts import text, word

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from api.cli.client import Json


def list_servers(arguments: Namespace) -> int:
    """List the servers by name, with their states."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        servers: list[Json] = client.get(SERVERS)["items"]
    return print_list(terminal, servers, _line, text("servers_none"), as_json=arguments.json)


def _line(server: Json) -> str:
    state = word("server", server["status"]) if server["is_active"] else text("server_off")
    return f"{server['id']}  {visible_line(server['name'])}  {_place(server)}  {state}"


def add(arguments: Namespace) -> int:
    """Define a server and test it. Exit code 1 if the test fails; the server stays defined."""
    terminal = Terminal()
    body: Json = {"name": arguments.name, "timeout": arguments.timeout}
    if arguments.type:
        body["type"] = arguments.type
    if arguments.stdio is not None:
        if not arguments.stdio:
            raise CommandError.of("no_command")
        ask_permission(arguments, arguments.stdio, _names(arguments.env), terminal)
        body |= {"command": arguments.stdio[0], "args": arguments.stdio[1:], "env": _secrets(arguments.env, terminal)}
    else:
        body |= {"base_url": arguments.server_url, "headers": _secrets(arguments.header, terminal)}
    with connected(arguments, terminal) as client:
        server: Json = client.post(SERVERS, body)
        name, place = visible_line(server["name"]), _place(server)
        terminal.say(text("server_added", name=name, id=server["id"], place=place))
        return show_test(client.post(f"{SERVERS}/{server['id']}/connect"), terminal)


def test(arguments: Namespace) -> int:
    """Connect to a server now. Exit code 1 if that fails."""
    terminal = Terminal(machine=arguments.json)
    with connected(arguments, terminal) as client:
        tested: Json = client.post(f"{SERVERS}/{find_server(client, arguments.server)['id']}/connect")
    if arguments.json:
        print_json(tested)
        return 0 if tested["status"] == "connected" else 1
    return show_test(tested, terminal)


def edit(arguments: Namespace) -> int:
    """Change the name, the timeout, or single secrets of a server."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        server = find_server(client, arguments.server)
        body: Json = {name: value for name in ("name", "timeout") if (value := getattr(arguments, name)) is not None}
        if arguments.env and server["type"] == "stdio":
            names = dict.fromkeys([*server["env"], *_names(arguments.env)])
            ask_permission(arguments, [server["command"], *server["args"]], names, terminal)
        for field, given in (("headers", arguments.header), ("env", arguments.env)):
            if given:
                body[field] = {**server[field], **_secrets(given, terminal)}
        changed: Json = client.send("PUT", f"{SERVERS}/{server['id']}", json=body).json()
    terminal.say(text("one_changed", name=visible_line(changed["name"])))
    return 0


def remove(arguments: Namespace) -> int:
    """Delete a server."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        server = find_server(client, arguments.server)
        client.delete(f"{SERVERS}/{server['id']}")
    terminal.say(text("one_removed", name=visible_line(server["name"])))
    return 0


def show_test(tested: Json, terminal: Terminal) -> int:
    """Print the result of a test, and return the exit code for it."""
    if tested["status"] != "connected":
        terminal.note(text("unusable", sentence=tested["sentence"]), "red")
        if wrote := tested["last_lines"]:
            terminal.note(text("wrote_last"))
            for line in wrote.splitlines():
                terminal.note(f"  {visible_line(line)}")
        return 1
    about = " ".join(visible_line(str(tested[name])) for name in ("name", "version") if tested[name])
    counts = {name: len(tested[name]) for name in ("tools", "resources", "prompts")}
    terminal.say(text("server_works", about=about, protocol=tested["protocol"], **counts))
    return 0


def _place(server: Json) -> str:
    if server["type"] == "stdio":
        return visible_line(" ".join([server["command"], *server["args"]]))
    return visible_line(server["base_url"])


def _secrets(given: Sequence[str], terminal: Terminal) -> dict[str, Any]:
    """Return secrets by name: the one after `=`; else that of the environment; else the person types it."""
    return {name: value if equals else _ask(name, terminal) for name, equals, value in map(_parts, given)}


def _names(given: Sequence[str]) -> list[str]:
    return [name for name, _, _ in map(_parts, given)]


def _parts(given: str) -> tuple[str, str, str]:
    return given.partition("=")


def _ask(name: str, terminal: Terminal) -> str:
    if value := os.environ.get(name):
        return value
    # Not the terminal's own question, which repeats piped input.
    value = getpass(f"{visible_line(name)}: ") if terminal.interactive else sys.stdin.readline().rstrip("\r\n")
    if not value:
        raise CommandError.of("no_secret", name=visible_line(name))
    return value
