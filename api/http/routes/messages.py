"""Messages of the assistant: the answer about one call in them."""

from fastapi import APIRouter

from api.errors import NotFoundError
from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.schemas import ApprovalView
from api.http.server_requests import ToolConfirmBody
from api.http.views import shown_approval
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/messages", tags=["approvals"], route_class=FilteredRoute)


@router.post("/{message_id}/tool-confirm", responses=problem_responses(403, 404, 409))
async def confirm_call(message_id: str, body: ToolConfirmBody, caller: CallerDep, service: ServiceDep) -> ApprovalView:
    """Approve or reject one call of a message, as `POST /api/approvals/{id}` does.

    If the approval asks about several calls it goes on waiting until each has an answer, and then counts for all of
    them. 404 for a call that no approval asked you about, and for a message of another turn; 409 once it is decided.
    """
    approval = await service.approvals.with_call(caller, body.tool_call_id)
    if message_id not in await service.graph.message_ids(approval.thread_id, approval.run_id):
        raise NotFoundError("no_call")
    decided = await service.approvals.confirm(caller, approval.id, body.tool_call_id, approved=body.approved)
    return await shown_approval(decided, caller, service)
