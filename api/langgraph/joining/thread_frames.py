"""A thread in LangGraph's first format: frames of its runs, with ids that go on over all of them.

An id is the number of the run, of the event in it, and the place among the frames of that. A malformed one begins at
the first run; without one the stream begins with the run that is at work.
"""

import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final, Literal, cast, get_args

import orjson
from fastapi import Request

from api.drive import Principal
from api.events.frames import Frame, newest_number, read_frames
from api.http.run_streams import shown_frames
from api.langgraph.joining.runs_of_thread import runs_of_thread
from api.langgraph.runs.clients import Clients
from api.langgraph.runs.following import HEARTBEAT_SECONDS, error_view
from api.langgraph.runs.rows import MODES_WANTED, ClientRunRows
from api.langgraph.streams.frames import HEARTBEAT, FrameEncoder, FrameNumber, encode_frame
from api.langgraph.streams.modes import Mode
from api.langgraph.streams.state_frames import ASKS, ENDS, RunStates, StateFrames
from api.langgraph.threads.rows import ClientThread
from api.storage.tables import ClientRunRow, RunRow
from drive_server.kernel.sql.shared_poll import Watch

ThreadMode = Literal["run_modes", "lifecycle", "state_update"]
THREAD_MODES: Final[frozenset[ThreadMode]] = frozenset(get_args(ThreadMode))
SHOWN: Final[frozenset[Mode]] = frozenset({"values", "messages", "custom"})
"""The modes of a run that no client of this API began."""
METADATA: Final = "metadata"
_ID: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,9})-([0-9])")
ThreadPlace = tuple[int, FrameNumber]


def read_thread_modes(given: Iterable[str]) -> frozenset[ThreadMode] | None:
    """Return the modes of a stream of a thread; None: one of them is unknown."""
    named = {name for one in given for name in one.split(",")} or {"run_modes"}
    return cast("frozenset[ThreadMode]", frozenset(named)) if named <= THREAD_MODES else None


def read_thread_place(last_event_id: str | None) -> ThreadPlace | None:
    """Return the place behind which a client goes on, as the number of a run and a place in it; None: now."""
    if last_event_id is None:
        return None
    found = _ID.fullmatch(last_event_id)
    return (int(found[1]), (int(found[2]), int(found[3]))) if found else (0, (0, 0))


async def thread_frames(
    clients: Clients,
    caller: Principal,
    request: Request,
    thread: ClientThread,
    watch: Watch[int],
    modes: frozenset[ThreadMode],
    place: ThreadPlace | None,
) -> AsyncGenerator[bytes]:
    """Yield the frames of a thread's runs behind a place, and then new ones."""
    number, within = place or (0, (0, 0))
    done = number - 1 if place else None
    if place is None and thread.run and await _is_over(clients, thread.run):
        # Clients that name no place have read the state: a run that is over would come twice.
        done = thread.run.number
    async with aclosing(runs_of_thread(clients.service, caller, request, thread, watch, done)) as runs:
        async for run in runs:
            if run is None:
                yield HEARTBEAT
                continue
            shown = _RunFrames(clients, caller, run, modes, within if run.number == number else (0, 0))
            async with aclosing(shown.follow(request)) as pieces:
                async for piece in pieces:
                    yield piece


async def _is_over(clients: Clients, run: RunRow) -> bool:
    database = clients.service.database
    last = await read_frames(database, run.id, await newest_number(database, run.id) - 1)
    return bool(last) and last[-1].is_final


class _RunFrames:
    """The frames of one run of a thread, across its questions: each stretch of it is a run of a client."""

    def __init__(
        self, clients: Clients, caller: Principal, run: RunRow, modes: frozenset[ThreadMode], after: FrameNumber
    ) -> None:
        self._clients = clients
        self._caller = caller
        self._run = run
        self._shows_all = "run_modes" in modes
        self._shows_life = bool(modes & {"run_modes", "lifecycle"})
        self._after = after
        self._stretches: Mapping[int, ClientRunRow] = {}
        self._key = run.id
        self._is_between = True

    async def follow(self, request: Request) -> AsyncGenerator[bytes]:
        """Yield the frames up to the end of the run."""
        service = self._clients.service
        quick = replace(service, heartbeat_seconds=min(service.heartbeat_seconds, HEARTBEAT_SECONDS))
        await self._read_stretches()
        shown = self._modes()
        prefix = b"%d-" % self._run.number
        encoder = FrameEncoder(shown, is_resumable=True, after=self._after, prefix=prefix)
        own = RunStates(service, self._caller, self._run.thread_id, self._run.id)
        states = StateFrames(own, shown, [self._run.id])
        seen = max(self._after[0] - 1, 0)
        followed = await shown_frames(self._run, seen, self._caller, quick, request, with_steps=self._shows_all)
        async with aclosing(followed) as batches:
            async for frames in batches:
                at = own.place(frames) if self._shows_all else None
                pieces = [piece for frame in frames[:at] for piece in await self._of_frame(frame, encoder)]
                if at is not None:
                    asks = any(frame.type in ASKS for frame in frames)
                    pieces.append(await states.read(encoder.node, asks=asks))
                    pieces += [piece for frame in frames[at:] for piece in await self._of_frame(frame, encoder)]
                yield b"".join(pieces) or HEARTBEAT

    async def _of_frame(self, frame: Frame, encoder: FrameEncoder) -> Sequence[bytes]:
        pieces: list[bytes] = []
        if self._is_between:
            await self._read_stretches()
            self._is_between = False
            begun = [row for first, row in self._stretches.items() if first <= frame.seq]
            self._key = begun[-1].id if begun else self._run.id
            pieces.append(self._life({"run_id": self._key, "attempt": 1}))
        pieces.append(encoder.encode(frame) if self._shows_all else b"")
        if frame.type == "error" and self._shows_all:
            pieces.append(encode_frame("error", error_view(orjson.loads(frame.data))))
        if frame.type in ENDS:
            self._is_between = True
            pieces.append(self._life({"status": "run_done", "run_id": self._key}))
        return pieces

    def _life(self, data: Mapping[str, object]) -> bytes:
        return encode_frame(METADATA, data) if self._shows_life else b""

    def _modes(self) -> frozenset[Mode]:
        asked = [row.wanted.get(MODES_WANTED) for row in self._stretches.values()]
        named = {mode for modes in asked if modes for mode in modes}
        return frozenset(cast("set[Mode]", named)) or SHOWN

    async def _read_stretches(self) -> None:
        rows = await ClientRunRows(self._clients.service).of_run(self._run.id)
        self._stretches = {row.first_seq: row for row in rows}
