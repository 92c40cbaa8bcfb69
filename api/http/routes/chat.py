"""The chat with the assistant: a message in, a stream of events out."""

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response
from starlette.status import HTTP_204_NO_CONTENT

from api.drive import Principal
from api.errors import InvalidRequestError
from api.events.frames import newest_number
from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import ChatRequest
from api.http.run_streams import STREAM, addresses_of, new_run_stream, shown_frames
from api.http.sse import EventStream
from api.http.views import place_of
from api.service import Service
from drive_server.kernel.http.problem import problem_responses
from graph.language import language_of
from graph.planning.commands import command_of

router = APIRouter(tags=["chat"], route_class=FilteredRoute)

MAX_NUMBER = 2**31 - 1
EVENT_NUMBER = re.compile(r"-?[0-9]{1,100}")


@router.post(
    "/chat",
    status_code=200,
    response_class=EventStream,
    responses=STREAM | problem_responses(403, 404, 409, 413, 503, 507),
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
    if (commanded := await _command_plan(body, caller, service, request)) is not None:
        return commanded
    run = await service.runs.start(
        caller,
        body.message,
        place_of(body.context, body.attachments),
        thread_id=body.thread_id,
        assistant_id=body.assistant_id,
        mode=body.mode,
        time_zone=body.time_zone or caller.time_zone,
        model=body.model,
    )
    return new_run_stream(run, caller, service, request)


@router.get(
    "/runs/{run_id}/events",
    status_code=200,
    response_class=EventStream,
    responses=STREAM
    | {204: {"description": "The run is over, and has no events after this one."}}
    | problem_responses(403, 404),
)
async def follow_run(
    run_id: str,
    caller: CallerDep,
    service: ServiceDep,
    request: Request,
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
    return EventStream(await shown_frames(run, number, caller, service, request))


async def _command_plan(body: ChatRequest, caller: Principal, service: Service, request: Request) -> EventStream | None:
    """Give the thread's active plan the command in the message; None if the message is no command."""
    command = command_of(body.message) if body.thread_id and "write" in caller.scopes else None
    plan = await service.plans.try_command(caller, body.thread_id, command) if body.thread_id and command else None
    if plan is None:
        return None
    after = await newest_number(service.database, plan.run_id)
    run = await service.runs.get(caller, plan.run_id)
    return EventStream(await shown_frames(run, after, caller, service, request), addresses_of(run.id))


def _event_number(text: str) -> int:
    # "-1" is how LangGraph's clients ask for everything.
    if EVENT_NUMBER.fullmatch(text) is None:
        raise InvalidRequestError("bad_event_number")
    return min(max(int(text), 0), MAX_NUMBER)
