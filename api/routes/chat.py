"""Talking to the assistant: a message in, a stream of events out."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from api.deps import CallerDep, RunsDep, ServiceDep
from api.errors import InvalidInputError
from api.ports import Place
from api.problems import problem_responses
from api.schemas import ChatRequest
from api.sse import EventStream

router = APIRouter(tags=["chat"])

LARGEST_NUMBER = 2**31 - 1
EVENT_NUMBER = re.compile(r"-?[0-9]{1,100}")
ASSISTANT = "drive_agent"
STREAM_EXAMPLE = (
    'id: 1\nevent: run\ndata: {"type":"run","run_id":"5f0c...","thread_id":"9b1e..."}\n\n'
    'id: 2\nevent: route_decision\ndata: {"type":"route_decision","agent":"search_agent","confidence":0.9,'
    '"reason":"It asks for a document.","method":"pattern"}\n\n'
    'id: 3\nevent: content\ndata: {"type":"content","text":"Parents may take"}\n\n: heartbeat\n\n'
    'id: 4\nevent: done\ndata: {"type":"done","run_id":"5f0c...","status":"success","usage":{},"changes":[]}\n\n'
)
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, to `done` or `error`. Comments are heartbeats.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": STREAM_EXAMPLE}},
    }
}


@router.post("/chat", response_class=Response, responses=STREAM | problem_responses(404, 409, 413, 503, 507))
async def chat(body: ChatRequest, caller: CallerDep, service: ServiceDep) -> EventStream:
    """Say something to the assistant.

    The first event is `run`; the last is `done` or `error`. Closing the connection cancels nothing: read on with
    `GET /api/runs/{run_id}/events`. A thread takes one message at a time (409 `thread_busy`), and none while an
    approval waits (409 `approval_pending`).
    """
    if body.assistant_id not in (None, ASSISTANT):
        raise InvalidInputError("There is no such assistant.", hint=f"Leave assistant_id out, or use {ASSISTANT}.")
    place = Place(body.context.file_id, body.context.folder_id) if body.context else Place()
    run = await service.runs.start(
        caller, body.message, place, thread_id=body.thread_id, assistant_id=body.assistant_id or ASSISTANT
    )
    headers = [("location", f"/api/runs/{run.id}/events"), ("content-location", f"/api/runs/{run.id}")]
    return EventStream(service.runs.follow(run.id, 0, service.heartbeat_seconds), headers)


@router.get("/runs/{run_id}/events", response_class=Response, responses=STREAM | problem_responses(404))
async def events(
    run_id: str,
    caller: CallerDep,
    runs: RunsDep,
    service: ServiceDep,
    last_event_id: Annotated[str | None, Header(description="Send only what came after this event.")] = None,
    after: Annotated[str | None, Query(description="The same, for clients that can't set headers.")] = None,
) -> EventStream:
    """Read a run's events: the stored ones after `Last-Event-ID`, then the rest as it comes."""
    run = await runs.get(caller, run_id)
    number = _event_number(last_event_id or after or "0")
    return EventStream(runs.follow(run.id, number, service.heartbeat_seconds))


def _event_number(text: str) -> int:
    # "-1" is how LangGraph's clients ask for everything.
    if EVENT_NUMBER.fullmatch(text) is None:
        raise InvalidInputError("Last-Event-ID is not the number of an event.", hint="Use the id of a frame.")
    return min(max(int(text), 0), LARGEST_NUMBER)
