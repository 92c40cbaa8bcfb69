"""A run from an earlier checkpoint: another version of a message, the last one or an earlier one."""

from typing import Any, cast

from langgraph.types import StateSnapshot

from api.errors import NotFoundError, StaleCheckpointError
from api.langgraph.threads.rows import ClientThread
from api.service import Service
from api.storage.tables import RunRow


async def replaced_run(service: Service, thread: ClientThread, checkpoint_id: str | None) -> RunRow | None:
    """Return the run whose message a run from this checkpoint gives another version; None: it goes on at the end.

    At the end of a turn that is the run that followed. A client names the newest checkpoint that it knows with every
    message: while a run works, that is no wish to replace it. Raises `NotFoundError`, and `StaleCheckpointError` for a
    checkpoint of a version that was left.
    """
    run = thread.run
    if checkpoint_id is None or (run is not None and run.finished_at is None):
        return None
    newest = _id_in((await _snapshot(service, thread.row.id)).config)
    if newest == checkpoint_id:
        return None
    found = await _snapshot(service, thread.row.id, checkpoint_id)
    if found.created_at is None:
        raise NotFoundError("no_checkpoint")
    path = [one for one in await service.threads.runs(thread.row.id) if one.head_checkpoint is None]
    replaced = await _replaced(service, path, found)
    if replaced is None:
        raise StaleCheckpointError(checkpoint_id=newest)
    return replaced


async def is_earlier(service: Service, thread: ClientThread, checkpoint_id: str | None) -> bool:
    """Say whether a checkpoint is one before the turn that came before the run that works.

    A client names the newest checkpoint that it knows: that of the last turn, if it has not heard of a later one.
    """
    if checkpoint_id is None:
        return False
    said = _said(await _snapshot(service, thread.row.id, checkpoint_id))
    path = [run.id for run in await service.threads.runs(thread.row.id) if run.head_checkpoint is None]
    return len(path) > 1 and said.isdisjoint(path[-2:])


def _said(found: StateSnapshot) -> set[str]:
    return {message.id for message in found.values.get("messages", ()) if message.type == "human"}


async def _replaced(service: Service, path: list[RunRow], found: StateSnapshot) -> RunRow | None:
    """Return the run that begins at a state, or the one in whose turn the state is."""
    said = [message.id for message in found.values.get("messages", ()) if message.type == "human"]
    known = [index for index, run in enumerate(path) if run.id in said]
    following = path[known[-1] + 1 :] if known else path
    if following and await _begins_at(service, following[0], found):
        return following[0]
    is_in_turn = known and said[-1] == path[known[-1]].id
    return path[known[-1]] if is_in_turn else None


async def _begins_at(service: Service, run: RunRow, found: StateSnapshot) -> bool:
    """Say whether a state is the one before the message of a run, or the one that takes the message in."""
    base = run.base_checkpoint
    if base is None:
        base = (await service.graph.branch_point(run.thread_id, run.id)).base
    is_input = _id_in(found.parent_config) == base and (found.metadata or {}).get("source") == "input"
    return is_input or _id_in(found.config) == base


def _id_in(config: object) -> str:
    places = cast("dict[str, dict[str, str]]", config or {})
    return places.get("configurable", {}).get("checkpoint_id", "")


async def _snapshot(service: Service, thread_id: str, checkpoint_id: str = "") -> StateSnapshot:
    place: dict[str, Any] = {"thread_id": thread_id} | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})
    return cast("StateSnapshot", await service.graph.graph.aget_state({"configurable": place}))
