"""The buffered events of a session over HTTP, from which a client whose connection broke resumes.

Each POST has a stream, and the session has one of its own for messages that answer no request (MCP 2025-11-25,
basic/transports, "Resumability and Redelivery"). All is bounded: a client that stops reading loses reports of
progress first, and never an answer.
"""

import re
from collections import OrderedDict, deque
from dataclasses import dataclass
from itertools import count
from secrets import token_hex
from typing import Final

import anyio
from mcp.types import RequestId

MAX_UNREAD: Final = 256
MAX_BUFFERED_BYTES: Final = 262_144
MAX_BUFFERED_EVENTS: Final = 1000
MAX_BUFFERED_STREAMS: Final = 64
OWN: Final = "0"
"""The name of the session's own stream."""
_ID: Final = re.compile(r"(?P<mark>[0-9a-f]{8})-(?P<stream>[0-9]{1,18})-(?P<number>[0-9]{1,18})(-[0-9]{1,18})?")


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `number` grows along its stream; `can_be_dropped` if a later one says the same, or more."""

    number: int
    data: bytes
    can_be_dropped: bool = False


class Stream:
    """The events of one stream, some of them read already, and the one connection that reads them.

    One that is `batched` gets the answer alone: it leaves in an array with others, which has no place for more.
    """

    def __init__(self, name: str, *, is_batched: bool = False) -> None:
        self.name = name
        self.is_batched = is_batched
        self.is_complete = False
        self.buffered_bytes = 0
        self._events: deque[Event] = deque()
        self._last = 0
        self._read = 0
        self._reader = 0
        self._has_reader = False
        self._changed = anyio.Event()

    def add(self, data: bytes, *, can_be_dropped: bool = False, is_last: bool = False) -> None:
        """Put an event at the end. `is_last` ends the stream."""
        if can_be_dropped and self.unread >= MAX_UNREAD:
            self._drop_one()
        self._last += 1
        self._events.append(Event(self._last, data, can_be_dropped))
        self.buffered_bytes += len(data)
        self.is_complete = is_last
        while len(self._events) > MAX_BUFFERED_EVENTS and self._events[0].number <= self._read:
            self.buffered_bytes -= len(self._events.popleft().data)
        self._notify()

    @property
    def unread(self) -> int:
        """Return the number of events that no connection has taken yet."""
        return sum(event.number > self._read for event in self._events)

    @property
    def sole(self) -> Event | None:
        """Return the only event of a complete stream that nobody has read."""
        return self._events[0] if self.is_complete and self._last == 1 and not self._read else None

    @property
    def has_reader(self) -> bool:
        """Say whether a connection reads."""
        return self._has_reader

    @property
    def last_read(self) -> int:
        """Return the number of the last event that a connection has taken, 0 before the first."""
        return self._read

    def attach(self, after: int | None = None) -> int:
        """Detach the reader, and return the number of a new one, which reads from the event after this number on."""
        if after is not None:
            self._read = min(after, self._last)
        self._reader += 1
        self._has_reader = True
        self._notify()
        return self._reader

    def detach(self, reader: int | None = None) -> None:
        """Detach this connection, by default whichever reads; the events that it has not taken stay."""
        if reader in (None, self._reader):
            self._reader += 1
            self._has_reader = False
            self._notify()

    def is_read_by(self, reader: int) -> bool:
        """Say whether this connection is still the one that reads."""
        return self._has_reader and reader == self._reader

    def take(self) -> list[Event]:
        """Return the unread events; they count as read from now on."""
        taken = [event for event in self._events if event.number > self._read]
        if taken:
            self._read = taken[-1].number
            self._notify()
        return taken

    async def wait(self) -> None:
        """Return when something has changed."""
        await self._changed.wait()

    async def taken(self) -> None:
        """Return when the connection that reads, if any, has taken everything so far."""
        while self._has_reader and self.unread:
            await self._changed.wait()

    async def wait_for_reader(self) -> None:
        """Return when a connection reads and has taken everything so far."""
        while not self._has_reader or self.unread:
            await self._changed.wait()

    async def answer(self) -> bytes:
        """Wait for the answer of a batched stream, and return it."""
        while not self.is_complete:
            await self._changed.wait()
        return b"".join(event.data for event in self.take())

    def _drop_one(self) -> None:
        lost = next((event for event in self._events if event.can_be_dropped and event.number > self._read), None)
        if lost is not None:
            self._events.remove(lost)
            self.buffered_bytes -= len(lost.data)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class EventLog:
    """The streams of one session. Their events' ids mean nothing in another session."""

    def __init__(self) -> None:
        self._mark = token_hex(4)
        self._names = count(1)
        self._starts = count(1)
        self.own = Stream(OWN)
        self._open: dict[str, tuple[RequestId, Stream]] = {}
        self._ended: OrderedDict[str, Stream] = OrderedDict()

    def begin(self, request_id: RequestId, *, is_batched: bool = False) -> Stream:
        """Return a new stream for the request."""
        stream = Stream(str(next(self._names)), is_batched=is_batched)
        self._open[str(request_id)] = request_id, stream
        return stream

    def of_request(self, request_id: RequestId) -> Stream | None:
        """Return the stream of a request that has no answer yet."""
        _, stream = self._open.get(str(request_id), (None, None))
        return stream

    def unanswered(self) -> list[tuple[RequestId, Stream]]:
        """Return the streams whose requests have no answer yet."""
        return list(self._open.values())

    def end(self, request_id: RequestId) -> None:
        """Mark the request's stream as complete; it can be resumed for a while."""
        _, stream = self._open.pop(str(request_id))
        self._ended[stream.name] = stream
        buffered = sum(ended.buffered_bytes for ended in self._ended.values())
        while len(self._ended) > 1 and (buffered > MAX_BUFFERED_BYTES or len(self._ended) > MAX_BUFFERED_STREAMS):
            buffered -= self._ended.popitem(last=False)[1].buffered_bytes

    def forget(self, stream: Stream) -> None:
        """Drop a complete stream that nobody can resume: no client has an id of its events."""
        self._ended.pop(stream.name, None)

    def id_of(self, stream: Stream, event: Event) -> str:
        """Return the id of an event."""
        return f"{self._mark}-{stream.name}-{event.number}"

    def id_to_start(self, stream: Stream) -> str:
        """Return an id from which all events that are unread now are repeated."""
        return f"{self._mark}-{stream.name}-{stream.last_read}-{next(self._starts)}"

    def find(self, event_id: str) -> tuple[Stream, int] | None:
        """Return the stream and number of an event, None if this session has none of this id (any more)."""
        found = _ID.fullmatch(event_id)
        if found is None or found["mark"] != self._mark:
            return None
        open_streams = (self.own, *(stream for _, stream in self._open.values()))
        streams = {stream.name: stream for stream in open_streams} | self._ended
        stream = streams.get(found["stream"])
        return None if stream is None else (stream, int(found["number"]))
