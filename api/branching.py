"""Branches of a thread in LangGraph's checkpoints: a turn's beginning, and the thread's state at a checkpoint.

A message that is edited begins a branch at the checkpoint before it; the checkpoints of the earlier answer stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, empty_checkpoint

NOTHING: Final = ""
"""In place of a checkpoint's id: there was nothing yet."""
INPUT: Final = "__start__"
"""LangGraph's channel of a turn's first input."""


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """The ids of the checkpoint before a turn, and of its newest one; `NOTHING` if there is none."""

    base: str
    head: str


async def state_at(graph: Any, thread_id: str, at: str | None) -> Mapping[str, Any]:
    """Return the state of a thread at a checkpoint; None is its newest one."""
    if at == NOTHING:
        return {}
    place = {"thread_id": thread_id} if at is None else {"thread_id": thread_id, "checkpoint_id": at}
    return (await graph.aget_state({"configurable": place})).values


async def find_branch_point(saver: BaseCheckpointSaver[Any], thread_id: str, message_id: str) -> BranchPoint:
    """Return where the turn of a message began, and where its thread is now.

    A turn that made no step, as it failed before, began where the thread is.
    """
    config: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    newest = await saver.aget_tuple(config)
    head = _id(newest.config) if newest else NOTHING
    async for found in saver.alist(config, filter={"source": "input"}):
        if _begins(found, message_id):
            return BranchPoint(_id(found.parent_config), head)
    return BranchPoint(head, head)


async def store_root(saver: BaseCheckpointSaver[Any], thread_id: str) -> str:
    """Store a checkpoint with nothing in it and none before it, and return its id."""
    checkpoint = empty_checkpoint()
    config: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    stored = await saver.aput(config, checkpoint, {"source": "update", "step": -2, "parents": {}}, {})
    return _id(stored)


def _begins(found: CheckpointTuple, message_id: str) -> bool:
    given: Any = found.checkpoint["channel_values"].get(INPUT)
    messages = given.get("messages", ()) if isinstance(given, Mapping) else ()
    return any(isinstance(message, BaseMessage) and message.id == message_id for message in messages)


def _id(config: Any) -> str:
    return str(config["configurable"]["checkpoint_id"]) if config else NOTHING
