"""`drive-agent servers tools|enable|disable`: the tools of a server, and their permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.cli.failure import CommandError
from api.cli.servers.finding import SERVERS, find_server
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_json, visible, visible_line
from api.cli.texts import text, word

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import Json, ServiceClient


def tools(arguments: Namespace) -> int:
    """List the tools of a server; `--accept`, `--auto-approve` and `--ask` change one before."""
    terminal = Terminal(machine=arguments.json)
    with connected(arguments, terminal) as client:
        path = f"{SERVERS}/{find_server(client, arguments.server)['id']}/tools"
        listed: Json = client.get(path)
        if changes := _changes(arguments, listed["items"]):
            listed = _put(client, path, changes)
    if arguments.json:
        print_json(listed["items"])
        return 0
    if listed["sentence"]:
        terminal.note(text("unusable_now", sentence=listed["sentence"]), "yellow")
    for tool in listed["items"]:
        _show(tool, terminal)
    return 0


def switch(arguments: Namespace) -> int:
    """Switch a server on or off, or only some of its tools."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        server = find_server(client, arguments.server)
        path = f"{SERVERS}/{server['id']}"
        if arguments.tools:
            decisions = [{"name": name, "isEnabled": arguments.enabled} for name in arguments.tools]
            _put(client, f"{path}/tools", decisions)
        else:
            client.send("PUT", path, json={"is_active": arguments.enabled})
    what = ", ".join(map(visible_line, arguments.tools)) or visible_line(server["name"])
    terminal.say(text("tools_on" if arguments.enabled else "tools_off", what=what))
    return 0


def _put(client: ServiceClient, path: str, changes: list[Json]) -> Json:
    return client.send("PUT", path, json={"tools": changes}).json()


def _changes(arguments: Namespace, items: list[Json]) -> list[Json]:
    hashes = {tool["name"]: tool["hash"] for tool in items}
    if unknown := [name for name in arguments.accept if name not in hashes]:
        raise CommandError.of("no_tool", name=visible_line(unknown[0]))
    changes: dict[str, dict[str, Any]] = {}
    for name in arguments.accept:
        changes.setdefault(name, {})["accept"] = hashes[name]
    for names, approved in ((arguments.auto_approve, True), (arguments.ask, False)):
        for name in names:
            changes.setdefault(name, {})["isAutoApprove"] = approved
    return [{"name": name, **change} for name, change in changes.items()]


def _show(tool: Json, terminal: Terminal) -> None:
    state = "disabled" if not tool["isEnabled"] else "without asking" if tool["isAutoApprove"] else "asks"
    changed = text("tool_changed") if tool["changed"] else ""
    terminal.say(f"{visible_line(tool['name'])}  ({changed}{word('tool', state)})")
    if description := " ".join(tool["description"].split()):
        terminal.say(f"    {visible_line(description)}", "dim")
    for part in tool["difference"]:
        name = word("part", part["field"])
        terminal.say(f"    {text('tool_was', part=name, value=visible(part['before']))}", "red")
        terminal.say(f"    {text('tool_is', part=name, value=visible(part['after']))}", "green")
    if tool["changed"]:
        terminal.note(f"    {text('tool_accept', name=visible_line(tool['name']))}")
