"""The routes of states: the newest one, one at a checkpoint, earlier ones, and a client's additions."""

from typing import Annotated, Any, cast

from fastapi import Query
from starlette.responses import Response

from api.drive import Principal
from api.errors import InvalidRequestError, StaleCheckpointError
from api.http.dependencies import CallerDep, ServiceDep
from api.langgraph.entrance import ClientRouter, answer_json
from api.langgraph.threads.bodies import HistoryQuery, StateQuery, StateUpdate
from api.langgraph.threads.messages import are_human, human_messages
from api.langgraph.threads.rows import ClientThreads
from api.langgraph.threads.states import history, newest_state, state_at
from api.service import Service
from api.storage.tables import new_id

router = ClientRouter("/threads/{thread_id}")


@router.get("/state")
async def get_state(thread_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Return the newest state of a thread."""
    return answer_json(await newest_state(service, caller, await ClientThreads(service).get(caller, thread_id)))


@router.get("/state/{checkpoint_id}")
async def get_state_at(thread_id: str, checkpoint_id: str, caller: CallerDep, service: ServiceDep) -> Response:
    """Return the state at a checkpoint."""
    return await _state_at(caller, service, thread_id, checkpoint_id)


@router.post("/state/checkpoint")
async def post_state_at(thread_id: str, body: StateQuery, caller: CallerDep, service: ServiceDep) -> Response:
    """Return the state at a checkpoint."""
    return await _state_at(caller, service, thread_id, body.checkpoint.checkpoint_id)


@router.post("/state")
async def update_state(thread_id: str, body: StateUpdate, caller: CallerDep, service: ServiceDep) -> Response:
    """Add human messages for the next run; a state can't be updated otherwise, and no update answers a question."""
    threads = ClientThreads(service)
    thread = await threads.get(caller, thread_id)
    state = await newest_state(service, caller, thread)
    wanted = body.checkpoint_id or (body.checkpoint.checkpoint_id if body.checkpoint else None)
    newest = state["checkpoint"]["checkpoint_id"]
    messages = _new_messages(body.values)
    if wanted is not None and wanted != newest:
        raise StaleCheckpointError(checkpoint_id=str(newest))
    await threads.add_drafts(caller, thread_id, messages)
    return answer_json({"checkpoint": state["checkpoint"], "configurable": state["checkpoint"]})


@router.get("/history")
async def get_history(
    thread_id: str,
    caller: CallerDep,
    service: ServiceDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 10,
    before: Annotated[str | None, Query(max_length=64)] = None,
) -> Response:
    """Return the states of a thread, the newest first."""
    return await _history(caller, service, thread_id, HistoryQuery(limit=limit, before=before))


@router.post("/history")
async def post_history(
    thread_id: str, caller: CallerDep, service: ServiceDep, body: HistoryQuery | None = None
) -> Response:
    """Return the states of a thread, the newest first."""
    return await _history(caller, service, thread_id, body or HistoryQuery())


async def _history(caller: Principal, service: Service, thread_id: str, wanted: HistoryQuery) -> Response:
    thread = await ClientThreads(service).get(caller, thread_id)
    at = wanted.checkpoint.checkpoint_id if wanted.checkpoint else None
    found = await history(
        service, caller, thread, limit=wanted.limit, before=wanted.before_id(), at=at, metadata=wanted.metadata
    )
    return answer_json(found)


async def _state_at(caller: Principal, service: Service, thread_id: str, checkpoint_id: str | None) -> Response:
    thread = await ClientThreads(service).get(caller, thread_id)
    if checkpoint_id is None:
        return answer_json(await newest_state(service, caller, thread))
    return answer_json(await state_at(service, caller, thread, checkpoint_id))


def _new_messages(values: Any) -> list[dict[str, str]]:
    """Return the human messages of an update. Raises `InvalidRequestError` for an update of anything else."""
    given = cast("dict[str, Any]", values) if isinstance(values, dict) else {}
    if set(given) != {"messages"} or not are_human(given["messages"]):
        raise InvalidRequestError("only_human_messages")
    return [{**one, "id": one["id"] or new_id()} for one in human_messages(given["messages"])]
