"""Approvals: list and read them, and decide."""

from typing import Any

from fastapi import APIRouter

from api.drive import Place, Principal
from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import DecisionsBody
from api.http.schemas import ApprovalList, ApprovalView
from api.http.views import shown_approval
from api.service import Service
from drive_server.http.problem import problem_responses

router = APIRouter(prefix="/approvals", tags=["approvals"], route_class=FilteredRoute)


@router.get("", responses=problem_responses())
async def list_approvals(caller: CallerDep, service: ServiceDep) -> ApprovalList:
    """List the approvals that wait for you, oldest first."""
    return ApprovalList(
        items=[await shown_approval(row, caller, service) for row in await service.approvals.waiting(caller)]
    )


@router.get("/{approval_id}", responses=problem_responses(404))
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
    gives 409 `approval_expired`. Approving needs the scope of the action's risk. What carries words
    (`respond`, `edit`, a message) needs all scopes of the run, as a model acts on them (403 `missing_scope`). After a
    403 or 422 the approval still waits.
    """
    await service.approvals.get(caller, approval_id)
    decisions = [await _placed(decision.model_dump(exclude_none=True), caller, service) for decision in body.decisions]
    decided = await service.approvals.decide(caller, approval_id, decisions, approve_all=body.approve_all)
    return await shown_approval(decided, caller, service)


async def _placed(decision: dict[str, Any], caller: Principal, service: Service) -> dict[str, Any]:
    """Return the decision with the id of its grant's folder. Raises the drive's error if the caller can't see it."""
    grant = decision.get("grant")
    if grant is None:
        return decision
    place = await service.drive.locate(caller, Place(folder_id=grant["folder_id"]))
    return {**decision, "grant": {**grant, "folder_id": place.folder_id}}
