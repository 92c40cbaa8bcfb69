"""The health and readiness of the service."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from api.errors import render
from api.http.dependencies import CallerDep, ServiceDep
from api.metrics.scrape import CONTENT_TYPE, scrape
from api.service import OK
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import problem, problem_responses
from drive_server.kernel.messages import Language

router = APIRouter(tags=["system"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answer while the process runs."""
    return {"status": OK}


@router.get("/readyz", response_model=dict[str, Any], responses=problem_responses(503))
async def readyz(service: ServiceDep, request: Request) -> Any:
    """Return the state of each part; 503 with the missing ones if a request could not be served.

    With a damaged search index the service is `degraded`: everything works, but searches may find names only.
    """
    checks = await service.readiness()
    missing = [name for name, state in checks.items() if state != OK]
    if missing:
        return _not_ready(checks, missing, language_of(request))
    index = service.drive.index_state
    return {"status": "ready" if index == OK else "degraded", "checks": {**checks, "index": index}}


@router.get("/metrics", response_class=PlainTextResponse, responses=problem_responses(401, 403))
async def metrics(service: ServiceDep, caller: CallerDep) -> Response:
    """Return Prometheus' text format, for administrators: counters of this process, and gauges of the whole service."""
    return Response(await scrape(caller, service.database, service.drive, service.clock), media_type=CONTENT_TYPE)


def _not_ready(checks: dict[str, str], missing: list[str], language: Language) -> Response:
    sentence = render("not_ready", language, missing=", ".join(missing))
    hint = render("not_ready.hint", language)
    return problem(503, "not_ready", sentence, hint, {"checks": checks}, language=language)
