"""Changes in the journal: its effect beforehand, its record, and the outcome of its undo."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from drive_server.kernel.messages import Message, translations
from drive_server.models.base import T


@dataclass(frozen=True, slots=True)
class Touch:
    """An item that a call changes, and where it is: `inside` the folders of these ids afterwards, the nearest first.

    `was_inside` is the same before the call, None if it is new or was where the caller does not see. `was_named` is its
    name before the call, None if it is new or has the name that it had. `items` counts the items below it too. `mine`:
    it belongs to the caller. `others`: somebody else sees it where it is afterwards; `gains`: somebody may who did not
    before.
    """

    id: str
    name: str
    path: str
    items: int
    mine: bool
    inside: tuple[str, ...]
    was_inside: tuple[str, ...] | None
    others: bool
    gains: bool
    was_named: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a call, computed by doing it and rolling it back.

    `message` is one sentence; `items` name at most 100 of the `count` items that change; `diff` is a unified diff for
    text; `gains_access` / `loses_access` are emails, or messages for anyone with a link; `etag` is the item's before
    the call. `touches` says where all of the changed items are, for who has to judge that; None if that is unknown.
    `left` are the parts that an undo would leave as they are (at most 20), with `summary` and `reason`.
    """

    message: Message | None = None
    count: int = 0
    items: tuple[dict[str, Any], ...] = ()
    diff: str | None = None
    gains_access: tuple[str | Message, ...] = ()
    loses_access: tuple[str | Message, ...] = ()
    reversible: bool = True
    etag: str | None = None
    touches: tuple[Touch, ...] | None = None
    left: tuple[dict[str, Any], ...] = ()

    @property
    def summary(self) -> str:
        """The sentence in English."""
        return self.message.en if self.message else ""

    @property
    def reaches_others(self) -> bool:
        """Say whether somebody besides the caller sees the changed items, now or then; also if that is unknown."""
        if self.touches is None or self.gains_access:
            return True
        return any(touch.others or touch.gains or not touch.mine for touch in self.touches)


@dataclass(frozen=True, slots=True)
class Change:
    """One recorded call. `entries` hold each touched row before and after.

    `summary` is a sentence in English, `message` the same in every language; old changes have none.

    `tool_call_id` is the model's call in the run, `approval_id` or `grant_id` the consent to it: all for the caller
    only. `method` and `key_name` say how the caller proved who they are, `approved_key` with which key somebody agreed;
    only they and administrators see these.
    """

    id: int
    at: datetime
    user_email: str
    tool: str
    run_id: str | None
    action: str
    summary: str
    item_id: str | None
    entries: tuple[dict[str, Any], ...]
    approved_by: str | None
    undoes: int | None
    undone_by: int | None
    method: str | None = None
    key_name: str | None = None
    approved_key: str | None = None
    tool_call_id: str | None = None
    approval_id: str | None = None
    grant_id: str | None = None
    message: Message | None = None

    @property
    def messages(self) -> dict[str, Any]:
        """The summary in other languages than English, as `translations` has it."""
        return translations({"summary": self.message})


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The changes that an undo took back, and the entries that it left, each with the reason."""

    undone: tuple[Change, ...]
    skipped: tuple[dict[str, Any], ...]
    change_id: int | None
    preview: bool


@dataclass(frozen=True, slots=True)
class RedoResult:
    """The changes that a redo did again, and the entries that it left, each with the reason."""

    redone: tuple[Change, ...]
    skipped: tuple[dict[str, Any], ...]
    change_id: int | None
    preview: bool


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The result of a change: the value, its id in the journal, and for a dry run the effect.

    `replayed` says that the idempotency key was known: nothing was done again, `value` is the recorded one.
    """

    value: T
    change_id: int | None = None
    effect: Effect | None = None
    replayed: bool = False
