"""The routes of runs without a thread, and of several runs at once."""

from contextlib import suppress
from typing import Annotated, Final, Literal

from fastapi import Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.status import HTTP_204_NO_CONTENT

from api.drive import Principal
from api.errors import InvalidRequestError, NotFoundError
from api.http.dependencies import CallerDep
from api.langgraph.entrance import ClientRouter, Json, answer_json
from api.langgraph.runs.answering import modes_of, stream_of, wait_for
from api.langgraph.runs.begin import Begun
from api.langgraph.runs.bodies import MAX_IDS, RunBody
from api.langgraph.runs.clients import Clients, ClientsDep
from api.langgraph.runs.routes import DEFAULT_MODES, stop
from api.langgraph.runs.rows import PENDING, RUNNING, ClientRunRows, run_view
from api.langgraph.runs.temporary import delete_when_over
from api.storage.tables import ClientRunRow

router = ClientRouter("/runs")

MAX_AT_ONCE: Final = 20


class Cancelling(BaseModel):
    """The runs to stop: some of a thread, or all that are pending or at work."""

    thread_id: str | None = None
    run_ids: list[str] | None = Field(default=None, max_length=MAX_IDS)
    status: Literal["pending", "running", "all"] | None = None


@router.post("")
async def create_run(body: RunBody, caller: CallerDep, clients: ClientsDep) -> Response:
    """Begin a run, and return it at once."""
    return answer_json(await _created(clients, caller, body))


@router.post("/batch")
async def create_runs(
    bodies: Annotated[list[RunBody], Field(max_length=MAX_AT_ONCE)], caller: CallerDep, clients: ClientsDep
) -> Response:
    """Begin several runs, and return them at once."""
    return answer_json([await _created(clients, caller, body) for body in bodies])


@router.post("/stream")
async def stream_run(body: RunBody, caller: CallerDep, clients: ClientsDep, request: Request) -> Response:
    """Begin a run, and return its events."""
    modes = modes_of(body.stream_mode, DEFAULT_MODES)
    begun = await _begun(clients, caller, body)
    cancels = body.on_disconnect == "cancel"
    return stream_of(clients, caller, request, begun, modes, cancels=cancels, deletes=_deletes(body))


@router.post("/wait")
async def wait_for_run(body: RunBody, caller: CallerDep, clients: ClientsDep, request: Request) -> Response:
    """Begin a run, and return the values at its end."""
    row = (await _begun(clients, caller, body)).row
    cancels = body.on_disconnect == "cancel"
    return wait_for(clients, caller, request, row, cancels=cancels, deletes=_deletes(body))


@router.post("/cancel")
async def cancel_runs(
    body: Cancelling,
    caller: CallerDep,
    clients: ClientsDep,
    action: Annotated[Literal["interrupt", "rollback"], Query()] = "interrupt",
) -> Response:
    """Stop runs. Those that are over count for nothing."""
    for row in await _chosen(clients, caller, body):
        with suppress(NotFoundError):
            await stop(clients, caller, row, rolls_back=action == "rollback")
    return Response(status_code=HTTP_204_NO_CONTENT)


async def _chosen(clients: Clients, caller: Principal, body: Cancelling) -> list[ClientRunRow]:
    """Return the active runs that a request names. Raises `InvalidRequestError` if it names none."""
    if not body.run_ids and body.status is None:
        raise InvalidRequestError("which_runs")
    wanted = {PENDING, RUNNING} if body.status in (None, "all") else {body.status}
    active = await ClientRunRows(clients.service).active(caller)
    in_thread = [row for row in active if body.thread_id in (None, row.thread_id)]
    named = [row for row in in_thread if not body.run_ids or row.id in body.run_ids]
    return [row for row in named if row.status in wanted]


async def _created(clients: Clients, caller: Principal, body: RunBody) -> Json:
    row = (await _begun(clients, caller, body)).row
    if _deletes(body):
        clients.spawn(delete_when_over(clients.service, caller, row.thread_id), f"end of thread {row.thread_id}")
    return run_view(row)


async def _begun(clients: Clients, caller: Principal, body: RunBody) -> Begun:
    """Begin a run on a thread of its own; without the run there is no thread either."""
    return await clients.begin(caller, None, body, is_temporary=_deletes(body))


def _deletes(body: RunBody) -> bool:
    return body.on_completion != "keep"
