"""The states of a thread: the newest one, one at a checkpoint, and those before."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final, cast

from langgraph.types import StateSnapshot

from api.drive import Principal
from api.errors import NotFoundError
from api.langgraph.assistants.views import GRAPH_ID, public_id
from api.langgraph.entrance import Json, contains
from api.langgraph.threads.interrupts import by_task, interrupts_of, waiting_tasks
from api.langgraph.threads.rows import ClientThread
from api.langgraph.threads.values import ThreadValues, shown_values
from api.service import Service
from api.threads import UNTITLED

MAX_LOOKED_AT: Final = 1_000
"""States that a filter by metadata looks at."""


async def thread_view(service: Service, caller: Principal, thread: ClientThread, *, with_values: bool = True) -> Json:
    """Return a thread in LangGraph's shape."""
    run, row = thread.run, thread.row
    tasks = await waiting_tasks(service, caller, run) if with_values else []
    values = await newest_values(service, caller, thread) if with_values else None
    return {
        "thread_id": row.id,
        "created_at": row.created_at.isoformat(),
        "updated_at": row.updated_at.isoformat(),
        "state_updated_at": row.updated_at.isoformat(),
        "metadata": metadata_of(thread),
        "status": thread.status,
        "config": thread.extra.config if thread.extra else {},
        "values": values,
        "interrupts": by_task(tasks),
        "error": None,
    }


def metadata_of(thread: ClientThread) -> Json:
    """Return a thread's metadata: the client's own, and by which graph and assistant it is answered once it is."""
    stored = dict(thread.extra.about) if thread.extra else {}
    named = {} if thread.row.title == UNTITLED else {"title": thread.row.title}
    if thread.run is None:
        return {**named, **stored}
    answered = {"graph_id": GRAPH_ID, "assistant_id": public_id(thread.row.assistant_id)}
    return {**named, **stored, **answered}


async def newest_values(
    service: Service, caller: Principal, thread: ClientThread, shown: ThreadValues | None = None
) -> Json:
    """Return the values of a thread as it is now; nothing for one in which nothing was said.

    `shown` are those of its states that were shown before.
    """
    values = await service.values(thread.row.id, thread.run)
    if not values and thread.run is None and not thread.drafts:
        return {}
    shown = shown or ThreadValues(service, caller, thread.row.id)
    return await shown.show(values, run=thread.run, drafts=thread.drafts)


async def newest_state(
    service: Service, caller: Principal, thread: ClientThread, shown: ThreadValues | None = None
) -> Json:
    """Return the newest state of a thread; `shown` as for `newest_values`."""
    snapshot = await _snapshot(service, {"thread_id": thread.row.id})
    return await _newest_view(service, caller, thread, snapshot, shown)


async def state_at(service: Service, caller: Principal, thread: ClientThread, checkpoint_id: str) -> Json:
    """Return the state at a checkpoint of a thread. Raises `NotFoundError`."""
    newest = await _snapshot(service, {"thread_id": thread.row.id})
    if _id_in(newest.config) == checkpoint_id:
        return await _newest_view(service, caller, thread, newest)
    snapshot = await _snapshot(service, {"thread_id": thread.row.id, "checkpoint_id": checkpoint_id})
    if snapshot.created_at is None:
        raise NotFoundError("no_checkpoint")
    values = await shown_values(service, caller, thread.row.id, snapshot.values)
    return _state(thread, snapshot, values, list(snapshot.next), [])


async def history(
    service: Service,
    caller: Principal,
    thread: ClientThread,
    *,
    limit: int,
    before: str | None = None,
    at: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> list[Json]:
    """Return the states of a thread, the newest first: those before a checkpoint, or from one `at` which it was."""
    views: list[Json] = []
    newest = _id_in((await _snapshot(service, {"thread_id": thread.row.id})).config)
    wanted = MAX_LOOKED_AT if metadata else limit
    shown = ThreadValues(service, caller, thread.row.id)
    async with aclosing(_snapshots(service, thread.row.id, wanted, before, at)) as snapshots:
        async for snapshot in snapshots:
            is_newest = _id_in(snapshot.config) == newest
            if is_newest:
                view = await _newest_view(service, caller, thread, snapshot, shown)
            else:
                view = _state(thread, snapshot, await shown.show(snapshot.values), list(snapshot.next), [])
            if contains(view["metadata"], dict(metadata or {})):
                views.append(view)
            if len(views) >= limit:
                break
    return views


async def _snapshots(
    service: Service, thread_id: str, limit: int, before: str | None, at: str | None
) -> AsyncGenerator[StateSnapshot]:
    place = {"thread_id": thread_id} | ({"checkpoint_id": at} if at else {})
    earlier = {"configurable": {"thread_id": thread_id, "checkpoint_id": before}} if before else None
    found: AsyncIterator[StateSnapshot] = service.graph.graph.aget_state_history(
        {"configurable": place}, before=earlier, limit=limit
    )
    async for snapshot in found:
        yield snapshot


async def _newest_view(
    service: Service,
    caller: Principal,
    thread: ClientThread,
    snapshot: StateSnapshot,
    shown: ThreadValues | None = None,
) -> Json:
    """Return the newest state, with the tasks that wait in it; a run that is over left nothing to do."""
    tasks = await waiting_tasks(service, caller, thread.run, snapshot)
    values = await newest_values(service, caller, thread, shown)
    is_active = thread.run is not None and thread.run.finished_at is None
    following = list(snapshot.next) if is_active else []
    return _state(thread, snapshot, values, following, tasks)


def _state(
    thread: ClientThread, snapshot: StateSnapshot, values: Json, following: list[str], tasks: list[Json]
) -> Json:
    noted = cast("Mapping[str, Any]", snapshot.metadata or {})
    known = {name: noted[name] for name in ("source", "step", "parents") if name in noted}
    return {
        "values": values,
        "next": following,
        "tasks": tasks,
        "interrupts": interrupts_of(tasks),
        "metadata": {**known, "thread_id": thread.row.id, "graph_id": GRAPH_ID},
        "created_at": snapshot.created_at,
        "checkpoint": checkpoint_of(thread.row.id, snapshot.config),
        "parent_checkpoint": checkpoint_of(thread.row.id, snapshot.parent_config) if snapshot.parent_config else None,
    }


def checkpoint_of(thread_id: str, config: Any) -> Json:
    """Return a checkpoint's place, for clients to send back."""
    return {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": _id_in(config), "checkpoint_map": None}


def _id_in(config: Any) -> str | None:
    return config["configurable"].get("checkpoint_id") if config else None


async def _snapshot(service: Service, place: Mapping[str, str]) -> StateSnapshot:
    return cast("StateSnapshot", await service.graph.graph.aget_state({"configurable": dict(place)}))
