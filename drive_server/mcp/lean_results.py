"""Structured results as hosts get them: without the fields that repeat, that are empty, or that few ask for.

Some hosts give their model the structured result as well as the text. So a record in it has as much as a text about it
has: `python -m benchmarks.mcp_tools` prints both sizes. The assistant in this process gets everything, and so does a
call with `drive-agent/whole-results` in its `_meta`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

from pydantic import BaseModel

LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "Item": frozenset({"parent_id", "media_type", "version", "created_at", "updated_at", "index_state"}),
    "HitResult": frozenset({"missing"}),
    "TextResult": frozenset({"missing"}),
    "Version": frozenset({"media_type", "modified_at"}),
    "ChangeResult": frozenset({"messages", "method", "tool_call_id", "approval_id", "grant_id"}),
}
"""By the name of a model: the fields that only whole results have."""
SAID_IF_SET: Final[Mapping[str, frozenset[str]]] = {
    "Item": frozenset({"shared"}),
    "Version": frozenset({"current"}),
    "HitResult": frozenset({"heading", "place", "uri", "address", "note"}),
}
"""By the name of a model: the fields that are left out when they are empty, false or 0. Null ones are in any case."""
OF_FILES: Final = frozenset({"size"})
OF_OTHERS: Final = frozenset({"owner", "role"})
"""Fields of an item that are said if it is not the caller's own."""
OF_PASSAGES: Final = frozenset({"start", "end"})
"""Fields of a hit that is a passage, and not only a name."""
OF_NO_TOOL: Final = frozenset({"action"})
"""Fields of a change that its tool does not tell."""
OF_LISTS: Final = frozenset({"size", "modified_at"})
"""Fields of an item by which a list is compared; the answer of a change needs them not."""


def lean(result: BaseModel, *, is_change: bool = False) -> dict[str, Any]:
    """Return the result as JSON with the fields that a host needs; those of a list itself, as `cursor`, all stay."""
    dumped = result.model_dump(mode="json")
    name = type(result).__name__
    if name not in LEFT_OUT:
        return {key: _lean(getattr(result, key), value, is_change=is_change) for key, value in dumped.items()}
    shown = cast("dict[str, Any]", _lean(result, dumped, is_change=is_change))
    if name == "Item" and is_change and dumped["version"]:
        shown["version"] = dumped["version"]
    return shown


def whole_item(item: BaseModel) -> dict[str, Any]:
    """Return all that is known of one item, as JSON: a host asked about just that one."""
    return {key: value for key, value in item.model_dump(mode="json").items() if value is not None}


def _lean(value: Any, dumped: Any, *, is_change: bool) -> Any:
    if isinstance(value, BaseModel):
        kept = _kept(type(value).__name__, dumped, is_change=is_change)
        return {key: _lean(getattr(value, key), dumped[key], is_change=is_change) for key in kept}
    if isinstance(value, list | tuple):
        entries = zip(cast("list[Any]", value), dumped, strict=True)
        return [_lean(one, shown, is_change=is_change) for one, shown in entries]
    return _to_seconds(value) if isinstance(value, datetime) else dumped


def _kept(name: str, dumped: Mapping[str, Any], *, is_change: bool) -> list[str]:
    if name not in LEFT_OUT:
        return list(dumped)
    left_out, said_if_set = LEFT_OUT[name], SAID_IF_SET.get(name, frozenset())
    if name == "Item":
        left_out = left_out | (OF_LISTS if is_change else frozenset())
        left_out = left_out | (OF_OTHERS if dumped["role"] == "owner" else frozenset())
        left_out = left_out | (OF_FILES if dumped["kind"] == "folder" else frozenset())
    if name == "ChangeResult" and dumped["tool"]:
        left_out = left_out | OF_NO_TOOL
    if name == "HitResult" and dumped["version"] is None:
        left_out = left_out | OF_PASSAGES
    return [
        key
        for key, value in dumped.items()
        if key not in left_out and value is not None and (value or key not in said_if_set)
    ]


def _to_seconds(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def with_optional_fields(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a result that says of each record only which fields it always has."""
    definitions = {name: _relaxed(name, one) for name, one in schema.get("$defs", {}).items()}
    top = _relaxed(schema.get("title", ""), schema)
    return {**top, "$defs": definitions} if definitions else top


def _relaxed(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    if name not in LEFT_OUT or "required" not in schema:
        return schema
    optional = LEFT_OUT[name] | SAID_IF_SET.get(name, frozenset())
    if name == "Item":
        optional = optional | OF_LISTS | OF_OTHERS | OF_FILES
    optional = optional | {"HitResult": OF_PASSAGES, "ChangeResult": OF_NO_TOOL}.get(name, frozenset())
    properties = schema["properties"]
    required = [key for key in schema["required"] if key not in optional and not _can_be_null(properties[key])]
    return {**schema, "required": required}


def _can_be_null(schema: dict[str, Any]) -> bool:
    return any(kind.get("type") == "null" for kind in schema.get("anyOf", ()))
