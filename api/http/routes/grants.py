"""Grants: list and withdraw them. A grant is given with an approval."""

from fastapi import APIRouter, Response

from api.authority import require_scopes, scopes_of
from api.errors import NotFoundError
from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.schemas import GrantList, GrantView
from drive_server.kernel.http.problem import problem_responses
from graph.policy.grants import Grant

router = APIRouter(prefix="/grants", tags=["grants"], route_class=FilteredRoute)

NO_CONTENT = 204


@router.get("", responses=problem_responses(403))
async def list_grants(caller: CallerDep, service: ServiceDep) -> GrantList:
    """List your valid grants: the actions of the assistant that need no approval."""
    return GrantList(items=[grant_view(grant) for grant in await service.graph.grants(caller.user_id)])


@router.delete("/{grant_id}", status_code=NO_CONTENT, responses=problem_responses(403, 404))
async def withdraw_grant(grant_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Withdraw a grant: its actions need an approval again. Changes made with it can be undone with their run.

    A key withdraws only grants for actions that it could do itself (403 `missing_scope`).
    """
    grant = next((one for one in await service.graph.grants(caller.user_id) if one.grant_id == grant_id), None)
    if grant is None:
        raise NotFoundError("no_grant")
    require_scopes(caller, scopes_of(grant.bounds.kinds))
    await service.graph.withdraw_grant(caller.user_id, grant_id)
    return Response(status_code=NO_CONTENT)


def grant_view(grant: Grant) -> GrantView:
    """Return a grant as clients see it."""
    bounds = grant.bounds
    return GrantView(
        grant_id=grant.grant_id,
        kinds=sorted(bounds.kinds),
        folder_ids=sorted(bounds.folders),
        max_items=bounds.max_items,
        used=bounds.used,
        expires_at=bounds.until,
        given_at=grant.given_at,
        approval_id=grant.approval_id,
    )
