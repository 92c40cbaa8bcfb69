from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drive_server.access import Scope
from drive_server.mcp.calls.scopes import NONE_NEEDED, TOOLS, scope_needed
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import host_of

if TYPE_CHECKING:
    from drive_server.access import Actor
    from drive_server.drive import Drive
    from tests.drive_server.hosts import Host


async def test_every_tool_has_its_scope_or_needs_none(assistant: Host) -> None:
    listed = {tool.name for tool in (await assistant.session.list_tools()).tools}

    assert {name: None for name in listed if name not in TOOLS} == dict.fromkeys(NONE_NEEDED)
    assert set(TOOLS) <= listed


NEEDED_BESIDES: dict[str, dict[str, Any]] = {
    "update_share": {"email": "a@b.c", "role": "viewer"},
    "revoke_share": {"email": "a@b.c"},
}
"""What a call needs that its schema leaves open: one of several arguments."""


def smallest(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """Return the plainest value that fits a schema of ours."""
    if "$ref" in schema:
        return smallest(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {name: smallest(schema["properties"][name], definitions) for name in schema.get("required", [])}
        case "array":
            return [smallest(schema["items"], definitions)] * schema.get("minItems", 1)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return "a@b.c" if "mail" in schema.get("title", "").lower() else "root"


@pytest.mark.parametrize("scope", sorted(set(TOOLS.values())))
async def test_without_its_scope_a_tool_refuses(drive: Drive, alice: Actor, scope: Scope) -> None:
    others = with_scopes(alice, *(other for other in Scope if other != scope))
    async with host_of(drive, others) as host:
        schemas = {found.name: found.inputSchema for found in (await host.session.list_tools()).tools}
        for tool in (tool for tool, needed in TOOLS.items() if needed == scope):
            arguments = smallest(schemas[tool], schemas[tool].get("$defs", {})) | NEEDED_BESIDES.get(tool, {})
            error = await host.refused(tool, **arguments)
            assert (tool, error["code"], error["details"].get("scope")) == (tool, "missing_scope", scope)


def test_a_call_needs_the_scope_of_its_tool() -> None:
    assert scope_needed({"method": "tools/call", "params": {"name": "trash_item"}}) == Scope.DELETE
    assert scope_needed({"method": "resources/read", "params": {"uri": "drive://folders/root"}}) == Scope.READ


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        "tools/call",
        {},
        {"method": ["tools/call"]},
        {"method": "tools/call"},
        {"method": "tools/call", "params": []},
        {"method": "tools/call", "params": {"name": ["trash_item"]}},
        {"method": "tools/call", "params": {"name": "nobody_knows"}},
        {"method": "tools/call", "params": {"name": "whoami"}},
        {"method": "tools/list"},
        {"result": {}},
    ],
)
def test_anything_else_needs_none(message: Any) -> None:
    assert scope_needed(message) is None


@pytest.mark.parametrize("tool", ["undo_changes", "redo_changes"])
@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ({"preview": True}, Scope.READ),
        ({"preview": False}, Scope.WRITE),
        ({}, Scope.WRITE),
        (None, Scope.WRITE),
        ([], Scope.WRITE),
    ],
)
def test_a_preview_needs_no_more_than_to_read(tool: str, arguments: Any, needed: Scope) -> None:
    message = {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    assert scope_needed(message) == needed
