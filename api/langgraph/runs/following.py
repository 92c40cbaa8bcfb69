"""Follow a client run: its events as frames, its values at the end, and its stop when its client goes away."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson
from fastapi import Request

from api.drive import Principal
from api.errors import RunFinishedError
from api.events.frames import Frame, read_frames
from api.http.run_streams import frames_while_proved, open_streams, shown_frames
from api.langgraph.runs.begin import Begun
from api.langgraph.runs.clients import Clients
from api.langgraph.runs.rows import PENDING, RUNNING, ClientRunRows, error_view
from api.langgraph.streams.frames import HEARTBEAT, FrameEncoder, FrameNumber, encode_frame
from api.langgraph.streams.modes import Mode
from api.langgraph.streams.state_frames import ENDS, RunStates, StateFrames
from api.langgraph.threads.message_ids import SAID
from api.service import Service
from api.storage.tables import ClientRunRow

if TYPE_CHECKING:
    from api.langgraph.entrance import Json

HEARTBEAT_SECONDS: Final = 5.0
"""LangGraph's server sends one so often, and some of its clients give up soon after."""
CALL_BEGINS: Final = "tool_call_start"
CALL_ENDS: Final = "tool_call_end"


async def begun(
    clients: Clients, caller: Principal, request: Request, row: ClientRunRow
) -> AsyncGenerator[ClientRunRow | None]:
    """Yield None as heartbeat while a client run is pending, then its row; nothing if it, or the client's key, ends."""
    if row.status != PENDING:
        yield row
        return
    with open_streams(request).opened(request, caller.user_id) as stream:
        async with aclosing(clients.queue.begun(row.id, HEARTBEAT_SECONDS)) as rows:
            while stream.is_open:
                found: ClientRunRow | None = None
                with stream.waiting():
                    found = await anext(rows, row)
                yield found
                if found is not None:
                    return


async def stretch(
    clients: Clients, caller: Principal, request: Request, begun: Begun, after: int
) -> AsyncGenerator[list[Frame]]:
    """Yield the events of a client run after a number, up to its last; an empty list as heartbeat."""
    async with aclosing(await _frames(clients.service, caller, request, begun, after)) as batches:
        async for frames in batches:
            ends = next((index for index, frame in enumerate(frames) if frame.type in ENDS), None)
            yield frames if ends is None else frames[: ends + 1]
            if ends is not None:
                return


async def _frames(
    service: Service, caller: Principal, request: Request, begun: Begun, after: int
) -> AsyncGenerator[list[Frame]]:
    """Return the events of a client run after a number, and those of our run that follow them."""
    quick = replace(service, heartbeat_seconds=min(service.heartbeat_seconds, HEARTBEAT_SECONDS))
    if begun.run:
        return frames_while_proved(begun.run, after, caller, quick, request, with_steps=True)
    row = await ClientRunRows(service).settle(begun.row)
    after = max(after, row.first_seq - 1)
    if row.run_id is None or (row.last_seq is not None and after >= row.last_seq):
        return nothing()
    run = await service.runs.get(caller, row.run_id)
    return await shown_frames(run, after, caller, quick, request, with_steps=True)


async def nothing() -> AsyncGenerator[list[Frame]]:
    """Yield no events."""
    no_frames: list[list[Frame]] = []
    for frames in no_frames:
        yield frames


async def client_frames(
    clients: Clients,
    caller: Principal,
    request: Request,
    start: Begun,
    modes: frozenset[Mode],
    place: FrameNumber | None = None,
) -> AsyncGenerator[bytes]:
    """Yield a client run as text of an event stream: the frames after a place in it, up to its end."""
    row = start.row
    yield encode_frame("metadata", {"run_id": row.id, "attempt": 1})
    async with aclosing(begun(clients, caller, request, row)) as rows:
        async for found in rows:
            row = found or row
            if found is None:
                yield HEARTBEAT
    service = clients.service
    if error := row.about.get("error"):
        yield encode_frame("error", error)
    encoder = FrameEncoder(modes, is_resumable=bool(row.wanted.get("stream_resumable")), after=place)
    begun_at = row.wanted.get("asked") or [str(row.run_id), *row.wanted.get(SAID, ())]
    own = RunStates(service, caller, row.thread_id, row.run_id, _own_ids(start))
    states = StateFrames(own, modes, begun_at)
    seen = place[0] - 1 if place else 0
    is_over = False
    async with aclosing(stretch(clients, caller, request, Begun(row, start.run), seen)) as batches:
        async for frames in batches:
            shown = await states.among(frames, encoder)
            is_over = is_over or any(frame.type in ENDS for frame in frames)
            if error := next((frame for frame in frames if frame.type == "error"), None):
                shown += encode_frame("error", error_view(orjson.loads(error.data)))
            yield shown or HEARTBEAT
    if not is_over and (last := await states.read(encoder.node)):
        yield last


def _own_ids(begun: Begun) -> Mapping[str, str] | None:
    """Return the clients' ids of the messages of a thread that begins with this run; None: they are to be read."""
    if begun.run is None or begun.run.number > 1:
        return None
    said = begun.row.wanted.get(SAID)
    return {begun.run.id: said[-1]} if said else {}


async def awaited_values(
    clients: Clients, caller: Principal, request: Request, row: ClientRunRow
) -> AsyncGenerator[bytes]:
    """Yield white space while a client run works, then the values at its end as JSON, or its error."""
    service = clients.service
    async with aclosing(begun(clients, caller, request, row)) as rows:
        async for found in rows:
            row = found or row
            yield b"\n"
    error: Json | None = row.about.get("error")
    async with aclosing(stretch(clients, caller, request, Begun(row), 0)) as batches:
        async for frames in batches:
            failed = [orjson.loads(frame.data) for frame in frames if frame.type == "error"]
            error = error_view(failed[0]) if failed else error
            yield b"\n"
    await ClientRunRows(service).settle(row)
    values = await RunStates(service, caller, row.thread_id, row.run_id).final()
    yield orjson.dumps({"__error__": error} if error else values, default=str)


async def cancel_when_safe(service: Service, caller: Principal, row: ClientRunRow) -> None:
    """Stop a client run whose client is gone, but no call: those that were allowed are made before."""
    rows = ClientRunRows(service)
    row = await rows.get(caller, row.thread_id, row.id)
    if row.run_id is None:
        await rows.stop_pending(row)
    if row.status != RUNNING or row.run_id is None:
        return
    open_calls: set[str] = set(row.wanted.get("given", ()))
    ended: set[str] = set()
    after = 0
    for frame in await read_frames(service.database, row.run_id):
        after = frame.seq
        _note(frame, open_calls, ended)
    async with aclosing(service.runs.follow(row.run_id, after, HEARTBEAT_SECONDS)) as batches:
        while not open_calls <= ended:
            frames = await anext(batches, None)
            if frames is None or any(frame.type in ENDS for frame in frames):
                return
            for frame in frames:
                _note(frame, open_calls, ended)
    with suppress(RunFinishedError):
        await service.runs.cancel(caller, row.run_id)


def _note(frame: Frame, begun: set[str], ended: set[str]) -> None:
    if frame.type in {CALL_BEGINS, CALL_ENDS}:
        event: dict[str, Any] = orjson.loads(frame.data)
        (begun if frame.type == CALL_BEGINS else ended).add(event["tool_call_id"])
