"""One change in progress: it notes each row's state before and after, and the sentences about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import inspect
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor
from drive_server.kernel.messages import Message, localized
from drive_server.services.quota import Limits
from drive_server.services.tree.names import display_name
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.base import Base
from drive_server.storage.tables.items import NodeRow

MAX_EFFECT_ITEMS = 100
BOOKKEEPING = frozenset({"revision", "updated_at", "trashed_at"})
# An entry of this name holds the ids of a whole tree that was made, or deleted for good, at once.
TREES = "trees"
# An entry of this name says that an earlier change, by its id, was undone or done again.
CHANGES = "changes"
# An entry of this name says that a person was removed, and to whom their files went. No undo takes it back.
PEOPLE = "people"

# An entry of this name says that a file came or went while a program saved another. No undo takes it back.
PASSING = "passing"

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A file's content before and after.

    `data` is the new one if it is in memory (a dry run stores no blob), or the text that an Office document is made of.
    """

    name: str
    before: Blob | None
    after: Blob
    data: bytes | None = None


@dataclass(slots=True)
class _Touched:
    row: Base
    before: Entry | None
    after: Entry | None = None
    removed: bool = False


@dataclass(slots=True)
class Recorder:
    """Records one operation: its session, every row that it changes, and its description.

    Call `add`, `touch` (before changing a row) or `remove` for every row, and `describe` for the sentence. For the
    effect shown in approvals, set `count`, `items`, `gains_access`, `loses_access` and `etag` where they apply.
    `replaces` has the etags of the items that go to the trash to make room for others; `left` are the effects that an
    undo can't revert. The effect names the first `shown` items.
    """

    session: AsyncSession
    actor: Actor
    now: datetime
    limits: Limits = field(default_factory=Limits)
    message: Message | None = None
    effect: Message | None = None
    item_id: str | None = None
    undoes: int | None = None
    count: int = 1
    items: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    contents: list[ContentChange] = field(default_factory=list[ContentChange])
    gains_access: list[str | Message] = field(default_factory=list[str | Message])
    loses_access: list[str | Message] = field(default_factory=list[str | Message])
    reversible: bool = True
    etag: str | None = None
    replaces: list[str] = field(default_factory=list[str])
    shown: int = MAX_EFFECT_ITEMS
    left: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    wakes_index: bool = False
    on_recorded: list[Callable[[int], None]] = field(default_factory=list[Callable[[int], None]])
    _log: list[_Touched | Entry] = field(default_factory=list["_Touched | Entry"])
    _open: dict[int, _Touched] = field(default_factory=dict[int, _Touched])
    _bumped: set[str] = field(default_factory=set[str])

    def describe(self, action: str, **params: Any) -> None:
        """Describe the change, once for an approval (`Rename`) and once for the journal (`Renamed`)."""
        self.effect = Message.of(f"effect.{action}", **params)
        self.message = Message.of(f"change.{action}", **params)

    def show(self, row: NodeRow, path: str, what: Message | None = None) -> None:
        """Name an item in the effect, with its change unless the summary says it."""
        shown = {"id": row.id, "kind": row.kind, "name": display_name(row.name), "path": display_name(path)}
        self.items.append({**shown, **localized(what=what)} if what else shown)

    def add(self, row: Base) -> None:
        """Insert the row and note that it is new."""
        self.session.add(row)
        self._begin(row, None)
        if isinstance(row, NodeRow):
            self._bumped.add(row.id)

    def touch(self, row: Base) -> None:
        """Note the row as it is, before it is changed. A node's revision goes up once per change."""
        self._begin(row, _snapshot(row))
        if isinstance(row, NodeRow) and row.id not in self._bumped:
            self._bumped.add(row.id)
            row.revision += 1

    async def remove(self, row: Base) -> None:
        """Delete the row and note its last state."""
        self._begin(row, _snapshot(row))
        self._open[id(row)].removed = True
        await self.session.delete(row)

    def gone(self, row: Base) -> None:
        """Note that the row is deleted by a statement that the session does not know of."""
        self._log.append(_Touched(row, _snapshot(row), removed=True))

    def note(self, table: str, row_id: str, before: Entry | None, after: Entry | None) -> None:
        """Note a change that is not a row's columns (a file's content)."""
        self._log.append({"table": table, "id": row_id, "before": before, "after": after})

    def absorb(self, step: "Recorder") -> None:
        """Take over the notes of another recorder of this session, as a step of this change. Call after a flush."""
        for touched in step._open.values():
            step._close(touched)
        step._open.clear()
        self._log += step._log
        self.contents += step.contents
        self.wakes_index = self.wakes_index or step.wakes_index
        self.reversible = self.reversible and step.reversible

    def entries(self) -> list[Entry]:
        """Return the rows before and after, in the order of events. Call after a flush."""
        return list(self._changes())

    def changes_anything(self) -> bool:
        """Return whether there are entries. Call after a flush."""
        return next(self._changes(), None) is not None

    def _changes(self) -> Iterator[Entry]:
        for event in self._log:
            if isinstance(event, _Touched) and self._open.get(id(event.row)) is event:
                self._close(event)
            entry = _entry(event) if isinstance(event, _Touched) else event
            if entry["before"] != entry["after"]:
                yield entry

    def _begin(self, row: Base, before: Entry | None) -> None:
        # The same row may change several times in one undo: each step is an entry, or the steps could not be retraced.
        if earlier := self._open.get(id(row)):
            self._close(earlier)
        touched = _Touched(row, before)
        self._open[id(row)] = touched
        self._log.append(touched)

    def _close(self, touched: _Touched) -> None:
        touched.after = None if touched.removed else _snapshot(touched.row)


def touched_items(entries: list[Entry]) -> set[str]:
    """Return the ids of the items that the entries are about."""
    items: set[str] = set()
    for entry in entries:
        if entry["table"] in {"shares", "links"}:
            items.add((entry["after"] or entry["before"])["node_id"])
        elif entry["table"] == TREES:
            items.update((entry["after"] or entry["before"])["items"])
        elif entry["table"] in {"nodes", "versions", PASSING}:
            items.add(entry["id"])
    return items


def _entry(touched: _Touched) -> Entry:
    before, after = touched.before, touched.after
    if before is not None and after is not None:
        identity = {"node_id", "email"} & before.keys()
        changed = {column for column in before if before[column] != after[column]}
        stored_columns = changed | identity if changed - BOOKKEEPING else set[str]()
        before = {column: before[column] for column in before if column in stored_columns}
        after = {column: after[column] for column in after if column in stored_columns}
    identity_key = inspect(touched.row).identity or ("",)
    return {"table": touched.row.__tablename__, "id": str(identity_key[0]), "before": before, "after": after}


def _snapshot(row: Base) -> Entry:
    values = ((key, getattr(row, key)) for key in _columns(type(row)))
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in values}


@cache
def _columns(table: type[Base]) -> tuple[str, ...]:
    return tuple(column.key for column in inspect(table).column_attrs)
