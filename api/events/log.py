"""The log of every run's events: written first, then sent, so that no client has seen what the log has not.

All runs share one writer. What comes in while a transaction is being committed goes into the next one, so the busier
the service, the more events a transaction carries; text deltas of a run that meet there become one event. What nobody
waits for gathers for 20 ms, which no reader sees and the disk does; in a crowd for up to 0.1 s, as its storing would
else take the time that its answers need.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Executable

from api.events.events import Event, Frame, encode
from api.events.feed import Feed
from api.events.store import NEW_EVENT, newest_number, read_frames, row_of
from drive_server.errors import StorageFailureError
from drive_server.storage.database import Database

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
GATHERING_SECONDS = 0.02
LONGEST_GATHERING_SECONDS = 0.1
GATHERED_PER_STORED = 4
"""What nobody waits for gathers so many times as long as the storing before took."""
TEXT_DELTA = {"type", "text"}


Statement = Executable | tuple[Executable, Mapping[str, Any]]
"""A statement, or one that was built before and its parameters: building one takes longer than running it."""


@dataclass(slots=True)
class _Entry:
    """Events that wait for the next transaction, and the statements that belong into it with them."""

    run_id: str
    events: list[Event]
    statements: Sequence[Statement] = ()
    stored: asyncio.Future[None] | None = None

    @property
    def is_text(self) -> bool:
        """Whether this is nothing but a piece of text, which can wait for more of it."""
        return self.stored is None and self.events[-1].keys() == TEXT_DELTA

    def join(self, event: Event) -> bool:
        """Add a text delta to the last event, if that is one too."""
        if not self.is_text or event.keys() != TEXT_DELTA:
            return False
        self.events[-1] = {**event, "text": self.events[-1]["text"] + event["text"]}
        return True

    def settle(self, error: Exception | None = None) -> None:
        """Tell who waits that it is stored, or why it is not."""
        if self.stored is None or self.stored.done():
            return
        if error:
            self.stored.set_exception(error)
        else:
            self.stored.set_result(None)


class EventLog:
    """Numbers, stores and then hands out the events of all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._feeds: dict[str, Feed] = {}
        self._pending: list[_Entry] = []
        self._last: dict[str, _Entry] = {}
        self._arrived = asyncio.Event()
        self._urgent = asyncio.Event()
        self._not_before = 0.0
        self._closing = False
        self._stopping = False

    def open(self, run_id: str, first: Sequence[Frame]) -> None:
        """Take up a new run whose first frames are stored already."""
        feed = self._feeds[run_id] = Feed()
        feed.publish(first)

    async def reopen(self, run_id: str) -> None:
        """Take up a run that another process began; numbers go on from the last one stored."""
        self._feeds[run_id] = Feed(await newest_number(self._database, run_id))

    def append(self, run_id: str, event: Event) -> None:
        """Hand over an event; it is stored and sent soon, in this order."""
        last = self._last.get(run_id)
        if last is None or not last.join(event):
            self._enqueue(_Entry(run_id, [event]))

    async def commit(self, run_id: str, events: Sequence[Event], *statements: Statement) -> None:
        """Store events and whatever must hold together with them in one transaction; return when it is committed.

        Everything handed over before is stored with or before it. Raises what the database raises for a statement.
        """
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._enqueue(_Entry(run_id, list(events), statements, stored))
        await stored

    def close(self, run_id: str) -> None:
        """Let go of a run that is over, or that this process gives up; its followers end."""
        if feed := self._feeds.pop(run_id, None):
            feed.wake()

    def end_follows(self) -> None:
        """End every stream of a client, as the service is about to stop; runs go on."""
        self._closing = True
        for feed in self._feeds.values():
            feed.wake()

    async def follow(self, run_id: str, after: int, idle_seconds: float) -> AsyncGenerator[list[Frame]]:
        """Yield the frames after a number, first the stored ones, then as they come, until the run's last one.

        Yields an empty list whenever nothing came for `idle_seconds`.
        """
        while not self._closing:
            feed = self._feeds.get(run_id)
            changed = feed.changed if feed else None
            frames = feed.after(after) if feed else None
            if frames is None:
                frames = await read_frames(self._database, run_id, after)
            if frames:
                yield frames
                after = frames[-1].seq
                if frames[-1].is_final:
                    return
            elif changed is None:
                return
            elif not await _signalled(changed, idle_seconds):
                yield []

    async def write(self) -> None:
        """Store what is handed over until `stop`. One task runs this, and it is not to be cancelled."""
        while self._pending or not self._stopping:
            await self._arrived.wait()
            await self._gather()
            self._arrived.clear()
            self._urgent.clear()
            batch, self._pending = self._pending, []
            self._last.clear()
            if batch:
                begun = asyncio.get_running_loop().time()
                await self._store_at_last(batch)
                self._not_before = next_time(begun, asyncio.get_running_loop().time())

    def stop(self) -> None:
        """Let `write` end once it has stored what it was handed over."""
        self._stopping = True
        self._arrived.set()
        self._urgent.set()

    async def _gather(self) -> None:
        """Let events gather for a moment, unless somebody waits for one."""
        now = asyncio.get_running_loop().time()
        await _signalled(self._urgent, max(self._not_before, now + GATHERING_SECONDS) - now)

    def _enqueue(self, entry: _Entry) -> None:
        self._pending.append(entry)
        self._last[entry.run_id] = entry
        self._arrived.set()
        if entry.stored is not None:
            self._urgent.set()

    async def _store_at_last(self, batch: Sequence[_Entry]) -> None:
        """Store a batch, and while the disk refuses, try again: nothing that happened may go missing."""
        for pause in _pauses():
            try:
                await self._store(batch)
            except StorageFailureError:
                if self._stopping:
                    logger.exception("%d batches of events could not be stored before the end", len(batch))
                    return
                logger.warning("events can't be stored; trying again in %.1f s", pause)
                await asyncio.sleep(pause)
            except Exception as error:
                logger.exception("a batch of events was refused")
                await self._store_apart(batch, error)
                return
            else:
                return

    async def _store_apart(self, batch: Sequence[_Entry], error: Exception) -> None:
        """Store each entry by itself, so that the one at fault fails alone."""
        if len(batch) == 1:
            batch[0].settle(error)
            return
        for entry in batch:
            await self._store_at_last([entry])

    async def _store(self, batch: Sequence[_Entry]) -> None:
        frames: dict[str, list[Frame]] = {}
        for entry in batch:
            ahead = frames.setdefault(entry.run_id, [])
            first = self._feeds[entry.run_id].seq + len(ahead) + 1
            ahead.extend(Frame(seq, event["type"], encode(event)) for seq, event in enumerate(entry.events, first))
        rows = [row_of(run_id, frame) for run_id, listed in frames.items() for frame in listed]
        statements = [statement for entry in batch for statement in entry.statements]

        def store(connection: Connection) -> None:
            if rows:
                connection.execute(NEW_EVENT, rows)
            for statement in statements:
                _execute(connection, statement)

        await self._database.write_sync(store)
        for run_id, listed in frames.items():
            self._feeds[run_id].publish(listed)
        for entry in batch:
            entry.settle()


def _execute(connection: Connection, statement: Statement) -> None:
    if isinstance(statement, tuple):
        connection.execute(statement[0], statement[1])
    else:
        connection.execute(statement)


def next_time(begun: float, ended: float) -> float:
    """Return when events that nobody waits for are stored next, after a storing from `begun` to `ended`; in seconds."""
    gathering = GATHERED_PER_STORED * (ended - begun)
    return ended + min(max(gathering, GATHERING_SECONDS), LONGEST_GATHERING_SECONDS)


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


async def _signalled(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
