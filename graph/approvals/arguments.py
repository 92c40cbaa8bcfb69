"""A call's arguments by the tool's JSON schema: read as it wants, checked, and offered to a person to edit."""

import json
import re
from collections.abc import ItemsView, Mapping
from typing import Any, Final, Literal, cast

from drive_server.kernel.lenient.optional_arguments import without_nulls
from graph.drive.tool_names import REDO, UNDO
from graph.limits.schemas import problems_of
from graph.state import State, running_turn

MAX_REFERENCES: Final = 8
BOOLEANS: Final = {"true": True, "false": False}
WRAPPERS: Final = frozenset({"properties", "parameters", "arguments", "args", "input"})
"""Words of schemas and of protocols under which small models put the arguments once more."""


FieldKind = Literal["name", "names", "folder", "text", "edits", "person", "role", "hours", "choice", "number", "value"]

OF_THE_DRIVE: Final[Mapping[str, FieldKind]] = {
    "name": "name",
    "names": "names",
    "folder_id": "folder",
    "parent_id": "folder",
    "into_id": "folder",
    "content": "text",
    "fact": "text",
    "edits": "edits",
    "email": "person",
    "role": "role",
    "expires_in_hours": "hours",
    "max_downloads": "number",
    "password": "name",
    "on_conflict": "choice",
    "pattern": "name",
    "folders": "name",
    "find": "name",
    "replace": "name",
    "kinds": "choice",
    "max_items": "number",
}
"""By the argument's name. Ids, etags, versions and runs are not there: they say which thing the call is about."""
SELECTED_BY: Final = {"folder_id": "match", "email": "link_id"}
"""Arguments that name a call's subject, and no target, where the tool has the other one, too."""
_MACHINERY: Final = re.compile(
    r"(?:if[_-]?(?:none[_-]?)?match|e[_-]?tag|idempotency[_-]?key|request[_-]?id|cursor)\Z", re.IGNORECASE
)


def editable_of(schema: Mapping[str, Any], *, is_outside: bool) -> dict[str, FieldKind]:
    """Return the arguments that an edit offers a person, with their kinds, in the order of the tool's schema.

    A tool of the person's own server is known by its schema alone: all of it is offered but keys and etags.
    """
    fields: Mapping[str, Any] = schema.get("properties", {})
    if is_outside:
        return {str(name): "value" for name in fields if not _MACHINERY.search(str(name))}
    return {name: OF_THE_DRIVE[name] for name in fields if name in OF_THE_DRIVE and not _is_subject(name, fields)}


def _is_subject(name: str, fields: Mapping[str, Any]) -> bool:
    """Say whether an argument names the subject of the call; so does a list of folders, which are ids."""
    return SELECTED_BY.get(name) in fields or (name == "folders" and "array" in _types(fields[name], {}))


def of_conversation(name: str, args: Mapping[str, Any], last_change: str) -> Mapping[str, Any]:
    """Return the arguments; an undo that names nothing is of the run of this conversation that changed something last.

    The drive's default may be a run of another conversation.
    """
    if name != UNDO or args.get("run_id") or args.get("change_id"):
        return args
    return {**args, "run_id": last_change}


def last_change_of(state: State) -> str:
    """Return the last run of the conversation that changed something; the running one if none did."""
    turn = running_turn(state)
    if any(change["tool"] not in {UNDO, REDO} for change in turn["changes"]):
        return turn["run_id"]
    return state.get("last_run_id") or turn["run_id"]


def fit(
    args: Mapping[str, Any], schema: Mapping[str, Any], *, is_outside: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments with strings coerced ("5", "true", "[1]"), and the remaining problems, as sentences.

    Clients with a plain form send every edited value as a string, and small models do the same. Many models fill in
    every argument: null for one that may be left out is its absence, unless the tool `is_outside` of the drive and its
    schema allows null. Arguments that the schema does not name are a problem: nothing may be slipped in that nobody was
    shown. A schema that another server made up may refer to itself without end: the check has one.
    """
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))
    coerced = {name: _coerce(value, properties.get(name, {}), schema) for name, value in _unwrapped(args, properties)}
    fitted = without_nulls(coerced, schema, keeps_allowed=is_outside)
    return fitted, problems_of(fitted, {**schema, "additionalProperties": False})


def _unwrapped(args: Mapping[str, Any], properties: Mapping[str, Any]) -> ItemsView[str, Any]:
    """Return the arguments, out of a wrapper that small models copy from the schema around them."""
    if len(args) == 1 and (wrapper := next(iter(args))) in WRAPPERS and wrapper not in properties:
        inside = args[wrapper]
        if isinstance(inside, Mapping) and inside.keys() <= properties.keys():
            return cast("Mapping[str, Any]", inside).items()
    return args.items()


def _coerce(value: Any, wanted: Any, root: Mapping[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    types = _types(wanted, root)
    if "string" in types or not types:
        return value
    text = value.strip()
    if "boolean" in types and text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    if "null" in types and text.lower() in {"", "null", "none"}:
        return None
    return _parsed(text, value)


def _parsed(text: str, otherwise: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def _types(schema: Any, root: Mapping[str, Any], depth: int = MAX_REFERENCES) -> set[str]:
    """Collect the JSON types that a property may have, through `$ref`, `anyOf` and `enum`, so many deep."""
    if not isinstance(schema, Mapping) or depth == 0:
        return set()
    wanted = cast("Mapping[str, Any]", schema)
    if "$ref" in wanted:
        name = str(wanted["$ref"]).rsplit("/", 1)[-1]
        return _types(root.get("$defs", {}).get(name), root, depth - 1)
    if "anyOf" in wanted:
        return set[str]().union(*(_types(option, root, depth - 1) for option in wanted["anyOf"]))
    named = wanted.get("type", [])
    return {named} if isinstance(named, str) else set(named)
