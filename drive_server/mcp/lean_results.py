"""Structured results as hosts get them: without the fields that repeat, that are empty, or that few ask for.

Some hosts give their model the structured result as well as the text. So a record in it has as much as a text about it
has: `python -m benchmarks.mcp_tools` prints both sizes. The assistant in this process gets everything, and so does a
call with `drive-agent/whole-results` in its `_meta`.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, cast

from pydantic import BaseModel

LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "Item": frozenset({"parent_id", "media_type", "version", "created_at", "updated_at", "index_state"}),
    "HitResult": frozenset({"missing"}),
    "TextResult": frozenset({"missing"}),
    "Version": frozenset({"media_type", "modified_at"}),
    "ChangeResult": frozenset({"messages", "method", "tool_call_id", "approval_id", "grant_id"}),
    "WhoamiResult": frozenset({"languages"}),
    "IndexResult": frozenset({"counts"}),
    "ShareResult": frozenset({"item_id", "created_at", "created_by"}),
    "CitationResult": frozenset({"file_id", "quote", "name"}),
    "TableResult": frozenset({"file", "missing", "address", "header_row"}),
    "TableColumn": frozenset({"letters"}),
    "TableRow": frozenset({"cells"}),
    "ResultColumn": frozenset(),
    "FindingResult": frozenset({"file_id", "start", "end", "line", "read_characters", "characters", "missing"}),
    "MovedItems": frozenset({"folder"}),
    "RearrangedItem": frozenset({"name"}),
}
"""By the name of a model: the fields that only whole results have."""
SAID_IF_SET: Final[Mapping[str, frozenset[str]]] = {
    "Item": frozenset({"shared"}),
    "Version": frozenset({"current"}),
    "HitResult": frozenset({"heading", "place", "uri", "address", "note"}),
    "WhoamiResult": frozenset({"name", "key_name", "quota_bytes"}),
    "IndexResult": frozenset({"problems", "awaiting_vectors"}),
    "ShareResult": frozenset({"has_password"}),
    "CitationResult": frozenset({"reason", "place", "heading", "uri", "address"}),
    "TableResult": frozenset({"sheet", "sheets", "left_out", "unreadable", "unreadable_rows", "hidden_rows", "note"}),
    "ResultColumn": frozenset({"unit"}),
    "FindingResult": frozenset({"answer", "quote", "code", "reason", "note"}),
    "MovedItems": frozenset({"unchanged"}),
}
"""By the name of a model: the fields that are left out when they are empty, false or 0. Null ones are in any case."""
SECOND_LANGUAGE: Final = "_zh"
OF_FILES: Final = frozenset({"size"})
OF_OTHERS: Final = frozenset({"owner", "role"})
"""Fields of an item that are said if it is not the caller's own."""
OF_PASSAGES: Final = frozenset({"start", "end"})
"""Fields of a hit that is a passage, and not only a name."""
OF_NO_TOOL: Final = frozenset({"action"})
"""Fields of a change that its tool does not tell."""
OF_LINKS: Final = frozenset({"id"})
"""Fields of a share by which the tools name a link; they name people by their email."""
OF_STRANGERS: Final = frozenset({"has_account"})
"""Fields of a share that are said if nobody has the email yet."""
OF_LATER_VERSIONS: Final = frozenset({"current_version"})
"""Fields of a citation that are said if there is a newer version."""
OF_NO_KEY: Final = frozenset({"method"})
"""Fields of the caller that are said if no key with a name is in use."""
OF_UNREAD_FILES: Final = frozenset({"index"})
"""Fields of the caller that are said if there is a file that can't be searched."""
OF_DAMAGE: Final = frozenset({"health"})
"""Fields of the index that are said if it is damaged."""
COUNTS: Final = frozenset({"index", "summary"})
"""Fields that count by kind: a kind without anything is left out."""
OF_LISTS: Final = frozenset({"size", "modified_at"})
"""Fields of an item by which a list is compared; the answer of a change needs them not."""
SOMETIMES: Final[Mapping[str, frozenset[str]]] = {
    "Item": OF_LISTS | OF_OTHERS | OF_FILES,
    "HitResult": OF_PASSAGES,
    "ChangeResult": OF_NO_TOOL,
    "ShareResult": OF_LINKS | OF_STRANGERS,
    "CitationResult": OF_LATER_VERSIONS,
    "IndexResult": OF_DAMAGE,
    "WhoamiResult": OF_NO_KEY | OF_UNREAD_FILES,
}
"""By the name of a model: the fields that depend on other fields; see `_unneeded`."""


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
        shown = {key: _lean(getattr(value, key), dumped[key], is_change=is_change) for key in kept}
        return {
            key: _without_zeros(one) if key in COUNTS and isinstance(one, dict) else one for key, one in shown.items()
        }
    if isinstance(value, dict):
        return {key: one for key, one in dumped.items() if not key.endswith(SECOND_LANGUAGE)}
    if isinstance(value, list | tuple):
        entries = zip(cast("list[Any]", value), dumped, strict=True)
        return [_lean(one, shown, is_change=is_change) for one, shown in entries]
    return _to_seconds(value) if isinstance(value, datetime) else dumped


def _kept(name: str, dumped: Mapping[str, Any], *, is_change: bool) -> list[str]:
    if name not in LEFT_OUT:
        return list(dumped)
    left_out, said_if_set = LEFT_OUT[name], SAID_IF_SET.get(name, frozenset())
    left_out = left_out.union(*_unneeded(name, dumped, is_change=is_change))
    return [
        key
        for key, value in dumped.items()
        if key not in left_out and value is not None and (value or key not in said_if_set)
    ]


def _unneeded(name: str, dumped: Mapping[str, Any], *, is_change: bool) -> Iterator[frozenset[str]]:
    """Yield the fields that say nothing in this record, of those in `SOMETIMES`."""
    match name:
        case "Item":
            yield OF_LISTS if is_change else frozenset()
            yield OF_OTHERS if dumped["role"] == "owner" else frozenset()
            yield OF_FILES if dumped["kind"] == "folder" else frozenset()
        case "ChangeResult" if dumped["tool"]:
            yield OF_NO_TOOL
        case "HitResult" if dumped["version"] is None:
            yield OF_PASSAGES
        case "ShareResult":
            yield frozenset() if dumped["kind"] == "link" else OF_LINKS
            yield frozenset() if dumped["has_account"] is False else OF_STRANGERS
        case "CitationResult" if dumped["current_version"] == dumped["version"]:
            yield OF_LATER_VERSIONS
        case "WhoamiResult":
            yield OF_NO_KEY if dumped["key_name"] else frozenset()
            yield OF_UNREAD_FILES if set(_without_zeros(dumped["index"])) <= {"indexed"} else frozenset()
        case "IndexResult" if dumped["health"] == "ok":
            yield OF_DAMAGE
        case _:
            return


def _without_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count}


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
    optional = LEFT_OUT[name] | SAID_IF_SET.get(name, frozenset()) | SOMETIMES.get(name, frozenset())
    properties = schema["properties"]
    required = [key for key in schema["required"] if key not in optional and not _can_be_null(properties[key])]
    return {**schema, "required": required}


def _can_be_null(schema: dict[str, Any]) -> bool:
    return any(kind.get("type") == "null" for kind in schema.get("anyOf", ()))
