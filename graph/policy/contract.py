"""A plan as a contract: the person agrees once to its kinds of action, in which folders, and how often. Pure.

Inside of it nothing is asked; outside of it, everything that changes something is (`graph/policy/rules.py`). It covers
only actions that can be undone (`graph/policy/bounds.py`), it can't be spent twice, and it ends with its plan.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict

from drive_server.kernel.texts import Texts
from graph.language import Language, join_names
from graph.policy.bounds import ACTION_KINDS, MAX_FOLDERS, MAX_ITEMS, ActionKind, Bounds, BoundsData, to_data
from graph.state import Call

APPROVE_PLAN: Final = "approve_plan"
"""The name of the one action of the card; no tool is called so."""
HOURS: Final = 24
ASKING: Final = frozenset[ActionKind]({"write", "trash"})
"""Kinds that ask each time without a contract."""
ASKING_ONCE_READ: Final = frozenset[ActionKind]({"rename", "move", "copy"})
"""Kinds that ask once content was read in the turn."""

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "folders": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_FOLDERS},
        "kinds": {"type": "array", "items": {"type": "string", "enum": list(ACTION_KINDS)}, "minItems": 1},
        "max_items": {"type": "integer", "minimum": 1, "maximum": MAX_ITEMS},
    },
    "required": ["folders", "kinds", "max_items"],
    "additionalProperties": False,
}
"""The JSON schema for an edit of the card; `folders` are ids."""

TEXTS: Final = Texts.beside(__file__)


class Folder(TypedDict):
    """A folder of the contract, by its id and as it is called."""

    id: str
    path: str


def needed(kinds: Sequence[ActionKind], *, reads: bool) -> bool:
    """Say whether these kinds need approvals without a contract; `reads`: the plan reads content."""
    return bool(ASKING & set(kinds)) or (reads and bool(ASKING_ONCE_READ & set(kinds)))


def card(
    plan_id: str, folders: Sequence[Folder], kinds: Sequence[ActionKind], max_items: int, language: Language
) -> Call:
    """Return the card's one action, in the shape of a call that waits for the person."""
    args = {"folders": [folder["id"] for folder in folders], "kinds": [*kinds], "max_items": max_items}
    return {
        "tool_call_id": f"plan:{plan_id}",
        "name": APPROVE_PLAN,
        "args": args,
        "risk": "delete" if "trash" in kinds else "write",
        "reason": TEXTS.say("contract.reason", language),
        "preview": _preview(folders, kinds, max_items, language),
        "reversible": True,
        "etag": None,
        "digest": digest(APPROVE_PLAN, args, None),
        "standing": "asked",
        "approved_by": None,
    }


def agreed(args: Mapping[str, Any], now: datetime) -> BoundsData:
    """Return the contract for the card's arguments as the person left them. Raises `ValueError` if they are none."""
    bounds = Bounds(
        frozenset(map(str, args["folders"])),
        frozenset(args["kinds"]),
        int(args["max_items"]),
        now + timedelta(hours=HOURS),
    )
    return to_data(bounds)


def _preview(folders: Sequence[Folder], kinds: Sequence[ActionKind], max_items: int, language: Language) -> str:
    named = (TEXTS.say(f"contract.kind.{kind}", language) for kind in kinds)
    inside = (f"`{folder['path']}`" for folder in folders)
    return TEXTS.say(
        "contract.preview",
        language,
        kinds=join_names(named, language),
        folders=join_names(inside, language),
        count=max_items,
    )


def digest(name: str, args: Mapping[str, Any], etag: str | None) -> str:
    """Return the SHA-256 that binds an approval to the call it was given for."""
    text = json.dumps([name, args, etag], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
