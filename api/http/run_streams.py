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


def new_run_stream(run: RunRow, service: Service, request: Request) -> EventStream:
    """Return the events of a run that has just begun, up to where it waits if nobody attends to it."""
    batches = _while_proved(service.runs.follow(run.id, 0, service.heartbeat_seconds), service, request)
    return EventStream(_until_parked(batches) if run.mode == "unattended" else batches, addresses_of(run.id))


def addresses_of(run_id: str) -> list[tuple[str, str]]:
    """Return the headers that say where the stream of a run goes on, and what it is of."""
    return [("location", f"/api/runs/{run_id}/events"), ("content-location", f"/api/runs/{run_id}")]


async def shown_frames(
    run: RunRow, after: int, caller: Principal, service: Service, request: Request
) -> AsyncGenerator[list[Frame]]:
    """Return the run's events after a number, as the caller may see them now."""
    frames = _while_proved(service.runs.follow(run.id, after, service.heartbeat_seconds), service, request)
    hidden = await service.withholding.hidden(caller, run)
    return _withheld(frames, language_of(run.message)) if hidden else frames


async def _while_proved(
    batches: AsyncGenerator[list[Frame]], service: Service, request: Request
) -> AsyncGenerator[list[Frame]]:
    """Yield the frames while the caller's key or session holds. It is looked up with heartbeats, and once a second.

    A run that ends with its key still says so: of what comes soon after that, only the last event is sent.
    """
    looked, holds = monotonic(), True
    async with aclosing(batches):
        async for frames in batches:
            if holds and (not frames or monotonic() - looked >= LOOKED_EVERY_SECONDS):
                looked, holds = monotonic(), await is_still_caller(request, service)
            if not holds and not frames and monotonic() - looked >= LAST_WITHIN_SECONDS:
                return
            shown = frames if holds else [frame for frame in frames if frame.type in LAST]
            if shown or holds:
                yield shown


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
