"""The state of the whole service, for administrators."""

from fastapi import APIRouter, Request

from api.http.dependencies import CallerDep
from api.metrics.status import ServiceStatus, StatusReader
from drive_server.kernel.http.problem import problem_responses

router = APIRouter(prefix="/status", tags=["system"])


@router.get("", responses=problem_responses(403))
async def service_status(request: Request, caller: CallerDep) -> ServiceStatus:
    """Return versions, sizes, backlog, people, and open work. Only for administrators."""
    reader: StatusReader = request.app.state.status
    return await reader.read(caller)
