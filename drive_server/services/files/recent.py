"""Recent files of a person: those that they can see and that were changed, or that they read, last."""

from collections.abc import Mapping
from datetime import datetime

import anyio
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Principal, Scope, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import DriveError
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database
from drive_server.models.base import Page
from drive_server.models.items import Item
from drive_server.services.housekeeping import whole_step
from drive_server.services.tree.items import checked_limit, describe_all
from drive_server.services.tree.nodes import locate_many, shared_ids
from drive_server.storage.tables.items import NodeRow, ReadRow

MAX_RECENT = 1000
WRITE_PAUSE_SECONDS = 5.0
ID_BYTES = 16


class Recents:
    """List recent files, and record reads."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._reads: dict[tuple[str, str], datetime] = {}
        self._has_reads = anyio.Event()

    def note_read(self, actor: Actor, file_id: str) -> None:
        """Remember that the person read the file now."""
        self._reads[actor.user_id, file_id] = self._clock()
        self._has_reads.set()

    async def page(self, actor: Actor, limit: int, cursor: str | None = None) -> Page[Item]:
        """Return a page of the caller's recent files, newest first, 1,000 at most.

        The order stays that of the first page, also if it changes between the requests: each file
        comes once. Files that the caller can't see any more are left out, so a page may be shorter than `limit`.
        """
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        cursors = Cursors(self._database.signer, actor.user_id, "recents")

        async def work(session: AsyncSession) -> tuple[list[str], list[Item]]:
            ids = _unpacked(cursors.unseal(cursor)) if cursor is not None else await self._ids(session, actor.principal)
            visible = await locate_many(session, actor.principal, ids[:size])
            found = [visible[node_id] for node_id in ids[:size] if node_id in visible]
            items = await describe_all(session, [node for node in found if node.row.trash_id is None])
            return ids, items

        ids, items = await self._database.look(work)
        return Page(tuple(items), cursors.seal(_packed(ids[size:])) if len(ids) > size else None)

    async def run(self) -> None:
        """Write reads down, until cancelled."""
        while True:
            await self._has_reads.wait()
            await anyio.sleep(WRITE_PAUSE_SECONDS)
            await whole_step(self.flush)

    async def flush(self) -> None:
        """Write down the reads until now. If the database refuses, nothing is lost but some memory of reading."""
        reads, self._reads = self._reads, {}
        self._has_reads = anyio.Event()
        if not reads:
            return
        try:
            await self._database.change(lambda session: _write(session, reads))
        except DriveError:
            return  # logged where it came from

    async def _ids(self, session: AsyncSession, principal: Principal) -> list[str]:
        moments: dict[str, datetime] = {}
        read = select(ReadRow.node_id, ReadRow.at).where(ReadRow.user_id == principal.user_id)
        files = select(NodeRow.id, NodeRow.updated_at).where(NodeRow.kind == "file", NodeRow.trash_id.is_(None))
        newest = files.order_by(NodeRow.updated_at.desc(), NodeRow.id).limit(MAX_RECENT)
        for query in (
            newest.where(NodeRow.owner_id == principal.user_id),
            newest.where(NodeRow.id.in_(shared_ids(principal))),
            read.order_by(ReadRow.at.desc()).limit(MAX_RECENT),
        ):
            for node_id, at in await session.execute(query):
                moments[node_id] = max(at, moments.get(node_id, at))
        for (user_id, node_id), at in self._reads.items():
            if user_id == principal.user_id:
                moments[node_id] = max(at, moments.get(node_id, at))
        return sorted(moments, key=lambda node_id: (-moments[node_id].timestamp(), node_id))[:MAX_RECENT]


async def _write(session: AsyncSession, reads: Mapping[tuple[str, str], datetime]) -> None:
    for (user_id, node_id), at in reads.items():
        await session.merge(ReadRow(user_id=user_id, node_id=node_id, at=at))
    for user_id in {user_id for user_id, _ in reads}:
        await _forget_old(session, user_id)


async def _forget_old(session: AsyncSession, user_id: str) -> None:
    mine = select(ReadRow.at).where(ReadRow.user_id == user_id)
    oldest = await session.scalar(mine.order_by(ReadRow.at.desc()).offset(MAX_RECENT).limit(1))
    if oldest is not None:
        await session.execute(delete(ReadRow).where(ReadRow.user_id == user_id, ReadRow.at <= oldest))


def _packed(ids: list[str]) -> bytes:
    return b"".join(bytes.fromhex(node_id) for node_id in ids)


def _unpacked(packed: bytes) -> list[str]:
    return [packed[start : start + ID_BYTES].hex() for start in range(0, len(packed), ID_BYTES)]
