"""The HTTP application around a service: routes, errors, description. It knows neither drive nor graph."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version

from fastapi import APIRouter, Depends, FastAPI

from api.http.dependencies import bearer
from api.http.routes import approvals, chat, grants, memories, plans, runs, system, threads
from drive_server.http.problem import install_problem_handlers

DESCRIPTION = """
Your drive, and an assistant that works in it, asks before what matters, and can take all of it back.

Send the local access token (file `token` in the data directory) or an API key as `Authorization: Bearer ...`.
Errors are `application/problem+json` with a stable `code`, a sentence in `detail`, and a `hint`.
"""


def build_api(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]]) -> FastAPI:
    """Return the application. `lifespan` has to put the running `Service` into `app.state.service`."""
    app = FastAPI(title="Drive Agent", version=version("drive-agent"), description=DESCRIPTION, lifespan=lifespan)
    api = APIRouter(prefix="/api", dependencies=[Depends(bearer)])
    for part in (chat, runs, approvals, grants, threads, plans, memories):
        api.include_router(part.router)
    app.include_router(api)
    app.include_router(system.router)
    install_problem_handlers(app)
    return app
