"""Every tool with every scope: a key that lacks a tool's scope does not call it, and a key that has it is let in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drive_server.kernel.access import ALL_SCOPES
from tests.drive_server.actors import purging, with_scopes
from tests.drive_server.hosts import host_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

NEEDLESS = {"authenticate", "more_tools", "whoami"}
"""Tools that need no scope: they say who somebody is, and which tools there are."""
MISSING = "missing_scope"
SPECIAL: dict[str, dict[str, Any]] = {
    "patch_file": {"edits": [{"find": "one", "replace": "two"}]},
    "fill_template": {"values": [{"name": "a", "value": "b"}]},
    "check_citations": {"citations": [{"file_id": "/a.md", "quote": "one"}]},
    "update_share": {"email": "bob@example.com", "role": "viewer"},
    "revoke_share": {"email": "bob@example.com"},
}
"""Arguments that no schema tells."""


def sample(schema: dict[str, Any], name: str, item_id: str) -> Any:
    """Return a value that the schema of an argument allows; ids name a file that exists."""
    if "enum" in schema:
        return schema["enum"][0]
    if name.endswith(("_id", "item")) or name in {"ref", "path"}:
        return item_id
    for kind in schema.get("anyOf", ()):
        return sample(kind, name, item_id)
    match schema.get("type"):
        case "array":
            return [sample(schema.get("items", {}), name.removesuffix("s"), item_id)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case "object":
            return arguments_of(schema, item_id)
        case _:
            return "x" * max(1, schema.get("minLength", 1))


def arguments_of(schema: dict[str, Any], item_id: str) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: sample(properties[name], name, item_id) for name in schema.get("required", ())}


async def test_no_tool_is_called_without_its_scope_and_none_is_withheld_with_it(drive: Drive, alice: Actor) -> None:
    made = await drive.documents.create(alice, "root", "a.md", "one")
    tools = {tool.name: tool for tool in await drive.server.list_tools()}
    needless = {name for name in tools if drive.server.specs[name].scope is None}
    assert needless == NEEDLESS
    passed: list[str] = []
    for name, tool in tools.items():
        needed = drive.server.specs[name].scope
        if needed is None:
            continue
        arguments = {**arguments_of(tool.inputSchema, made.value.id), **SPECIAL.get(name, {})}
        async with host_of(drive, with_scopes(alice, *(ALL_SCOPES - {needed}))) as weak:
            refused = (await weak.refused(name, **arguments))["code"]
            passed += [] if refused == MISSING else [f"{name}: {refused}"]
        async with host_of(drive, purging(alice)) as strong:
            result = await strong.result(name, **arguments)
            assert not (result.isError and (result.structuredContent or {}).get("code") == MISSING), name
    assert not passed
