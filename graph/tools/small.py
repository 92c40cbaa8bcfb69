"""Tools as small models see them: few, with one sentence each, and with the arguments that simple requests need."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool

from drive_server.kernel.lenient.short_schemas import short_schema
from graph.tools.core import CORE
from graph.tools.descriptions import short_description


def small_tools(tools: Mapping[str, BaseTool], wanted: Sequence[str]) -> list[BaseTool]:
    """Return those of the wanted tools that there are, in this order, as small models see them."""
    return [_small(tools[name]) for name in wanted if name in tools]


def _small(tool: BaseTool) -> BaseTool:
    update: dict[str, Any] = {"description": _sentence(short_description(tool.description))}
    if isinstance(tool.args_schema, dict):
        schema = short_schema(cast("Mapping[str, Any]", tool.args_schema))
        useful = CORE[tool.name].small
        kept = {*schema.get("required", ()), *useful}
        fields: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
        shown = {name: _argument(field, useful.get(name, "")) for name, field in fields.items() if name in kept}
        update["args_schema"] = {**schema, "properties": shown}
    return tool.model_copy(update=update)


def _argument(schema: Mapping[str, Any], said: str) -> dict[str, Any]:
    """Return an argument with its type and its description `said`; a list or an object keeps its own descriptions."""
    if said:
        # A small model writes a default that it sees, or any other choice in its place.
        return {**{key: value for key, value in schema.items() if key != "default"}, "description": said}
    kept = {key: value for key, value in schema.items() if key != "description"}
    return kept if schema.get("type") not in {"array", "object"} else dict(schema)


def _sentence(description: str) -> str:
    return f"{description.split('. ', 1)[0].split(chr(10), 1)[0].rstrip('.')}."
