"""Questions of clients before they begin: whether the service is there, and which one it is."""

from importlib.metadata import version

from fastapi import APIRouter
from starlette.responses import Response

from api.errors import NoSchedulesError
from api.http.dependencies import CallerDep
from api.langgraph.entrance import ClientRoute, answer_json

router = APIRouter(route_class=ClientRoute, include_in_schema=False)


@router.get("/ok")
async def is_ok() -> Response:
    """Answer while the process runs."""
    return answer_json({"ok": True})


@router.get("/info")
async def get_info() -> Response:
    """Return the version; agent-chat-ui goes on with any answer of success."""
    return answer_json({"version": version("drive-agent"), "flags": {"assistants": True, "crons": False}})


@router.post("/runs/crons")
@router.post("/runs/crons/search")
@router.post("/runs/crons/count")
@router.patch("/runs/crons/{cron_id}")
@router.delete("/runs/crons/{cron_id}")
@router.post("/threads/{thread_id}/runs/crons")
async def refuse_schedules(caller: CallerDep) -> Response:
    """Refuse: there are no schedules yet."""
    del caller
    raise NoSchedulesError
