"""The log of every run's events. It stores events before it sends them, so no client sees an event that can be lost.

All runs share one writer. Events that come in during a transaction go into the next one, so the busier the service,
the more events a transaction carries; text deltas of a run that meet there become one event. Events that nobody waits
for are batched for 20 ms, and for up to 0.1 s while transactions are slow, to leave time for the answers. The first
words of a message don't wait for others, only for that time.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import Connection, Executable, func, select

from api.events.frames import NEW_EVENT, Event, Frame, encode, frame_to_row, newest_number, read_frames
from api.storage.notices import NEW_EVENTS
from api.storage.patience import pauses
from api.storage.replicas import NotOwnerError, Replica, RunLostError
from api.storage.tables import EventRow, RunRow
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database

logger = logging.getLogger(__name__)

BATCH_SECONDS = 0.02
MAX_BATCH_SECONDS = 0.1
BATCH_PER_TRANSACTION = 4
"""Events are batched for so many times the length of the last transaction."""
BUFFER_FRAMES = 512
PAGE_FRAMES = 1000

Statement = Executable | tuple[Executable, Mapping[str, Any]]
"""A statement, or a prepared one with its parameters: building a statement takes longer than running it."""


@dataclass(frozen=True, slots=True)
class OwnersOnly:
    """An update of a run by the process that has it; if it finds no row, nothing of its entry is stored."""

    update: Executable
    parameters: Mapping[str, Any]


@dataclass(slots=True)
class _Entry:
    """Events for the next transaction, and the statements that belong into it with them."""

    run_id: str
    events: list[Event]
    statements: Sequence[Statement | OwnersOnly] = ()
    stored: asyncio.Future[None] | None = None

    @property
    def is_text(self) -> bool:
        """Say whether this is only a text delta, which can wait for the next one."""
        return self.stored is None and _is_delta(self.events[-1])

    def join(self, event: Event) -> bool:
        """Append a text delta to the last event, if that is one of the same message; return whether it was."""
        if not self.is_text or {**event, "text": ""} != {**self.events[-1], "text": ""}:
            return False
        self.events[-1] = {**event, "text": self.events[-1]["text"] + event["text"]}
        return True

    def settle(self, error: Exception | None = None) -> None:
        """Report to the waiting caller that the entry is stored, or why it is not."""
        if self.stored is None or self.stored.done():
            return
        if error:
            self.stored.set_exception(error)
        else:
            self.stored.set_result(None)


class RunBuffer:
    """The newest frames of a run that works in this process. `seq` is the number of the newest one.

    `starts` is the fence that the run was taken up with. `steps` counts the states that its thread had meanwhile, for
    the `step_followers`.
    """

    def __init__(self, seq: int = 0, starts: int = 0) -> None:
        self.seq = seq
        self.starts = starts
        self.steps = 0
        self.step_followers = 0
        self.changed = asyncio.Event()
        self._begun_message: str | None = None
        self._frames: deque[Frame] = deque(maxlen=BUFFER_FRAMES)

    def publish(self, frames: Sequence[Frame]) -> None:
        """Add frames that follow the newest one, and wake the followers."""
        if frames:
            self._frames.extend(frames)
            self.seq = frames[-1].seq
            self.wake()

    def begins_message(self, event: Event) -> bool:
        """Say whether these are the first words of a message, and note that it has begun."""
        if event["type"] != "content" or event.get("message_id", "") == self._begun_message:
            return False
        self._begun_message = event.get("message_id", "")
        return True

    def forget(self) -> None:
        """Keep no frame."""
        self._frames.clear()

    def wake(self) -> None:
        """Wake everything that waits for `changed`."""
        self.changed.set()
        self.changed = asyncio.Event()

    def after(self, seq: int) -> list[Frame] | None:
        """Return the frames after a number, or None if some of them are no longer in the buffer."""
        if seq >= self.seq or (self._frames and self._frames[0].seq <= seq + 1):
            return [frame for frame in self._frames if frame.seq > seq]
        return None


class EventLog:
    """Numbers, stores and then sends the events of all runs."""

    def __init__(self, database: Database, replica: Replica | None = None) -> None:
        self._database = database
        self._replica = replica or Replica(database, is_shared=False)
        self.on_lost: Callable[[str], None] = self.close
        """Called with the id of a run that another process has now."""
        self._buffers: dict[str, RunBuffer] = {}
        # Runs of other processes that somebody follows here.
        self._elsewhere: WeakValueDictionary[str, RunBuffer] = WeakValueDictionary()
        self._pending: list[_Entry] = []
        self._last: dict[str, _Entry] = {}
        self._storing: frozenset[str] = frozenset()
        self._arrived = asyncio.Event()
        self._soon = asyncio.Event()
        self._urgent = asyncio.Event()
        self._not_before = self._soon_not_before = 0.0
        self._closing = False
        self._stopping = False

    def open(self, run_id: str, first: Sequence[Frame], starts: int = 1) -> None:
        """Open the log of a new run whose first frames are stored already."""
        buffer = self._buffers[run_id] = RunBuffer(starts=starts)
        buffer.publish(first)

    async def reopen(self, run_id: str, starts: int = 1) -> None:
        """Open the log of a run that another process began; numbers continue after the last one stored."""
        if run_id not in self._buffers:
            newest = RunBuffer(await newest_number(self._database, run_id))
            # Those who follow it already must hear new events.
            self._buffers.setdefault(run_id, newest)
        self._buffers[run_id].starts = starts
        self.wake([run_id])

    def append(self, run_id: str, event: Event) -> None:
        """Queue an event; it is stored and sent soon, in order."""
        last = self._last.get(run_id)
        if last is None or not last.join(event):
            self._enqueue(_Entry(run_id, [event]))
        if (buffer := self._buffers.get(run_id)) and buffer.begins_message(event):
            self._soon.set()

    async def commit(self, run_id: str, events: Sequence[Event], *statements: Statement | OwnersOnly) -> None:
        """Store queued and new events and run statements in one transaction; return once it is committed.

        Raises `NotOwnerError`.
        """
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._enqueue(_Entry(run_id, list(events), statements, stored))
        await stored

    async def flush(self, run_id: str) -> None:
        """Return once every event that was queued for the run is committed."""
        if run_id in self._last or run_id in self._storing:
            await self.commit(run_id, [])

    def newest_here(self, run_id: str) -> int:
        """Return the number of the newest event of a run that was sent here, 0 if none was."""
        buffer = self._buffers.get(run_id)
        return buffer.seq if buffer else 0

    def note_step(self, run_id: str) -> None:
        """Wake those who follow the steps of a run: its thread has another state."""
        if buffer := self._buffers.get(run_id):
            buffer.steps += 1
            if buffer.step_followers:
                buffer.wake()

    def park(self, run_id: str) -> None:
        """Forget the newest frames of a run that waits for a person: its followers read them from the database."""
        if self._replica.is_shared:
            # Another process may take it up.
            self.close(run_id)
        elif buffer := self._buffers.get(run_id):
            buffer.forget()

    def close(self, run_id: str) -> None:
        """Close the log of a run that is over, or that this process gives up; its followers end."""
        if buffer := self._buffers.pop(run_id, None):
            buffer.wake()

    def open_runs(self) -> frozenset[str]:
        """Return the ids of the runs whose logs are open here."""
        return frozenset(self._buffers)

    def wake(self, run_ids: Iterable[str] | None = None) -> None:
        """Have those who follow these runs of other processes, or all of them, look for new events."""
        for run_id in [*self._elsewhere] if run_ids is None else run_ids:
            if buffer := self._elsewhere.get(run_id):
                buffer.wake()

    async def look_elsewhere(self) -> None:
        """Wake those who follow runs of other processes that have new events of which no notice came."""
        if not (run_ids := [*self._elsewhere]):
            return
        newest = select(EventRow.run_id, func.max(EventRow.seq)).where(EventRow.run_id.in_(run_ids))
        async with self._database.read() as session:
            found = [*await session.execute(newest.group_by(EventRow.run_id))]
        for run_id, seq in found:
            if (buffer := self._elsewhere.get(run_id)) and seq > buffer.seq:
                buffer.seq = seq
                buffer.wake()

    def end_follows(self) -> None:
        """End the streams of all clients before the service stops; runs go on."""
        self._closing = True
        for buffer in self._buffers.values():
            buffer.wake()
        self.wake()

    async def follow(
        self, run_id: str, after: int, idle_seconds: float, *, with_steps: bool = False
    ) -> AsyncGenerator[list[Frame]]:
        """Yield the frames after a number up to the run's last; an empty list after each `idle_seconds` without one.

        `with_steps`: an empty list too when the thread has another state, with none but the frames before.
        """
        loop = asyncio.get_running_loop()
        idle_at = loop.time() + idle_seconds
        steps = 0
        while not self._closing:
            buffer = self._buffers.get(run_id)
            source = buffer or self._other(run_id)
            changed = source.changed
            is_other_step, steps = source.steps != steps, source.steps
            frames = buffer.after(after) if buffer else None
            if frames is None:
                frames = await self._read(run_id, after, is_here=buffer is not None)
            if frames:
                yield frames
                after = frames[-1].seq
                if frames[-1].is_final:
                    return
            elif frames is None:
                return
            elif with_steps and is_other_step:
                yield []
            elif await _followed(source, changed, idle_at - loop.time(), with_steps=with_steps):
                continue
            else:
                yield []
            idle_at = loop.time() + idle_seconds

    async def until_ended(self, run_id: str, seconds: float) -> None:
        """Return when a run of another process has ended, at the latest after some seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        source = self._other(run_id)
        while (left := until - loop.time()) > 0:
            changed = source.changed
            if await self._has_ended(run_id):
                return
            await _signalled(changed, left)

    def _other(self, run_id: str) -> RunBuffer:
        """Return the mark of a run of another process, which is woken when that tells of new events."""
        return self._elsewhere.setdefault(run_id, RunBuffer())

    async def _read(self, run_id: str, after: int, *, is_here: bool) -> list[Frame] | None:
        """Return a page of the stored frames; None if there are no more, and none will come."""
        frames = await read_frames(self._database, run_id, after, PAGE_FRAMES)
        if frames or is_here:
            return frames
        if not self._replica.is_shared:
            return None
        if not await self._has_ended(run_id):
            return []
        # The last ones may have been stored since.
        return await read_frames(self._database, run_id, after, PAGE_FRAMES) or None

    async def _has_ended(self, run_id: str) -> bool:
        unfinished = select(RunRow.id).where(RunRow.id == run_id, RunRow.finished_at.is_(None))
        async with self._database.read() as session:
            return await session.scalar(unfinished) is None

    async def write(self) -> None:
        """Store queued events until `stop`. One task runs this; don't cancel it."""
        while self._pending or not self._stopping:
            await self._arrived.wait()
            await self._wait_for_batch()
            self._arrived.clear()
            self._soon.clear()
            self._urgent.clear()
            batch, self._pending = self._pending, []
            self._storing = frozenset(self._last)
            self._last.clear()
            if batch:
                begun = asyncio.get_running_loop().time()
                await self._store_with_retries(batch)
                self._storing = frozenset()
                ended = asyncio.get_running_loop().time()
                self._not_before = next_batch_time(begun, ended)
                self._soon_not_before = next_batch_time(begun, ended, soon=True)

    def stop(self) -> None:
        """Let `write` end once it has stored the queued events."""
        self._stopping = True
        self._arrived.set()
        self._hurry()

    async def _wait_for_batch(self) -> None:
        """Wait for more events, unless a caller waits for one, or a person for the first words of a message."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if await _signalled(self._soon, max(self._not_before, now + BATCH_SECONDS) - now):
            await _signalled(self._urgent, self._soon_not_before - loop.time())

    def _hurry(self) -> None:
        self._soon.set()
        self._urgent.set()

    def _enqueue(self, entry: _Entry) -> None:
        self._pending.append(entry)
        self._last[entry.run_id] = entry
        self._arrived.set()
        if entry.stored is not None:
            self._hurry()

    async def _store_with_retries(self, batch: Sequence[_Entry]) -> None:
        """Store a batch; try again while the disk refuses, so that no event is lost."""
        for pause in pauses():
            try:
                await self._store(batch)
            except StorageFailureError as error:
                if self._stopping:
                    logger.exception("%d batches of events could not be stored before the end", len(batch))
                    for entry in batch:
                        entry.settle(error)
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
        """Store each entry by itself, so that only the faulty one fails."""
        if len(batch) == 1:
            batch[0].settle(error)
            return
        for entry in batch:
            await self._store_with_retries([entry])

    async def _store(self, batch: Sequence[_Entry]) -> None:
        batch = self._without_lost(batch)
        frames = self._numbered(batch)
        writing = {entry.run_id for entry in batch if entry.events or entry.statements}
        taken = {run_id: self._buffers[run_id].starts for run_id in writing if run_id in self._buffers}

        lost = set[str]()

        def store(connection: Connection) -> None:
            lost.clear()
            lost.update(self._replica.lost(connection, taken))
            rows = [frame_to_row(key, frame) for key, listed in frames.items() if key not in lost for frame in listed]
            if rows:
                connection.execute(NEW_EVENT, rows)
                self._replica.tell_in(connection, NEW_EVENTS, [*frames.keys() - lost])
            for entry in batch:
                for statement in entry.statements if entry.run_id not in lost else ():
                    _execute(connection, statement)

        if writing:
            await self._database.write_sync(store)
        for run_id, listed in frames.items():
            if run_id not in lost and (buffer := self._buffers.get(run_id)):
                buffer.publish(listed)
        for entry in batch:
            entry.settle(RunLostError() if entry.run_id in lost else None)
        for run_id in lost:
            logger.warning("run %s: another process has it; its events are not stored", run_id)
            self.on_lost(run_id)

    def _without_lost(self, batch: Sequence[_Entry]) -> Sequence[_Entry]:
        """Refuse the entries of runs that were lost before, and return the others."""
        if not self._replica.is_shared:
            return batch
        kept: list[_Entry] = []
        for entry in batch:
            if (entry.events or entry.statements) and entry.run_id not in self._buffers:
                self._replica.on_refusal()
                entry.settle(RunLostError())
            else:
                kept.append(entry)
        return kept

    def _numbered(self, batch: Sequence[_Entry]) -> dict[str, list[Frame]]:
        """Return the new frames by run."""
        frames: dict[str, list[Frame]] = {}
        for entry in batch:
            if not entry.events:
                # Its log may be closed by now.
                continue
            ahead = frames.setdefault(entry.run_id, [])
            first = self._buffers[entry.run_id].seq + len(ahead) + 1
            ahead.extend(Frame(seq, event["type"], encode(event)) for seq, event in enumerate(entry.events, first))
        return frames


async def _followed(source: RunBuffer, changed: asyncio.Event, seconds: float, *, with_steps: bool) -> bool:
    """Wait until the source has changed; False if it has not for so long."""
    source.step_followers += with_steps
    try:
        return await _signalled(changed, seconds)
    finally:
        source.step_followers -= with_steps


def _is_delta(event: Event) -> bool:
    return event["type"] in {"content", "reasoning"} and "restarts" not in event


def _execute(connection: Connection, statement: Statement | OwnersOnly) -> None:
    if isinstance(statement, OwnersOnly):
        if connection.execute(statement.update, statement.parameters).rowcount == 0:
            raise NotOwnerError
    elif isinstance(statement, tuple):
        connection.execute(statement[0], statement[1])
    else:
        connection.execute(statement)


def next_batch_time(begun: float, ended: float, *, soon: bool = False) -> float:
    """Return the time of the next batch after a transaction from `begun` to `ended`; in seconds of the loop's clock.

    With `soon`, it is the earliest time for words that a person waits for.
    """
    pause = BATCH_PER_TRANSACTION * (ended - begun)
    return ended + min(pause if soon else max(pause, BATCH_SECONDS), MAX_BATCH_SECONDS)


async def _signalled(event: asyncio.Event, seconds: float) -> bool:
    if event.is_set() or seconds <= 0:
        return event.is_set()
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
