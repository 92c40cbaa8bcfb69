"""Approvals: list and read them, and decide."""

from collections.abc import AsyncGenerator
from typing import Any, Final

from fastapi import APIRouter, Request

from api.drive import ChatPlace, Principal
from api.events.frames import Frame, encode
from api.http.dependencies import CallerDep, ServiceDep, is_still_caller
from api.http.filtered_route import FilteredRoute
from api.http.requests import DecisionsBody
from api.http.schemas import ApprovalList, ApprovalsEvent, ApprovalView
from api.http.sse import EventStream
from api.http.views import shown_approval
from api.service import Service
from drive_server.kernel.http.event_streams import OpenStreams, stream_responses
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/approvals", tags=["approvals"], route_class=FilteredRoute)

EXAMPLE = (
    'id: 1\nevent: approvals\ndata: {"type":"approvals","waiting":1,"approval_ids":["5f0c..."]}\n\n: heartbeat\n\n'
)
STREAM: Final = stream_responses(ApprovalsEvent, EXAMPLE)


@router.get("", responses=problem_responses(403))
async def list_approvals(caller: CallerDep, service: ServiceDep) -> ApprovalList:
    """List the approvals that wait for you, oldest first."""
    return ApprovalList(
        items=[await shown_approval(row, caller, service) for row in await service.approvals.waiting(caller)]
    )


@router.get("/events", response_class=EventStream, status_code=200, responses=STREAM | problem_responses(403))
async def follow_approvals(request: Request, caller: CallerDep, service: ServiceDep) -> EventStream:
    """Send which approvals wait for you as the event `approvals`, at once and at each change, until the key ends."""
    return EventStream(_frames(request, caller, service))


@router.get("/{approval_id}", responses=problem_responses(403, 404))
async def get_approval(approval_id: str, caller: CallerDep, service: ServiceDep) -> ApprovalView:
    """Return an approval, also one that is closed."""
    return await shown_approval(await service.approvals.get(caller, approval_id), caller, service)


@router.post("/{approval_id}", responses=problem_responses(403, 404, 409))
async def decide_approval(
    approval_id: str, body: DecisionsBody, caller: CallerDep, service: ServiceDep
) -> ApprovalView:
    """Decide on an approval: one decision for each action, all or none of them; or `approve_all`.

    The decision `approve` may carry a `grant` if the action can be undone (422 `invalid_grant` otherwise).

    If several clients decide at once, one succeeds and the others get 409 `approval_decided`. An approval that expired
    gives 409 `approval_expired`. Approving needs the scope of the action's risk. Answers with words (`respond`, `edit`,
    a message) need all scopes of the run, as a model acts on them (403 `missing_scope`). After a 403 or 422 the
    approval still waits.
    """
    await service.approvals.get(caller, approval_id)
    decisions = [await _placed(decision.model_dump(exclude_none=True), caller, service) for decision in body.decisions]
    decided = await service.approvals.decide(caller, approval_id, decisions, approve_all=body.approve_all)
    return await shown_approval(decided, caller, service)


async def _frames(request: Request, caller: Principal, service: Service) -> AsyncGenerator[list[Frame]]:
    number, watch = 0, service.approvals.watch(caller)
    streams: OpenStreams = request.app.state.open_streams
    with streams.opened(request, caller.user_id) as stream:
        while watch.is_open and stream.is_open:
            ids = None
            with stream.waiting():
                ids = await watch.next(service.heartbeat_seconds)
            if ids is not None and await is_still_caller(request, service):
                number += 1
                yield [_frame(number, ids)]
            elif ids is None and watch.is_open and stream.is_open:
                yield []
            else:
                return


def _frame(number: int, ids: tuple[str, ...]) -> Frame:
    event = ApprovalsEvent(waiting=len(ids), approval_ids=list(ids)).model_dump()
    return Frame(number, event["type"], encode(event))


async def _placed(decision: dict[str, Any], caller: Principal, service: Service) -> dict[str, Any]:
    """Return the decision with the id of its grant's folder. Raises the drive's error if the caller can't see it."""
    grant = decision.get("grant")
    if grant is None:
        return decision
    place = await service.drive.locate(caller, ChatPlace(folder_id=grant["folder_id"]))
    return {**decision, "grant": {**grant, "folder_id": place.folder_id}}
