"""A request for a grant with an approval: "and all like this, in that folder, for an hour, 50 items". Pure.

The kind of action comes from the approved action, not from the request, so that nobody gives more than they saw.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from typing_extensions import TypedDict

from graph.policy.bounds import MAX_ITEMS, ActionKind, Bounds

MINUTES: Final = 60
MAX_MINUTES: Final = 7 * 24 * 60
ITEMS: Final = 50
MAX_ID: Final = 64


class GrantRequest(TypedDict):
    """A folder by its id, with all that lies in it, for that many minutes and items."""

    folder_id: str
    minutes: int
    max_items: int


def read_grant(value: object) -> GrantRequest:
    """Return the request, by default for an hour and 50 items. Raises `ValueError` with a sentence."""
    if not isinstance(value, Mapping) or set(value) - {"folder_id", "minutes", "max_items"}:
        raise ValueError("A grant has folder_id, minutes and max_items.")
    folder_id = value.get("folder_id")
    if not isinstance(folder_id, str) or not 0 < len(folder_id) <= MAX_ID:
        raise ValueError("A grant needs the id of a folder.")
    return {
        "folder_id": folder_id,
        "minutes": _number(value.get("minutes"), MINUTES, MAX_MINUTES, "minutes"),
        "max_items": _number(value.get("max_items"), ITEMS, MAX_ITEMS, "max_items"),
    }


def _number(value: object, otherwise: int, most: int, name: str) -> int:
    """Forms send numbers as strings."""
    if value is None:
        return otherwise
    digits = value.strip() if isinstance(value, str) else value
    if isinstance(digits, str) and digits.isascii() and digits.isdigit() and len(digits) <= len(str(most)):
        digits = int(digits)
    if not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= most:
        raise ValueError(f"{name} is a whole number from 1 to {most}.")
    return digits


def grantable(action: Mapping[str, Any]) -> ActionKind | None:
    """Return the kind of action that an approval of this one may grant; None if it is final or reaches others."""
    if not action["reversible"] or action["risk"] not in {"write", "delete"}:
        return None
    effect = action.get("effect") or {}
    if effect.get("gains_access") or effect.get("loses_access"):
        return None
    return action.get("action")


def bounds_for(action: Mapping[str, Any], request: GrantRequest, now: datetime) -> Bounds:
    """Return the bounds of a grant given with an approval of the action. Raises `ValueError` with a sentence."""
    return _bounds(grantable(action), action["name"], request, now)


def _bounds(kind: ActionKind | None, name: str, request: GrantRequest, now: datetime) -> Bounds:
    if kind is None:
        raise ValueError(f"{name} is asked about each time: it can't be undone, or it reaches others.")
    until = now + timedelta(minutes=request["minutes"])
    return Bounds(frozenset({request["folder_id"]}), frozenset({kind}), request["max_items"], until)


def check_grant(asked_for: Mapping[str, Any], tool_call_id: str, value: object, now: datetime) -> str | None:
    """Return the problem of a grant that comes with an approval of one of the payload's actions; None if it may be."""
    action = next((action for action in asked_for["actions"] if action["tool_call_id"] == tool_call_id), None)
    if action is None:
        return "There is no such action."
    try:
        _bounds(action.get("grant_kind"), action["name"], read_grant(value), now)
    except ValueError as error:
        return str(error)
    return None
