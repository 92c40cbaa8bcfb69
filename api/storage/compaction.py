"""Makes one of the many checkpoints of a turn that is over: what was said stays, and so do the turns as such.

A turn of ten tool calls leaves some forty checkpoints, each with the whole state but the messages, which cost five
times what was said. Kept are, of each turn, the checkpoint that it began from, those of its input, and its last; and
whatever another branch goes on from. Their messages are those that they had.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, cast

import orjson
from langgraph.checkpoint.base import writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Overwrite

from api.storage.checkpoints import CheckpointSaver
from api.storage.packing import packed
from api.storage.unstored import MERGED, is_input, is_whole, staying

MARK: Final = "compacted"
"""Key in the metadata of the newest checkpoint when everything before it is compact."""

MANY: Final = 12
MOST_COUNTED: Final = 10_000
"""Threads."""

_CHAIN: Final = """
WITH RECURSIVE chain(id, parent, metadata) AS (
    SELECT * FROM (
        SELECT checkpoint_id, parent_checkpoint_id, metadata FROM checkpoints
        WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1
    )
    UNION ALL
    SELECT c.checkpoint_id, c.parent_checkpoint_id, c.metadata FROM chain a CROSS JOIN checkpoints c
    ON c.checkpoint_id = a.parent WHERE c.thread_id = ? AND c.checkpoint_ns = ''
)
SELECT id, parent, metadata FROM chain
"""
_BRANCHES: Final = """
SELECT parent_checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''
GROUP BY parent_checkpoint_id HAVING count(*) > 1
"""
_WRITES: Final = """
SELECT checkpoint_id, task_path, task_id, idx, type, value FROM writes
WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ? AND channel = ?
"""
_DELETE_WRITES: Final = "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?"
_DELETE: Final = "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?"
_MERGE: Final = """
INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value)
VALUES (?, '', ?, ?, '', 0, ?, ?, ?)
"""
_FOLLOW: Final = """
UPDATE checkpoints SET parent_checkpoint_id = ? WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?
"""
_READ: Final = (
    "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?"
)
_REPLACE: Final = """
UPDATE checkpoints SET type = ?, checkpoint = ? WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?
"""
_MARK: Final = "UPDATE checkpoints SET metadata = ? WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?"


@dataclass(frozen=True, slots=True)
class _Link:
    """One checkpoint of the chain."""

    id: str
    parent: str | None
    metadata: Mapping[str, Any]


async def compact_many(saver: CheckpointSaver, thread_id: str, channel: str) -> None:
    """Merge what the turns left once there is some of it. Of a thread whose turns are short, that is every few turns.

    What another process stored is not counted, and goes with what this one does.
    """
    if saver.loose[thread_id] >= MANY:
        await compact(saver, thread_id, channel)
    elif len(saver.loose) > MOST_COUNTED:
        saver.loose.clear()


async def compact(saver: CheckpointSaver, thread_id: str, channel: str) -> int:
    """Merge what the turns since the last time left; return how many checkpoints that made unnecessary.

    `channel` is the one that is stored as differences. The newest checkpoint stays as it is, with what is still to do.
    All of it is one transaction, in one trip to the connection's thread.
    """
    saver.hand_over(thread_id)
    async with saver.lock:
        if saver.gathering.owes:  # else a failure here would take back what others wrote
            await saver.gathering.commit()
        gone = await saver.gathering.apart(
            lambda connection: _Compaction(connection, saver.serde, thread_id, channel).run()
        )
    del saver.loose[thread_id]
    return gone


@dataclass(frozen=True, slots=True)
class _Compaction:
    """Makes one thread's checkpoints small."""

    connection: sqlite3.Connection
    serde: SerializerProtocol
    thread_id: str
    channel: str

    def run(self) -> int:
        """Return how many checkpoints are gone."""
        chain, branches, gone = self._chain(), self._branches(), 0
        kept = self._kept(chain, branches)
        for later, earlier in pairwise(kept):
            between = chain[chain.index(later) + 1 : chain.index(earlier)]
            # What is written at a checkpoint counts for all that follow it: another branch must not get this one's.
            if between and earlier.id not in branches:
                gone += self._join(later, earlier, between)
        for link in kept[1:]:
            self._pack(link)
        if chain:
            self._mark(chain[0])
        return gone

    def _kept(self, chain: Sequence[_Link], branches: set[str | None]) -> list[_Link]:
        """Return the checkpoints that stay, newest first: what branches begin with, beside what always stays."""
        marked = [is_input(link.metadata) or is_whole(link.metadata, self.channel) for link in chain]
        stay = staying(marked)
        return [link for index, link in enumerate(chain) if index in stay or link.id in branches]

    def _chain(self) -> list[_Link]:
        """Return the checkpoints from the newest one back to what is compact already, or to the first."""
        chain: list[_Link] = []
        for checkpoint_id, parent, metadata in self.connection.execute(_CHAIN, (self.thread_id, self.thread_id)):
            chain.append(_Link(checkpoint_id, parent, orjson.loads(metadata) if metadata else {}))
            if MARK in chain[-1].metadata and len(chain) > 1:
                break
        return chain

    def _branches(self) -> set[str | None]:
        return {row[0] for row in self.connection.execute(_BRANCHES, (self.thread_id,))}

    def _join(self, later: _Link, earlier: _Link, between: Sequence[_Link]) -> int:
        """Let `later` follow `earlier`, with what was written to the channel between them as one write."""
        merged: list[Any] = []
        for link in (earlier, *reversed(between)):
            for value in self._written(link):
                if isinstance(value, Overwrite):
                    return 0
                merged.extend(cast("list[Any]", value) if isinstance(value, list) else [value])
        gone = [(self.thread_id, link.id) for link in (earlier, *between)]
        self.connection.executemany(_DELETE_WRITES, gone)
        self.connection.executemany(_DELETE, gone[1:])
        if merged:
            kind, value = packed(*self.serde.dumps_typed(merged))
            self.connection.execute(_MERGE, (self.thread_id, earlier.id, MERGED, self.channel, kind, value))
        self.connection.execute(_FOLLOW, (earlier.id, self.thread_id, later.id))
        return len(between)

    def _written(self, link: _Link) -> list[Any]:
        rows = self.connection.execute(_WRITES, (self.thread_id, link.id, self.channel)).fetchall()
        found = sorted(rows, key=lambda row: writes_sort_key(row[1], row[2], row[3]))
        return [self.serde.loads_typed((row[4], row[5])) for row in found]

    def _pack(self, link: _Link) -> None:
        """Store a checkpoint that stays in less room. The newest is read with every run, and is not packed."""
        stored = self.connection.execute(_READ, (self.thread_id, link.id)).fetchone()
        if stored and (stored[0], stored[1]) != (fresh := packed(stored[0], stored[1])):
            self.connection.execute(_REPLACE, (*fresh, self.thread_id, link.id))

    def _mark(self, newest: _Link) -> None:
        self.connection.execute(_MARK, (orjson.dumps({**newest.metadata, MARK: True}), self.thread_id, newest.id))
