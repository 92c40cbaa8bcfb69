"""Changes below a folder, one after another, as one person may see them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from weakref import WeakSet

import anyio
from sqlalchemy import Text, cast, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.journal.changes import HAS_ENTRIES
from drive_server.services.journal.feed import ChangeFeed, Recorded, all_recorded
from drive_server.services.tree.nodes import NodeView, locate_folder, locate_many
from drive_server.storage.journal_numbers import read_numbers
from drive_server.storage.tables.journal import ChangeRow

MAX_AT_ONCE: Final = 100
MAX_BEHIND: Final = 10_000
"""Who missed more changes reads the folder anew: that is less work for both sides."""
MAX_NAMED: Final = 100
MAX_LOCATED: Final = 1_000
PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class FolderChange:
    """A change below a folder, by its number in the journal.

    `item_ids` changed themselves, `folder_ids` are folders whose direct content is another; `complete` is false if
    there are more of them than 100. `mine`: the caller made it. `reset`: too much was missed to be told one by one.
    """

    id: int
    at: datetime | None = None
    mine: bool = False
    item_ids: tuple[str, ...] = ()
    folder_ids: tuple[str, ...] = ()
    complete: bool = True
    reset: bool = False


class ChangeFollower:
    """Follows the journal for any number of watches. Only those concerned by a change look."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        self.database = database
        self.feed = feed
        self.position = 0
        # A stream whose client is gone leaves its watch behind.
        self._watches: WeakSet[FolderWatch] = WeakSet()
        feed.listeners.append(self)

    async def watch(self, actor: Actor, folder: str, after: int | None = None) -> "FolderWatch":
        """Watch a folder that the caller sees: its changes after that number, by default after the newest."""
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        async with self.database.read() as session:
            node = await locate_folder(session, actor.principal, folder)
        watch = FolderWatch(self, actor, node.id)
        self._watches.add(watch)
        # After it was added: a change in between is told twice at most, and never missed.
        newest = await self.feed.newest()
        watch.last = newest if after is None else min(after, newest)
        return watch

    def is_listening(self) -> bool:
        """Return whether anybody watches."""
        return len(self._watches) > 0

    async def hear(self, changes: list[Recorded], around: frozenset[str]) -> None:
        """Have those look that one of the changes concerns, or whose folder it touched."""
        touched = frozenset[str]().union(*(change.items | change.folders | change.roots for change in changes))
        for watch in list(self._watches):
            if not watch.person.isdisjoint(around) or watch.folder_id in touched:
                watch.wake()
        self.position = changes[-1].id


class FolderWatch:
    """The changes below one folder. For one task. `last` is the number of the last change that was looked at.

    `person` is the caller by id and by email.
    """

    def __init__(self, follower: ChangeFollower, actor: Actor, folder_id: str) -> None:
        self._follower = follower
        self._actor = actor
        self.person = frozenset({actor.user_id, actor.principal.email})
        self.folder_id = folder_id
        self.last = 0
        self._is_stale = True
        self._woken = anyio.Event()

    def wake(self) -> None:
        """Have it look at new changes."""
        self._is_stale = True
        self._woken.set()

    async def next(self, seconds: float) -> list[FolderChange]:
        """Return the next changes, none if there are none in time. Raises `NotFoundError` if the folder is gone."""
        with anyio.move_on_after(seconds):
            while True:
                while not self._is_stale:
                    self._woken = anyio.Event()
                    await self._woken.wait()
                    await anyio.sleep(PAUSE_SECONDS)
                if found := await self._look():
                    return found
        if not self._is_stale:  # nothing up to here concerns the caller
            self.last = max(self.last, self._follower.position)
        return []

    async def _look(self) -> list[FolderChange]:
        self._is_stale = False
        try:
            found = await self._poll()
        except BaseException:
            self._is_stale = True  # cut off: there may be more
            raise
        self._is_stale = self._is_stale or bool(found)
        return found

    async def _poll(self) -> list[FolderChange]:
        """Look at new changes, until there is something to tell."""
        while True:
            async with self._follower.database.read() as session:
                # A change that the feed has told is settled for good, whichever one a writer notes just now.
                newest = max((await read_numbers(session)).settled, self._follower.position)
                if newest <= self.last:
                    return []
                if newest - self.last > MAX_BEHIND:
                    self.last = newest
                    return [FolderChange(newest, reset=True)]
                found, last = await self._batch(session, newest)
            self.last = last  # not before the session is closed: until then this can be cancelled
            if found:
                return found

    async def _batch(self, session: AsyncSession, newest: int) -> tuple[list[FolderChange], int]:
        columns = (ChangeRow.id, ChangeRow.at, ChangeRow.user_id, cast(ChangeRow.entries, Text))
        query = (
            select(*columns).where(ChangeRow.id > self.last, ChangeRow.id <= newest, HAS_ENTRIES).order_by(ChangeRow.id)
        )
        rows = (await session.execute(query.limit(MAX_AT_ONCE))).all()
        if not rows:
            return [], newest
        changes = await anyio.to_thread.run_sync(all_recorded, [(row[0], row[3]) for row in rows])
        nodes = await self._located(session, changes)
        folder = nodes.get(self.folder_id)
        if folder is None:
            raise NotFoundError(Message.of("no_item"))
        found: list[FolderChange] = []
        for row, change in zip(rows, changes, strict=True):
            items, folders = _touched(change, folder, nodes)
            if items or folders:
                complete = max(len(items), len(folders)) <= MAX_NAMED and len(change.items) <= MAX_LOCATED
                mine = row.user_id == self._actor.user_id
                found.append(
                    FolderChange(row.id, row.at, mine, items[:MAX_NAMED], folders[:MAX_NAMED], complete=complete)
                )
        return found, rows[-1].id if len(rows) == MAX_AT_ONCE else newest

    async def _located(self, session: AsyncSession, changes: Collection[Recorded]) -> Mapping[str, NodeView]:
        wanted = {self.folder_id}
        for change in changes:
            wanted.update(sorted(change.items)[:MAX_LOCATED], sorted(change.folders)[:MAX_LOCATED])
        return await locate_many(session, self._actor.principal, wanted)


def _touched(
    change: Recorded, folder: NodeView, nodes: Mapping[str, NodeView]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the touched items of the folder, its tree included, and the folders whose content changed."""

    def below(ids: Collection[str]) -> dict[str, NodeView]:
        found = {key: nodes[key] for key in ids if key in nodes}
        return {key: node for key, node in found.items() if folder.id in (key, *node.ancestors)}

    items = below(change.items)
    if change.roots & set(folder.ancestors):  # the folder is elsewhere now, or others see it
        items[folder.id] = folder
    parents = {node.ancestors[0] for key, node in items.items() if key != folder.id and node.ancestors}
    return tuple(sorted(items)), tuple(sorted({*below(change.folders), *parents}))
