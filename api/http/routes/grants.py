"""Grants: what the assistant may do unasked, given with an approval."""

from dataclasses import asdict

from fastapi import APIRouter, Response

from api.assistant import GrantInfo
from api.errors import NotFoundError
from api.http.deps import CallerDep, ServiceDep
from api.http.problems import problem_responses
from api.http.schemas import GrantList, GrantView

router = APIRouter(prefix="/grants", tags=["grants"])

NO_CONTENT = 204


@router.get("", responses=problem_responses())
async def list_grants(caller: CallerDep, service: ServiceDep) -> GrantList:
    """List what the assistant may do unasked, for you, now."""
    return GrantList(items=[grant_view(grant) for grant in await service.graph.grants(caller.user_id)])


@router.delete("/{grant_id}", status_code=NO_CONTENT, responses=problem_responses(404))
async def withdraw_grant(grant_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Withdraw a grant: from now on you are asked again. What was done with it can be undone with its run."""
    if not await service.graph.withdraw_grant(caller.user_id, grant_id):
        raise NotFoundError("There is no such grant.")
    return Response(status_code=NO_CONTENT)


def grant_view(grant: GrantInfo) -> GrantView:
    """Return a grant as clients see it."""
    known = asdict(grant)
    return GrantView(expires_at=known.pop("until"), **known)
