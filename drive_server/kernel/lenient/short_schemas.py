"""Tools in few words: a schema without what only a validator reads, a description without what follows from it.

Models are shown these; calls are checked against the whole schemas.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

Schema = Mapping[str, Any]

FOR_VALIDATORS: Final = frozenset(
    {"title", "$defs", "additionalProperties", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"}
)
SAID_BY_NAME: Final = frozenset({"limit", "cursor", "item_id", "file_id", "folder_id", "item_ids", "query", "name"})
"""Arguments whose name says what they are."""
PARTS: Final = re.compile(r"\n+(?=(?:Use when|Not for|Notes):)")
LEFT_OUT: Final = "Use when:"


def short_description(description: str) -> str:
    """Return the purpose of a tool, its limits and its notes, without the part on when to use it."""
    parts = [part for part in PARTS.split(description) if not part.startswith(LEFT_OUT)]
    return "\n".join(" ".join(part.split()) for part in parts)


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
