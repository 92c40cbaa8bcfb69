"""Tools as models see them: a schema without keywords for validators, a description without parts that stand elsewhere.

MCP hosts get the drive's own schemas and descriptions, and calls are checked against those.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from langchain_core.tools import BaseTool

Schema = Mapping[str, Any]

FOR_VALIDATORS: Final = frozenset(
    {"title", "$defs", "additionalProperties", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"}
)
SAID_BY_NAME: Final = frozenset({"limit", "cursor", "item_id", "file_id", "folder_id", "item_ids", "query", "name"})
"""Arguments whose name explains them; the prompts say that an id may be a path."""
PARTS: Final = re.compile(r"\n+(?=(?:Use when|Not for|Notes):)")
LEFT_OUT: Final = "Use when:"
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
    """Return a tool's purpose, its limits, and its notes; when to use it follows from these."""
    parts = [part for part in PARTS.split(description) if not part.startswith(LEFT_OUT)]
    return "\n".join(IN_PROMPTS.sub("", " ".join(part.split())) for part in parts)


def short_schema(schema: Schema) -> dict[str, Any]:
    """Return a schema without limits, titles and nulls: an argument that may be null is one that may be left out."""
    return _short(schema, cast("Schema", schema.get("$defs", {})))


def _short(schema: Schema, definitions: Schema) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key, value in _resolved(schema, definitions).items():
        if key in FOR_VALIDATORS or (key == "default" and not (isinstance(value, str) and value)):
            continue
        if key == "properties":
            shown[key] = {name: _argument(name, one, definitions) for name, one in cast("Schema", value).items()}
        else:
            shown[key] = _short(cast("Schema", value), definitions) if key == "items" else value
    return shown


def _argument(name: str, schema: Schema, definitions: Schema) -> dict[str, Any]:
    shown = _short(schema, definitions)
    if name in SAID_BY_NAME:
        shown.pop("description", None)
    return shown


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    """Return the schema with its reference followed, and of a choice between a value and null the value."""
    if "$ref" in schema:
        schema = {**definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), **schema}
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(options) == 1:
        schema = {**_resolved(options[0], definitions), **schema}
    return {key: value for key, value in schema.items() if key != "$ref" and not (key == "anyOf" and len(options) == 1)}
