"""The chat with the assistant: a message in, a stream of events out."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from pydantic import Field
from starlette.responses import Response
from starlette.status import HTTP_204_NO_CONTENT

from api.approvals.service import PARKED
from api.drive import Kind, Place, Principal
from api.errors import InvalidRequestError
from api.events.frames import Frame, newest_number
from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import AttachmentBody, ChatContext, ChatRequest
from api.http.sse import EventStream
from api.service import Service
from api.storage.tables import RunRow
from api.withholding import withhold_frames
from drive_server.http.problem import problem_responses
from graph.events import Event
from graph.language import language_of
from graph.planning.commands import command_of
from graph.state import Language

router = APIRouter(tags=["chat"], route_class=FilteredRoute)

LARGEST_NUMBER = 2**31 - 1
EVENT_NUMBER = re.compile(r"-?[0-9]{1,100}")
STREAM_EXAMPLE = (
    'id: 1\nevent: run\ndata: {"type":"run","run_id":"5f0c...","thread_id":"9b1e..."}\n\n'
    'id: 2\nevent: route_decision\ndata: {"type":"route_decision","agent":"search_agent","confidence":0.9,'
    '"reason":"It asks for a document.","method":"pattern"}\n\n'
    'id: 3\nevent: content\ndata: {"type":"content","text":"Parents may take"}\n\n: heartbeat\n\n'
    'id: 4\nevent: done\ndata: {"type":"done","run_id":"5f0c...","status":"success","usage":{},"changes":[]}\n\n'
)
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events up to `done` or `error`; the schema is of `data`. Comments are heartbeats.",
        "model": Annotated[Event, Field(discriminator="type")],
        "content": {"text/event-stream": {"schema": {"type": "object"}, "example": STREAM_EXAMPLE}},
    }
}


@router.post(
    "/chat", status_code=200, response_class=EventStream, responses=STREAM | problem_responses(404, 409, 413, 503, 507)
)
async def chat(body: ChatRequest, caller: CallerDep, service: ServiceDep, request: Request) -> EventStream:
    """Say something to the assistant.

    The first event is `run`; the last is `done` or `error`, or `run_parked` if the mode is `unattended`. Closing the
    connection cancels nothing: read on with `GET /api/runs/{run_id}/events`. A thread takes one message at a time (409
    `thread_busy`), and none while an approval waits (409 `approval_pending`). A `model` that the operator does not
    allow is refused (422 `model_not_allowed`), and an assistant that is not yours (404). The messages `pause`,
    `continue` and `stop the plan` (in Chinese, too) command a running plan: the answer continues with that run's
    events.
    """
    request.state.language = language_of(body.message)
    if (commanded := await _command_plan(body, caller, service)) is not None:
        return commanded
    here = body.context or ChatContext()
    attached: list[tuple[str, Kind]] = [(one.file_id or one.folder_id or "", _kind(one)) for one in body.attachments]
    place = Place(here.file_id, here.folder_id, tuple(attached))
    run = await service.runs.start(
        caller,
        body.message,
        place,
        thread_id=body.thread_id,
        assistant_id=body.assistant_id,
        mode=body.mode,
        time_zone=body.time_zone or caller.time_zone,
        model=body.model,
    )
    headers = [("location", f"/api/runs/{run.id}/events"), ("content-location", f"/api/runs/{run.id}")]
    batches = service.runs.follow(run.id, 0, service.heartbeat_seconds)
    return EventStream(_until_parked(batches) if body.mode == "unattended" else batches, headers)


@router.get(
    "/runs/{run_id}/events",
    status_code=200,
    response_class=EventStream,
    responses=STREAM
    | {204: {"description": "The run is over, and has no events after this one."}}
    | problem_responses(404),
)
async def events(
    run_id: str,
    caller: CallerDep,
    service: ServiceDep,
    last_event_id: Annotated[str | None, Header(description="Send only the events after this one.")] = None,
    after: Annotated[str | None, Query(description="The same, for clients that can't set headers.")] = None,
) -> Response:
    """Read a run's events: the stored ones after `Last-Event-ID`, then the new ones.

    204 after the last event of a run that is over: then an `EventSource` does not connect again.
    """
    run = await service.runs.get(caller, run_id)
    number = _event_number(last_event_id or after or "0")
    if run.finished_at is not None and number >= await newest_number(service.database, run.id):
        return Response(status_code=HTTP_204_NO_CONTENT, headers={"Cache-Control": "no-store"})
    return EventStream(await _shown_frames(run, number, caller, service))


def _kind(attachment: AttachmentBody) -> Kind:
    return "file" if attachment.file_id is not None else "folder"


async def _shown_frames(run: RunRow, after: int, caller: Principal, service: Service) -> AsyncGenerator[list[Frame]]:
    """Return the run's events after a number, as the caller may see them now."""
    frames = service.runs.follow(run.id, after, service.heartbeat_seconds)
    hidden = await service.withholding.hidden(caller, run)
    return _withheld(frames, language_of(run.message)) if hidden else frames


async def _withheld(batches: AsyncGenerator[list[Frame]], language: Language) -> AsyncGenerator[list[Frame]]:
    async with aclosing(batches):
        async for frames in batches:
            yield withhold_frames(frames, language)


async def _command_plan(body: ChatRequest, caller: Principal, service: Service) -> EventStream | None:
    """Give the thread's active plan the command in the message; None if the message is no command."""
    command = command_of(body.message) if body.thread_id and "write" in caller.scopes else None
    plan = await service.plans.try_command(caller, body.thread_id, command) if body.thread_id and command else None
    if plan is None:
        return None
    after = await newest_number(service.database, plan.run_id)
    headers = [("location", f"/api/runs/{plan.run_id}/events"), ("content-location", f"/api/runs/{plan.run_id}")]
    run = await service.runs.get(caller, plan.run_id)
    return EventStream(await _shown_frames(run, after, caller, service), headers)


async def _until_parked(batches: AsyncGenerator[list[Frame]]) -> AsyncGenerator[list[Frame]]:
    """Yield the frames until the run waits for an approval, which may take days."""
    async with aclosing(batches):
        async for frames in batches:
            yield frames
            if any(frame.type == PARKED for frame in frames):
                return


def _event_number(text: str) -> int:
    # "-1" is how LangGraph's clients ask for everything.
    if EVENT_NUMBER.fullmatch(text) is None:
        raise InvalidRequestError("bad_event_number")
    return min(max(int(text), 0), LARGEST_NUMBER)
