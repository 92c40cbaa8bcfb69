"""Whether the service lives and is ready, and the page that says what it is."""

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from api.http.deps import ServiceDep
from api.service import OK
from drive_server.http.problem import problem

router = APIRouter(tags=["system"])

PAGE = Path(__file__).parents[2] / "web" / "index.html"


@router.get("/", include_in_schema=False)
async def index() -> FileResponse:
    """Say what this is, in English and Chinese."""
    return FileResponse(PAGE, headers={"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"})


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answer as long as the process is up."""
    return {"status": OK}


@router.get("/readyz", response_model=dict[str, Any], responses={503: {"description": "A part is not ready."}})
async def readyz(service: ServiceDep) -> Any:
    """Say whether everything that a request needs is there; if not (503), what is missing."""
    checks = await service.readiness()
    missing = [name for name, state in checks.items() if state != OK]
    if missing:
        return _not_ready(checks, missing)
    return {"status": "ready", "checks": checks}


def _not_ready(checks: dict[str, str], missing: list[str]) -> Response:
    sentence = f"Not ready: {', '.join(missing)}."
    return problem(503, "not_ready", sentence, "See the service's log.", {"checks": checks})
