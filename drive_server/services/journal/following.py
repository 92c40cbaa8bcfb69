"""Changes below a folder, one after another, as one person may see them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import anyio
from sqlalchemy import Text, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Actor, Scope, require_person, require_scope
from drive_server.errors import NotFoundError
from drive_server.messages import Message
from drive_server.services.journal.changes import HAS_ENTRIES
from drive_server.services.journal.feed import Recorded, all_recorded
from drive_server.services.tree.nodes import NodeView, locate_folder, locate_many
from drive_server.storage.database import Database
from drive_server.storage.tables.journal import ChangeRow

MOST_AT_ONCE: Final = 100
MOST_BEHIND: Final = 10_000
"""Who missed more changes reads the folder anew: that is less work for both sides."""
MOST_NAMED: Final = 100
MOST_LOCATED: Final = 1_000
POLL_SECONDS: Final = 1.0
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
    """Follows the journal for any number of watches. `wake` has them look; other processes' changes take 1 s."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.woken = anyio.Event()

    def wake(self) -> None:
        """Have all watches look."""
        self.woken.set()
        self.woken = anyio.Event()

    async def watch(self, actor: Actor, folder: str, after: int | None = None) -> "FolderWatch":
        """Watch a folder that the caller sees: what comes after the change of this number, by default the newest."""
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        async with self.database.read() as session:
            node = await locate_folder(session, actor.principal, folder)
            newest = await session.scalar(select(func.max(ChangeRow.id))) or 0
        return FolderWatch(self, actor, node.id, newest if after is None else min(after, newest))


class FolderWatch:
    """The changes below one folder. For one task. `last` is the number of the last change that was looked at."""

    def __init__(self, follower: ChangeFollower, actor: Actor, folder_id: str, last: int) -> None:
        self._follower = follower
        self._actor = actor
        self._folder_id = folder_id
        self.last = last

    async def next(self, seconds: float) -> list[FolderChange]:
        """Return the next changes, none if there are none in time. Raises `NotFoundError` if the folder is gone."""
        with anyio.move_on_after(seconds):
            while True:
                woken = self._follower.woken
                if found := await self._poll():
                    return found
                with anyio.move_on_after(POLL_SECONDS):
                    await woken.wait()
                await anyio.sleep(PAUSE_SECONDS)
        return []

    async def _poll(self) -> list[FolderChange]:
        """Look at what is new, until there is something to tell of."""
        while True:
            async with self._follower.database.read() as session:
                newest = await session.scalar(select(func.max(ChangeRow.id))) or 0
                if newest <= self.last:
                    return []
                if newest - self.last > MOST_BEHIND:
                    self.last = newest
                    return [FolderChange(newest, reset=True)]
                found, last = await self._batch(session, newest)
            self.last = last  # not before the session is closed: until then this can be cancelled
            if found:
                return found

    async def _batch(self, session: AsyncSession, newest: int) -> tuple[list[FolderChange], int]:
        columns = (ChangeRow.id, ChangeRow.at, ChangeRow.user_id, cast(ChangeRow.entries, Text))
        query = select(*columns).where(ChangeRow.id > self.last, HAS_ENTRIES).order_by(ChangeRow.id)
        rows = (await session.execute(query.limit(MOST_AT_ONCE))).all()
        if not rows:
            return [], newest
        changes = await anyio.to_thread.run_sync(all_recorded, [(row[0], row[3]) for row in rows])
        nodes = await self._located(session, changes)
        folder = nodes.get(self._folder_id)
        if folder is None:
            raise NotFoundError(Message.of("no_item"))
        found: list[FolderChange] = []
        for row, change in zip(rows, changes, strict=True):
            items, folders = _touched(change, folder, nodes)
            if items or folders:
                complete = max(len(items), len(folders)) <= MOST_NAMED and len(change.items) <= MOST_LOCATED
                mine = row.user_id == self._actor.user_id
                found.append(
                    FolderChange(row.id, row.at, mine, items[:MOST_NAMED], folders[:MOST_NAMED], complete=complete)
                )
        return found, rows[-1].id if len(rows) == MOST_AT_ONCE else newest

    async def _located(self, session: AsyncSession, changes: Collection[Recorded]) -> Mapping[str, NodeView]:
        wanted = {self._folder_id}
        for change in changes:
            wanted.update(sorted(change.items)[:MOST_LOCATED], sorted(change.folders)[:MOST_LOCATED])
        return await locate_many(session, self._actor.principal, wanted)


def _touched(
    change: Recorded, folder: NodeView, nodes: Mapping[str, NodeView]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the change touched in the folder, its tree included, and the folders whose content it changed."""

    def below(ids: Collection[str]) -> dict[str, NodeView]:
        found = {key: nodes[key] for key in ids if key in nodes}
        return {key: node for key, node in found.items() if folder.id in (key, *node.ancestors)}

    items = below(change.items)
    if change.roots & set(folder.ancestors):  # the folder is elsewhere now, or others see it
        items[folder.id] = folder
    parents = {node.ancestors[0] for key, node in items.items() if key != folder.id and node.ancestors}
    return tuple(sorted(items)), tuple(sorted({*below(change.folders), *parents}))
