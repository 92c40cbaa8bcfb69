"""The routes of the runs of a thread."""

from typing import Annotated, Final, Literal

from fastapi import Header, Query, Request
from starlette.responses import Response
from starlette.status import HTTP_202_ACCEPTED, HTTP_204_NO_CONTENT

from api.drive import Principal
from api.errors import NotFoundError, RunFinishedError
from api.http.dependencies import CallerDep, WriterDep
from api.langgraph.entrance import ClientRouter, answer_json
from api.langgraph.runs.answering import addresses_of, modes_of, stream_of, wait_for
from api.langgraph.runs.begin import Begun
from api.langgraph.runs.bodies import RunBody
from api.langgraph.runs.clients import Clients, ClientsDep
from api.langgraph.runs.room import roll_back
from api.langgraph.runs.rows import ACTIVE, ClientRunRows, run_view
from api.langgraph.streams.frames import read_place
from api.langgraph.streams.modes import MODES, Mode
from api.langgraph.threads.rows import ClientThreads
from api.storage.tables import ClientRunRow

router = ClientRouter("/threads/{thread_id}/runs")

DEFAULT_MODES: Final[frozenset[Mode]] = frozenset({"values"})
RunStatus = Literal["pending", "running", "success", "error", "interrupted", "timeout"]


@router.post("")
async def create_run(thread_id: str, body: RunBody, caller: CallerDep, clients: ClientsDep) -> Response:
    """Begin a run, and return it at once."""
    row = (await clients.begin(caller, thread_id, body)).row
    return answer_json(run_view(row), Content_Location=addresses_of(row, "join")["Content-Location"])


@router.post("/stream")
async def stream_run(
    thread_id: str, body: RunBody, caller: CallerDep, clients: ClientsDep, request: Request
) -> Response:
    """Begin a run, and return its events."""
    modes = modes_of(body.stream_mode, DEFAULT_MODES)
    begun = await clients.begin(caller, thread_id, body)
    return stream_of(clients, caller, request, begun, modes, cancels=body.on_disconnect == "cancel")


@router.post("/wait")
async def wait_for_run(
    thread_id: str, body: RunBody, caller: CallerDep, clients: ClientsDep, request: Request
) -> Response:
    """Begin a run, and return the values at its end."""
    row = (await clients.begin(caller, thread_id, body)).row
    return wait_for(clients, caller, request, row, cancels=body.on_disconnect == "cancel")


@router.get("")
async def list_runs(
    thread_id: str,
    caller: CallerDep,
    clients: ClientsDep,
    status: RunStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 10,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """List the runs of clients on a thread, the newest first."""
    await ClientThreads(clients.service).get(caller, thread_id)
    rows = await ClientRunRows(clients.service).of_thread(caller, thread_id)
    found = [row for row in rows if status in (None, row.status)]
    return answer_json([run_view(row) for row in found[offset : offset + limit]], total=len(found))


@router.get("/{run_id}")
async def get_run(thread_id: str, run_id: str, caller: CallerDep, clients: ClientsDep) -> Response:
    """Return a run."""
    return answer_json(run_view(await ClientRunRows(clients.service).get(caller, thread_id, run_id)))


@router.delete("/{run_id}")
async def delete_run(thread_id: str, run_id: str, caller: WriterDep, clients: ClientsDep) -> Response:
    """Forget a run that is over; its messages and its changes stay."""
    rows = ClientRunRows(clients.service)
    await rows.remove(await rows.get(caller, thread_id, run_id))
    return Response(status_code=HTTP_204_NO_CONTENT)


@router.post("/{run_id}/cancel")
async def cancel_run(
    thread_id: str,
    run_id: str,
    caller: CallerDep,
    clients: ClientsDep,
    wait: Annotated[bool, Query()] = False,
    action: Annotated[Literal["interrupt", "rollback"], Query()] = "interrupt",
) -> Response:
    """Stop a run. Its changes stay and can be undone; with `rollback` they are undone."""
    row = await ClientRunRows(clients.service).get(caller, thread_id, run_id)
    await stop(clients, caller, row, rolls_back=action == "rollback")
    return answer_json({}, status=200 if wait else HTTP_202_ACCEPTED)


@router.get("/{run_id}/join")
async def join_run(
    thread_id: str,
    run_id: str,
    caller: CallerDep,
    clients: ClientsDep,
    request: Request,
    cancel_on_disconnect: Annotated[bool, Query()] = False,
) -> Response:
    """Return the values at the end of a run."""
    row = await ClientRunRows(clients.service).get(caller, thread_id, run_id)
    return wait_for(clients, caller, request, row, cancels=cancel_on_disconnect)


@router.get("/{run_id}/stream")
async def join_run_stream(
    thread_id: str,
    run_id: str,
    caller: CallerDep,
    clients: ClientsDep,
    request: Request,
    stream_mode: Annotated[list[str] | None, Query()] = None,
    cancel_on_disconnect: Annotated[bool, Query()] = False,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the events of a run, those behind `Last-Event-ID` or from its beginning."""
    modes = modes_of(stream_mode, MODES)
    row = await ClientRunRows(clients.service).get(caller, thread_id, run_id)
    place = read_place(last_event_id)
    return stream_of(clients, caller, request, Begun(row), modes, place=place, cancels=cancel_on_disconnect)


async def stop(clients: Clients, caller: Principal, row: ClientRunRow, *, rolls_back: bool) -> None:
    """Stop a client run. Raises `NotFoundError` for one that is over."""
    rows = ClientRunRows(clients.service)
    if row.status not in ACTIVE:
        raise NotFoundError("no_active_run")
    if row.run_id is None:
        await rows.stop_pending(row)
        clients.queue.tell()
        return
    try:
        await clients.service.runs.cancel(caller, row.run_id)
    except RunFinishedError as error:
        raise NotFoundError("no_active_run") from error
    if rolls_back:
        await roll_back(clients.service, caller, row.run_id)
