"""Tell the steps of a turn that somebody may see from mere thinking, by their checkpoints."""

from collections.abc import Mapping
from typing import Any, Final

from langgraph.checkpoint.serde.types import TASKS

from graph.approvals.act import only_reads
from graph.state import AGENTS

BEGINNING: Final = "__start__"
"""The channel of a checkpoint with nothing but a turn's input, which LangGraph hands to the first node."""
THINKING: Final = frozenset(f"branch:to:{node}" for node in ("begin", "cite", *AGENTS)) | {BEGINNING}
"""Channels of a checkpoint before mere thinking, which nobody sees if it is repeated."""


def may_be_seen(values: Mapping[str, Any]) -> bool:
    """Say whether more follows the checkpoint of these values than thinking and reading, or nothing."""
    tasks = values.get(TASKS) or ()
    if values.get("plan") or not only_reads(tasks):
        return True
    return not tasks and THINKING.isdisjoint(values)


def is_one_thought(values: Mapping[str, Any]) -> bool:
    """Say whether exactly one node follows the checkpoint, and only thinks: a kill leaves it to be done again."""
    branches = [channel for channel in values if channel.startswith("branch:to:") or channel == BEGINNING]
    return len(branches) == 1 and not values.get(TASKS) and not may_be_seen(values)
