"""A run's events as the answer of a route, and their description in OpenAPI."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import monotonic
from typing import Annotated, Any, Final

from fastapi import Request
from pydantic import Field

from api.approvals.service import PARKED
from api.drive import Principal
from api.events.frames import Frame
from api.http.dependencies import is_still_caller
from api.http.sse import EventStream
from api.service import Service
from api.storage.tables import RunRow
from api.withholding import withhold_frames
from drive_server.kernel.http.event_streams import OpenStream, OpenStreams
from graph.events.definitions import Event
from graph.language import Language, language_of

LOOKED_EVERY_SECONDS: Final = 1.0
LAST_WITHIN_SECONDS: Final = 10.0
"""The longest wait for the last event, once the key of a client ended: another process may end the run."""
LAST: Final = frozenset({"done", "error"})
EXAMPLE: Final = (
    'id: 1\nevent: run\ndata: {"type":"run","run_id":"5f0c...","thread_id":"9b1e..."}\n\n'
    'id: 2\nevent: route_decision\ndata: {"type":"route_decision","agent":"search_agent","confidence":0.9,'
    '"reason":"It asks for a document.","method":"pattern"}\n\n'
    'id: 3\nevent: content\ndata: {"type":"content","text":"Parents may take","message_id":"c1d2..."}\n\n'
    ": heartbeat\n\n"
    'id: 4\nevent: done\ndata: {"type":"done","run_id":"5f0c...","status":"success","usage":{},"changes":[],'
    '"groups":[]}\n\n'
)
STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Server-sent events up to `done` or `error`; the schema is of `data`. Comments are heartbeats.",
        "model": Annotated[Event, Field(discriminator="type")],
        "content": {"text/event-stream": {"schema": {"type": "object"}, "example": EXAMPLE}},
    }
}


def open_streams(request: Request) -> OpenStreams:
    """Return the open streams of the service, which end with their keys."""
    return request.app.state.open_streams


def new_run_stream(run: RunRow, caller: Principal, service: Service, request: Request) -> EventStream:
    """Return the events of a run that has just begun, up to where it waits if nobody attends to it."""
    batches = frames_while_proved(run, 0, caller, service, request)
    return EventStream(_until_parked(batches) if run.mode == "unattended" else batches, addresses_of(run.id))


def addresses_of(run_id: str) -> list[tuple[str, str]]:
    """Return the headers with the address where the stream of a run goes on, and with that of the run."""
    return [("location", f"/api/runs/{run_id}/events"), ("content-location", f"/api/runs/{run_id}")]


async def shown_frames(
    run: RunRow, after: int, caller: Principal, service: Service, request: Request, *, with_steps: bool = False
) -> AsyncGenerator[list[Frame]]:
    """Return the run's events after a number, as the caller may see them now; `with_steps` as `Runs.follow`."""
    frames = frames_while_proved(run, after, caller, service, request, with_steps=with_steps)
    hidden = await service.withholding.hidden(caller, run)
    return _withheld(frames, language_of(run.message)) if hidden else frames


async def frames_while_proved(
    run: RunRow, after: int, caller: Principal, service: Service, request: Request, *, with_steps: bool = False
) -> AsyncGenerator[list[Frame]]:
    """Yield the frames while the caller's key or session holds, then how the run ends, if it does so soon."""
    streams = open_streams(request)
    is_over = False
    with streams.opened(request, caller.user_id) as stream:
        followed = service.runs.follow(run.id, after, service.heartbeat_seconds, with_steps=with_steps)
        async with aclosing(followed) as batches:
            while stream.is_open and not is_over:
                frames = None
                with stream.waiting():
                    frames = await anext(batches, None)
                if frames and not await _holds(stream, service, request):
                    break
                is_over = frames is None and stream.is_open
                if frames is not None:
                    after = frames[-1].seq if frames else after
                    yield frames
    if not is_over:
        async with aclosing(_last_frames(run, after, service)) as rest:
            async for frames in rest:
                yield frames


async def _holds(stream: OpenStream, service: Service, request: Request) -> bool:
    """Return whether the key of the stream holds, as of a second ago at most."""
    if monotonic() - stream.looked_at < LOOKED_EVERY_SECONDS:
        return stream.is_open
    stream.looked_at = monotonic()
    return await is_still_caller(request, service)


async def _last_frames(run: RunRow, after: int, service: Service) -> AsyncGenerator[list[Frame]]:
    """Yield the last event of a run that ends with a client's key, without the events before it."""
    until = monotonic() + LAST_WITHIN_SECONDS
    async with aclosing(service.runs.follow(run.id, after, LAST_WITHIN_SECONDS)) as batches:
        async for frames in batches:
            if last := [frame for frame in frames if frame.type in LAST]:
                yield last
            if not frames or monotonic() >= until:
                return


async def _withheld(batches: AsyncGenerator[list[Frame]], language: Language) -> AsyncGenerator[list[Frame]]:
    async with aclosing(batches):
        async for frames in batches:
            yield withhold_frames(frames, language)


async def _until_parked(batches: AsyncGenerator[list[Frame]]) -> AsyncGenerator[list[Frame]]:
    """Yield the frames until the run waits for an approval, which may take days."""
    async with aclosing(batches):
        async for frames in batches:
            yield frames
            if any(frame.type == PARKED for frame in frames):
                return
