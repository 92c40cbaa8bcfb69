"""Models that fill in every argument: null for one that may be left out is its absence, of every tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.lenient.optional_arguments import without_nulls
from tests.drive_server.hosts import host_of, show_whole_tools

if TYPE_CHECKING:
    from mcp.types import CallToolResult

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

WORDS = {"string": "x", "integer": 1, "boolean": False, "array": [], "object": {}}


def needed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return some value for each argument that a tool needs."""
    properties = schema["properties"]
    return {name: WORDS.get(properties[name].get("type"), "x") for name in schema.get("required", [])}


def wrong_in(answer: CallToolResult) -> list[Any]:
    """Return what is said to be wrong with the arguments."""
    return ((answer.structuredContent or {}).get("details") or {}).get("errors", [])


async def test_each_tool_answers_nulls_as_if_they_were_left_out(drive: Drive, alice: Actor) -> None:
    show_whole_tools(drive)
    async with host_of(drive, alice) as host:
        tools = (await host.session.list_tools()).tools
        assert len(tools) > 40
        for tool in tools:
            given = needed(tool.inputSchema)
            nulls = dict.fromkeys(tool.inputSchema["properties"].keys() - given.keys())
            answer = await host.session.call_tool(tool.name, {**given, **nulls})
            without = await host.session.call_tool(tool.name, given)
            assert wrong_in(answer) == wrong_in(without), tool.name


async def test_null_for_a_needed_argument_of_each_tool_is_an_error_that_names_it(drive: Drive, alice: Actor) -> None:
    show_whole_tools(drive)
    async with host_of(drive, alice) as host:
        for tool in (await host.session.list_tools()).tools:
            for name in tool.inputSchema.get("required", []):
                answer = await host.session.call_tool(tool.name, {**needed(tool.inputSchema), name: None})
                assert answer.isError, tool.name
                assert name in (answer.structuredContent or {})["message"], tool.name


async def test_a_folder_is_listed_with_nulls_beside_its_id(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        answer = await host.call("list_folder", folder_id="root", limit=None, cursor=None)
    assert answer["items"] == []


async def test_nulls_in_a_list_of_objects_are_left_out_also_where_it_comes_as_text(drive: Drive, alice: Actor) -> None:
    made = (await drive.documents.create(alice, "root", "a.md", "Net 30 days.")).value
    async with host_of(drive, alice) as host:
        one = {"file_id": made.id, "quote": "Net 30 days.", "version": None, "place": None}
        as_text = f'[{{"file_id": "{made.id}", "quote": "Net 30 days.", "version": null, "place": null}}]'
        listed = [await host.call("check_citations", citations=given) for given in ([one], as_text)]
    assert listed[0] == listed[1]
    assert listed[0]["citations"][0]["stands"]


@pytest.mark.parametrize(
    ("schema", "given", "left"),
    [
        ({"properties": {"a": {"type": "string"}}}, {"a": None}, {}),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": None}, {"a": None}),
        ({"properties": {}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"enum": ["x", None]}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": None}, {}),
        ({"properties": {"a": {"const": None}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": True}}, {"a": None}, {"a": None}),
        ({"properties": {"a": False}}, {"a": None}, {}),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "integer"}}}, {"a": None}, {}),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, {"a": None}, {"a": None}),
        (
            {"properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}, "c": {}}}}},
            {"a": {"b": None, "c": None, "d": None}},
            {"a": {"c": None, "d": None}},
        ),
        (
            {
                "properties": {
                    "a": {"anyOf": [{"type": "array", "items": {"properties": {"b": {"type": "string"}}}}, {}]}
                }
            },
            {"a": [{"b": None}, None, 1]},
            {"a": [{}, None, 1]},
        ),
    ],
)
def test_a_null_that_the_schema_allows_is_kept_where_that_may_mean_something(
    schema: dict[str, Any], given: dict[str, Any], left: dict[str, Any]
) -> None:
    assert without_nulls(given, schema, keeps_allowed=True) == left
