"""The feed of recorded changes: each once, in order, whichever process made it."""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import orjson
from sqlalchemy import CTE, Text, bindparam, cast, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.errors import DriveError
from drive_server.kernel.sql.database import Database
from drive_server.services.housekeeping import whole_step
from drive_server.services.journal.recorder import PASSING, PEOPLE, TREES
from drive_server.services.tree.grantees import with_members
from drive_server.services.tree.nodes import BATCH
from drive_server.storage.journal_numbers import read_numbers
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.sharing import ShareRow

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
# Changes come in bursts: looking at a few at once costs little more than looking at one.
DEBOUNCE_SECONDS = 0.1
MAX_AT_ONCE = 100
# Fields of an item whose change is one for all that lies below it: its folder, its name, who sees it.
_PLACING = frozenset({"name", "parent_id", "trash_id"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """A change by the items it touched.

    `items` are those that changed themselves, `folders` those whose direct content this was before or is after as far
    as the record says, `roots` the items whose whole tree is elsewhere, called otherwise, or seen by others now.
    `people` are those that the record names: owners by id, others by email.
    """

    id: int
    items: frozenset[str]
    folders: frozenset[str]
    roots: frozenset[str]
    people: frozenset[str]


class Listener(Protocol):
    """Hears of changes from the feed, one batch after another, while it wants to."""

    def is_listening(self) -> bool:
        """Return whether anybody waits for changes."""
        ...

    async def hear(self, changes: list[Recorded], around: frozenset[str]) -> None:
        """Take the changes, oldest first. `around` are the people that they concern: `audience_of`."""
        ...


class ChangeFeed:
    """Follows the journal by its ids, and tells `listeners` of new changes: each change is read once a process.

    After `wake` this process delivers its changes within `DEBOUNCE_SECONDS`, those of others within `POLL_SECONDS`.
    While nobody listens, changes pass unread. A change waits for those of lower numbers that are still being made:
    `drive_server/kernel/sql/turns.py`.
    """

    def __init__(self, database: Database) -> None:
        self.listeners: list[Listener] = []
        self._database = database
        self._woken = anyio.Event()
        self._delivery_lock = anyio.Lock()
        self._last = 0
        self._is_behind = False

    async def start(self) -> None:
        """Begin here: earlier changes are not delivered."""
        self._last = await self.newest()

    async def newest(self) -> int:
        """Return the newest number below which no change is still to come, 0 if there is none."""
        return (await self._database.look(read_numbers)).settled

    def wake(self) -> None:
        """Look soon."""
        self._woken.set()

    async def run(self) -> None:
        """Follow until cancelled. Ask a failing database again; log a listener's failure."""
        state: object = None
        while True:
            with anyio.move_on_after(POLL_SECONDS):
                await self._woken.wait()
                await anyio.sleep(DEBOUNCE_SECONDS)
            is_woken, self._woken = self._woken.is_set(), anyio.Event()
            try:
                before, state = state, await self._database.state()
                if is_woken or state != before:
                    await whole_step(self.catch_up)
                    if self._is_behind:
                        state = None
            except DriveError:
                state = None  # logged where it came from
            except Exception:
                state = None
                logger.exception("Changes could not be read.")

    async def catch_up(self) -> None:
        """Tell all that is new now."""
        async with self._delivery_lock:
            self._is_behind = False
            if not self._is_wanted():
                newest = await self.newest()
                # Who began to listen in the meantime gets all from here on.
                self._last = self._last if self._is_wanted() else max(self._last, newest)
                return
            is_more = True
            while is_more and (found := await self._after(self._last)):
                changes = await anyio.to_thread.run_sync(all_recorded, found)
                async with self._database.read() as session:
                    around = await audience_of(session, changes)
                self._last = found[-1][0]
                await self._tell(changes, around)
                is_more = len(found) == MAX_AT_ONCE

    def _is_wanted(self) -> bool:
        return any(listener.is_listening() for listener in self.listeners)

    async def _tell(self, changes: list[Recorded], around: frozenset[str]) -> None:
        for listener in self.listeners:
            try:
                await listener.hear(changes, around)
            except DriveError:
                continue  # logged where it came from
            except Exception:
                logger.exception("Changes could not be delivered.")

    async def _after(self, last: int) -> list[tuple[int, str]]:
        # As text: a large change's items are read in a thread, not here.
        query = select(ChangeRow.id, cast(ChangeRow.entries, Text)).where(ChangeRow.id > last)

        async def work(session: AsyncSession) -> list[tuple[int, str]]:
            wanted = query
            if self._database.takes_turns:
                reached = await read_numbers(session)
                self._is_behind = not reached.are_settled
                wanted = query.where(ChangeRow.id <= reached.settled)
            rows = await session.execute(wanted.order_by(ChangeRow.id).limit(MAX_AT_ONCE))
            return [(number, entries) for number, entries in rows]

        return await self._database.look(work)


def all_recorded(found: list[tuple[int, str]]) -> list[Recorded]:
    """Return the records of the changes with these numbers and entries (JSON)."""
    return [_recorded(number, orjson.loads(entries)) for number, entries in found]


def _recorded(number: int, entries: list[dict[str, Any]]) -> Recorded:
    items: set[str] = set()
    folders: set[str] = set()
    roots: set[str] = set()
    people: set[str] = set()
    for entry in entries:
        before, after = entry["before"] or {}, entry["after"] or {}
        if entry["table"] == "shares":
            node_id = (after or before)["node_id"]
            items.add(node_id)
            roots.add(node_id)
            people |= {row["email"] for row in (before, after) if row.get("email")}
        elif entry["table"] == TREES:  # those who watch an item deleted for good are let go
            items |= set(before.get("items", ()))
        elif entry["table"] == PEOPLE and "heir" in after:
            people.add(after["heir"])
            folders.add(after["folder"])
        elif entry["table"] in {"nodes", "versions", PASSING}:
            items.add(entry["id"])
            folders |= {row["parent_id"] for row in (before, after) if row.get("parent_id")}
            people |= {row["owner_id"] for row in (before, after) if row.get("owner_id")}
            if entry["table"] in {"nodes", PASSING} and before and _PLACING & (before.keys() | after.keys()):
                roots.add(entry["id"])
    return Recorded(number, frozenset(items), frozenset(folders), frozenset(roots), frozenset(people))


async def audience_of(session: AsyncSession, changes: Iterable[Recorded]) -> frozenset[str]:
    """Return all owners of the touched items, by id, and all who have or had a role on them or above, by email."""
    changes = list(changes)
    people = {person for change in changes for person in change.people}
    for ids in _batches({item for change in changes for item in change.items}):
        people |= set(await session.scalars(_OWNERS, {"ids": ids}))
        people |= set(await session.scalars(_SHARED_WITH, {"ids": ids}))
    return await with_members(session, people)


async def places_of(
    session: AsyncSession, changes: Collection[Recorded], watched: Collection[str]
) -> dict[str, frozenset[int]]:
    """Return for each watched item the numbers of the changes that are changes of it."""
    above = await _ancestors(session, watched)
    parents = await _parents(session, {item for change in changes for item in change.items})
    found: dict[str, set[int]] = {}
    for change in changes:
        folders = change.folders | {parents[item] for item in change.items if item in parents}
        for item in watched:
            if item in change.items or item in folders or change.roots & above.get(item, frozenset()):
                found.setdefault(item, set()).add(change.id)
    return {item: frozenset(numbers) for item, numbers in found.items()}


async def _parents(session: AsyncSession, items: Collection[str]) -> dict[str, str]:
    parents: dict[str, str] = {}
    for ids in _batches(items):
        rows = await session.execute(_PARENTS, {"ids": ids})
        parents |= {item: parent for item, parent in rows if parent is not None}
    return parents


async def _ancestors(session: AsyncSession, items: Collection[str]) -> dict[str, frozenset[str]]:
    above: dict[str, set[str]] = {}
    for ids in _batches(items):
        for start, ancestor in await session.execute(_CHAINS, {"ids": ids}):
            above.setdefault(start, set()).add(ancestor)
    return {item: frozenset(ancestors) for item, ancestors in above.items()}


def _batches(items: Collection[str]) -> list[list[str]]:
    ordered = sorted(items)
    return [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]


def _upwards() -> CTE:
    chain = (
        select(NodeRow.id.label("start"), NodeRow.id, NodeRow.parent_id)
        .where(NodeRow.id.in_(bindparam("ids", expanding=True)))
        .cte("chain", recursive=True)
    )
    return chain.union(
        select(chain.c.start, NodeRow.id, NodeRow.parent_id).join(NodeRow, NodeRow.id == chain.c.parent_id)
    )


_CHAIN = _upwards()
_CHAINS = select(_CHAIN.c.start, _CHAIN.c.id)
_PARENTS = select(NodeRow.id, NodeRow.parent_id).where(NodeRow.id.in_(bindparam("ids", expanding=True)))
_OWNERS = select(NodeRow.owner_id).where(NodeRow.id.in_(bindparam("ids", expanding=True))).distinct()
_SHARED_WITH = select(ShareRow.email).join(_CHAIN, _CHAIN.c.id == ShareRow.node_id).distinct()
