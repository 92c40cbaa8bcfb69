"""A thread's last message, edited or answered anew; and its versions."""

from fastapi import APIRouter, Request

from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import EditBody, RegenerateBody
from api.http.run_streams import STREAM, new_run_stream
from api.http.schemas import VersionsOfMessage
from api.http.sse import EventStream
from api.http.views import place_of, version_view
from drive_server.kernel.http.problem import problem_responses
from graph.language import language_of

router = APIRouter(prefix="/threads/{thread_id}/messages/{message_id}", tags=["threads"], route_class=FilteredRoute)

BEGUN = STREAM | problem_responses(403, 404, 409, 413, 503, 507)


@router.post("/edit", status_code=200, response_class=EventStream, responses=BEGUN)
async def edit_message(
    thread_id: str, message_id: str, body: EditBody, caller: CallerDep, service: ServiceDep, request: Request
) -> EventStream:
    """Replace the last message of a thread, and have the new one answered, as if the one before had not been sent.

    The answer is that of `POST /api/chat`. Its first event names in `replaces` the run of the version before, with its
    changes in the drive, which stay until `POST /api/runs/{run_id}/undo` takes them back. That version stays readable.
    409 `not_last_message` for an earlier message; `thread_busy`, `approval_pending` or `plan_paused` while a run works
    or waits.
    """
    request.state.language = language_of(body.message)
    replaced = await service.runs.find_replaced(caller, thread_id, message_id)
    has_place = not {"context", "attachments"}.isdisjoint(body.model_fields_set)
    run = await service.runs.start(
        caller,
        body.message,
        place_of(body.context, body.attachments) if has_place else None,
        thread_id=thread_id,
        assistant_id=body.assistant_id,
        mode=body.mode,
        time_zone=body.time_zone or replaced.run.time_zone,
        model=body.model,
        replaced=replaced,
    )
    return new_run_stream(run, caller, service, request)


@router.post("/regenerate", status_code=200, response_class=EventStream, responses=BEGUN)
async def regenerate_answer(
    thread_id: str,
    message_id: str,
    caller: CallerDep,
    service: ServiceDep,
    request: Request,
    body: RegenerateBody | None = None,
) -> EventStream:
    """Answer the last message of a thread anew; `message_id` is that message's or its answer's.

    It is an edit of the message that changes no word of it.
    """
    wanted = body or RegenerateBody()
    replaced = await service.runs.find_replaced(caller, thread_id, message_id)
    request.state.language = language_of(replaced.run.message)
    run = await service.runs.start(
        caller,
        replaced.run.message,
        None,
        thread_id=thread_id,
        assistant_id=wanted.assistant_id,
        mode=wanted.mode,
        time_zone=wanted.time_zone or replaced.run.time_zone,
        model=wanted.model,
        replaced=replaced,
    )
    return new_run_stream(run, caller, service, request)


@router.get("/versions", responses=problem_responses(403, 404))
async def list_message_versions(
    thread_id: str, message_id: str, caller: CallerDep, service: ServiceDep
) -> VersionsOfMessage:
    """List the versions of a message, the first one first; one that was never edited is its only version."""
    versions = await service.runs.versions(caller, thread_id, message_id)
    return VersionsOfMessage(items=[version_view(run) for run in versions])
