"""Tools as small models see them: few, with one sentence each, and with the arguments that simple requests need."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.tools import BaseTool

from graph.tools.descriptions import short_description, short_schema

USEFUL: Final[Mapping[str, frozenset[str]]] = {
    "create_folder": frozenset({"parent_id"}),
    "create_file": frozenset({"parent_id"}),
    "list_folder": frozenset({"folder_id"}),
    "query_table": frozenset({"filters", "aggregates"}),
    "search_files": frozenset({"query"}),
    "semantic_search_files": frozenset({"folder_id"}),
    "share_item": frozenset({"role"}),
}
"""The optional arguments that a tool keeps."""


def small_tools(tools: Mapping[str, BaseTool], wanted: Sequence[str]) -> list[BaseTool]:
    """Return those of the wanted tools that there are, in this order, as small models see them."""
    return [_small(tools[name]) for name in wanted if name in tools]


def _small(tool: BaseTool) -> BaseTool:
    update: dict[str, Any] = {"description": _sentence(short_description(tool.description))}
    if isinstance(tool.args_schema, dict):
        schema = short_schema(cast("Mapping[str, Any]", tool.args_schema))
        kept = {*schema.get("required", ()), *USEFUL.get(tool.name, ())}
        fields: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
        shown = {name: _argument(field) for name, field in fields.items() if name in kept}
        update["args_schema"] = {**schema, "properties": shown}
    return tool.model_copy(update=update)


def _argument(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an argument with its type alone; a list or an object keeps the description of its parts."""
    kept = {key: value for key, value in schema.items() if key != "description"}
    return kept if schema.get("type") not in {"array", "object"} else dict(schema)


def _sentence(description: str) -> str:
    return f"{description.split('. ', 1)[0].split(chr(10), 1)[0].rstrip('.')}."
