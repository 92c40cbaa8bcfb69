"""A call's arguments against the tool's JSON schema: strings are read as what it wants, then all is checked."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from jsonschema import Draft202012Validator

from graph.drive.tool_names import REDO, UNDO
from graph.state import State, running_turn

MAX_PROBLEMS: Final = 5
BOOLEANS: Final = {"true": True, "false": False}


def of_conversation(name: str, args: Mapping[str, Any], last_change: str) -> Mapping[str, Any]:
    """Return the arguments; an undo that names nothing is of the run of this conversation that changed something last.

    What the drive would take by itself may be another conversation's.
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


def fit(args: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments with strings coerced ("5", "true", "[1]"), and what is still wrong, as sentences.

    Clients with a plain form send every edited value as a string, and small models do the same. Arguments that the
    schema does not name are a problem: nothing may be slipped in that nobody was shown.
    """
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    fitted = {name: _coerce(value, properties.get(name, {}), schema) for name, value in args.items()}
    closed = {**schema, "additionalProperties": False}
    errors = sorted(Draft202012Validator(closed).iter_errors(fitted), key=lambda error: list(map(str, error.path)))
    return fitted, [_sentence(list(error.path), error.message) for error in errors[:MAX_PROBLEMS]]


def _sentence(path: list[Any], message: str) -> str:
    return f"{'.'.join(map(str, path))}: {message}" if path else message


def _coerce(value: Any, wanted: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
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
    except json.JSONDecodeError:
        return otherwise


def _types(wanted: Mapping[str, Any], root: Mapping[str, Any]) -> set[str]:
    """Collect the JSON types that a property may have, through `$ref`, `anyOf` and `enum`."""
    if "$ref" in wanted:
        name = str(wanted["$ref"]).rsplit("/", 1)[-1]
        return _types(cast("Mapping[str, Any]", root.get("$defs", {}).get(name, {})), root)
    if "anyOf" in wanted:
        return set().union(*(_types(option, root) for option in wanted["anyOf"]))
    named = wanted.get("type", [])
    return {named} if isinstance(named, str) else set(named)
