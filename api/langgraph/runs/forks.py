"""A run from an earlier checkpoint: another version of the last message. Earlier messages have one version."""

from typing import cast

from langgraph.types import StateSnapshot

from api.errors import NotFoundError, NotLastMessageError
from api.langgraph.threads.rows import ClientThread
from api.service import Service


async def replaced_run(service: Service, thread: ClientThread, checkpoint_id: str | None) -> str | None:
    """Return the run whose message a run from this checkpoint gives another version; None: it goes on at the end.

    A client names the newest checkpoint that it knows with every message: while a run works, that is no wish to
    replace it. Raises `NotLastMessageError` for a checkpoint before the last message, and `NotFoundError`.
    """
    run = thread.run
    if checkpoint_id is None or (run is not None and run.finished_at is None):
        return None
    newest = await _snapshot(service, thread.row.id)
    if _id_in(newest.config) == checkpoint_id:
        return None
    found = await _snapshot(service, thread.row.id, checkpoint_id)
    if found.created_at is None:
        raise NotFoundError("no_checkpoint")
    if run is None:
        raise NotLastMessageError(message_id="")
    point = await service.graph.branch_point(thread.row.id, run.id)
    base = point.base if run.base_checkpoint is None else run.base_checkpoint
    is_in_turn = any(message.id == run.id for message in found.values.get("messages", ()))
    is_input = _id_in(found.parent_config) == base and (found.metadata or {}).get("source") == "input"
    if checkpoint_id != base and not is_in_turn and not is_input:
        raise NotLastMessageError(message_id=run.id)
    return run.id


def _id_in(config: object) -> str:
    places = cast("dict[str, dict[str, str]]", config or {})
    return places.get("configurable", {}).get("checkpoint_id", "")


async def _snapshot(service: Service, thread_id: str, checkpoint_id: str = "") -> StateSnapshot:
    at = {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
    return cast("StateSnapshot", await service.graph.graph.aget_state({"configurable": {"thread_id": thread_id, **at}}))
