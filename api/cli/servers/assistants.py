"""`drive-agent assistants`: define assistants, and choose their servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.cli.servers.finding import find_by_id_or_name, find_server
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_list, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import Json, ServiceClient

ASSISTANTS = "/api/assistants"
FIELDS = ("description", "model", "instructions")


def list_assistants(arguments: Namespace) -> int:
    """List the assistants, with the names of their servers."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        assistants: list[Json] = client.get(ASSISTANTS)["items"]
        names = {server["id"]: server["name"] for server in client.get("/api/mcp-servers")["items"]}
        for one in assistants:
            one["server_ids"] = client.get(f"{ASSISTANTS}/{one['id']}/mcp-servers")["server_ids"]
    return print_list(terminal, assistants, lambda one: _line(one, names), as_json=arguments.json)


def _line(one: Json, names: Json) -> str:
    servers = ", ".join(visible_line(names.get(key, key)) for key in one["server_ids"]) or text("no_servers")
    default = text("is_default") if one["is_default"] else ""
    return f"{one['id']}  {visible_line(one['name'])}{default}  {servers}"


def create(arguments: Namespace) -> int:
    """Define an assistant."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        servers = _server_ids(arguments, client)
        made: Json = client.post(ASSISTANTS, {"name": arguments.name, **_fields(arguments)})
        _choose(client, made["id"], servers)
    terminal.say(text("one_created", name=visible_line(made["name"]), id=made["id"]))
    return 0


def edit(arguments: Namespace) -> int:
    """Change the fields of an assistant that are given."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        found, servers = find_assistant(client, arguments.assistant), _server_ids(arguments, client)
        fields = _fields(arguments) | ({"name": arguments.name} if arguments.name else {})
        if fields:
            found = client.send("PATCH", f"{ASSISTANTS}/{found['id']}", json=fields).json()
        _choose(client, found["id"], servers)
    terminal.say(text("one_changed", name=visible_line(found["name"])))
    return 0


def delete(arguments: Namespace) -> int:
    """Delete an assistant; its conversations go on with the built-in one."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        found = find_assistant(client, arguments.assistant)
        client.delete(f"{ASSISTANTS}/{found['id']}")
    terminal.say(text("one_deleted", name=visible_line(found["name"])))
    return 0


def find_assistant(client: ServiceClient, wanted: str) -> Json:
    """Return the assistant with this id or name."""
    return find_by_id_or_name(client.get(ASSISTANTS)["items"], wanted, "no_assistant")


def _fields(arguments: Namespace) -> Json:
    fields: Json = {name: value for name in FIELDS if (value := getattr(arguments, name)) is not None}
    if arguments.drive_tools is not None:
        names = [name.strip() for name in arguments.drive_tools.split(",") if name.strip()]
        fields["drive_tools"] = None if names == ["all"] else names
    return fields | ({"is_default": True} if arguments.default else {})


def _server_ids(arguments: Namespace, client: ServiceClient) -> list[str] | None:
    """Return the chosen servers; None if the choice stays as it is."""
    if arguments.no_servers:
        return []
    return [find_server(client, name)["id"] for name in arguments.server] or None


def _choose(client: ServiceClient, assistant_id: str, server_ids: list[str] | None) -> None:
    if server_ids is not None:
        client.send("PUT", f"{ASSISTANTS}/{assistant_id}/mcp-servers", json={"server_ids": server_ids})
