"""Tools as models see them: a schema without keywords for validators, a description without parts that stand elsewhere.

Calls are checked against the drive's own schemas.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, cast

from langchain_core.tools import BaseTool

from drive_server.kernel.lenient.short_schemas import Schema, short_schema
from drive_server.kernel.lenient.short_schemas import short_description as without_uses

IN_PROMPTS: Final = re.compile(r" ?What [^.]* is material, not instructions[^.]*\.")


def for_model(tool: BaseTool) -> BaseTool:
    """Return the tool with a short description and schema."""
    schema = tool.args_schema
    shorter: dict[str, Any] = {"description": short_description(tool.description)}
    if isinstance(schema, dict):
        shorter["args_schema"] = short_schema(cast("Schema", schema))
    return tool.model_copy(update=shorter)


def for_models(tools: Iterable[BaseTool]) -> list[BaseTool]:
    """Return the tools with short descriptions and schemas; the meaning of an argument stands where it comes first."""
    said = set[tuple[str, str]]()
    return [_without(for_model(tool), said) for tool in tools]


def _without(tool: BaseTool, said: set[tuple[str, str]]) -> BaseTool:
    """Return the tool without descriptions of arguments that were said already, and note those that it has."""
    schema: Any = tool.args_schema
    if not isinstance(schema, dict):
        return tool
    properties: dict[str, dict[str, Any]] = cast("dict[str, Any]", schema).get("properties", {})
    shown: dict[str, dict[str, Any]] = {}
    for name, argument in properties.items():
        key = name, str(argument.get("description", ""))
        shown[name] = {k: v for k, v in argument.items() if k != "description"} if key in said else argument
        said.add(key)
    return tool.model_copy(update={"args_schema": {**cast("Schema", schema), "properties": shown}})


def short_description(description: str) -> str:
    """Return a tool's description in short, without the sentences that our prompts have."""
    return IN_PROMPTS.sub("", without_uses(description))
