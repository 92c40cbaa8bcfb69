"""Approvals: what waits for the person, and their answer."""

from dataclasses import replace

from fastapi import APIRouter

from api.approvals.decisions import Decision
from api.drive import Place, Principal
from api.http.deps import ApprovalsDep, CallerDep, ServiceDep
from api.http.problems import problem_responses
from api.http.schemas import ApprovalList, ApprovalView, DecisionsBody
from api.service import Service
from api.storage.tables import ApprovalRow

router = APIRouter(prefix="/approvals", tags=["approvals"])


@router.get("", responses=problem_responses())
async def list_approvals(caller: CallerDep, approvals: ApprovalsDep) -> ApprovalList:
    """List what waits for you, oldest first."""
    return ApprovalList(items=[approval_view(row) for row in await approvals.waiting(caller)])


@router.get("/{approval_id}", responses=problem_responses(404))
async def get_approval(approval_id: str, caller: CallerDep, approvals: ApprovalsDep) -> ApprovalView:
    """Return an approval, also one that is closed."""
    return approval_view(await approvals.get(caller, approval_id))


@router.post("/{approval_id}", responses=problem_responses(403, 404, 409))
async def decide(
    approval_id: str, body: DecisionsBody, caller: CallerDep, approvals: ApprovalsDep, service: ServiceDep
) -> ApprovalView:
    """Answer an approval: one decision for each action, all or none of them; or `approve_all`.

    An approval of an action that can be undone may carry a `grant` (422 `invalid_grant` where it may not).

    Of several clients at once one is heard; the others get 409 `approval_decided`. After its time it is 409
    `approval_expired`. Approving needs the scope of the action's risk (403 `missing_scope`). After a 403 or 422 the
    approval still waits.
    """
    await approvals.get(caller, approval_id)
    decisions = [await _placed(decision.to_decision(), caller, service) for decision in body.decisions]
    return approval_view(await approvals.decide(caller, approval_id, decisions, approve_all=body.approve_all))


async def _placed(decision: Decision, caller: Principal, service: Service) -> Decision:
    """Return the decision with the id of its grant's folder, which has to be one that the caller sees."""
    if decision.grant is None:
        return decision
    place = await service.drive.locate(caller, Place(folder_id=decision.grant["folder_id"]))
    return replace(decision, grant={**decision.grant, "folder_id": place.folder_id})


def approval_view(row: ApprovalRow) -> ApprovalView:
    """Return an approval as clients see it."""
    return ApprovalView(
        approval_id=row.id,
        thread_id=row.thread_id,
        run_id=row.run_id,
        status=row.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        created_at=row.created_at,
        expires_at=row.expires_at,
        actions=row.payload["actions"],
        decisions=row.decisions,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
    )
