"""What a thread came to and is not stored yet: of the steps between two storings, only those that stay are stored.

A step that another one follows a few milliseconds later is no place that anybody comes back to. What was said at it is
kept with the step before, as `api/storage/compaction.py` does it with what is stored already.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata, writes_sort_key
from langgraph.types import Overwrite

from api.storage.packing import Kept

INPUTS: Final = frozenset({"input", "update", "fork"})
MERGED: Final = "00000000-0000-5000-8000-000000000000"
"""Id of the task that merged messages are stored under; no task has it, nor is it langgraph's for writes of no task."""
ID: Final = "checkpoint_id"
COUNTERS: Final = "counters_since_delta_snapshot"
"""Key of a checkpoint's metadata: how many steps ago a channel of differences was stored whole, if any."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a task wrote at the checkpoint that `config` names."""

    config: RunnableConfig
    writes: Sequence[tuple[str, Any]]
    task_id: str
    task_path: str = ""

    @property
    def checkpoint_id(self) -> str:
        """The checkpoint's id."""
        return _id_in(self.config)


@dataclass(frozen=True, slots=True)
class Step:
    """A checkpoint, and what was written at it. `config` names the one before."""

    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    written: list[Written] = field(default_factory=list[Written])

    @property
    def id(self) -> str:
        """The checkpoint's id."""
        return self.checkpoint["id"]

    @property
    def parent(self) -> str:
        """The id of the one before; empty for the first of a thread."""
        return _id_in(self.config)

    @property
    def named(self) -> RunnableConfig:
        """What names the checkpoint."""
        named = self.config.get("configurable", {})
        return {"configurable": {key: named.get(key, "") for key in ("thread_id", "checkpoint_ns")} | {ID: self.id}}

    def after(self, other: "Step") -> "Step":
        """Return the step as one that follows the other."""
        named = {**self.config.get("configurable", {}), ID: other.id}
        return replace(self, config=cast("RunnableConfig", {**self.config, "configurable": named}))


class Unstored:
    """The steps of one thread, in their order, and what was written at those before them."""

    def __init__(self, channel: str) -> None:
        self.written: list[Written] = []
        self._channel = channel
        self._steps: dict[str, Step] = {}

    def add(self, step: Step) -> None:
        """Take a step."""
        self._steps[step.id] = step

    def write(self, written: Written) -> None:
        """Take what a task wrote, at one of these steps or at a stored one."""
        step = self._steps.get(written.checkpoint_id)
        (step.written if step else self.written).append(written)

    def staying(self) -> list[Step]:
        """Return the steps that are to be stored; all of them where they branch, or where messages are replaced."""
        steps = list(self._steps.values())
        if not self._can_be_fewer(steps):
            return steps
        stay = staying([is_input(step.metadata) or is_whole(step.metadata, self._channel) for step in steps])
        kept: list[Step] = []
        for index, step in enumerate(steps):
            if index in stay:
                kept.append(step.after(kept[-1]) if kept else step)
            else:
                kept[-1] = self._joined(kept[-1], step)
        return kept

    def _can_be_fewer(self, steps: Sequence[Step]) -> bool:
        is_chain = all(later.parent == earlier.id for earlier, later in pairwise(steps))
        values = [value for step in steps for written in step.written for _, value in written.writes]
        return is_chain and not any(isinstance(value, Overwrite) for value in values)

    def _joined(self, kept: Step, gone: Step) -> Step:
        """Return the step that stays with what was said at it and at the one that goes."""
        said = [*self._said(kept), *self._said(gone)]
        written = Written(kept.named, [(self._channel, Kept(said))], MERGED)
        return replace(kept, written=[written] if said else [])

    def _said(self, step: Step) -> list[Any]:
        """Return the messages that were written at a step, in the order in which they count; each once, as stored."""
        found: dict[tuple[str, str, int], Any] = {}
        for written in step.written:
            for index, (channel, value) in enumerate(written.writes):
                if channel == self._channel:
                    found.setdefault(writes_sort_key(written.task_path, written.task_id, index), value)
        values = [value.value if isinstance(value := found[key], Kept) else value for key in sorted(found)]
        return [one for value in values for one in (cast("list[Any]", value) if isinstance(value, list) else [value])]


def staying(are_marked: Sequence[bool]) -> set[int]:
    """Return which steps of a chain stay: the ends, those that are marked, and those beside them."""
    beside = {index + step for index, is_marked in enumerate(are_marked) if is_marked for step in (-1, 0, 1)}
    return (beside | {0, len(are_marked) - 1}) & set(range(len(are_marked)))


def is_input(metadata: Any) -> bool:
    """Say whether something came in from outside at a checkpoint."""
    return metadata.get("source") in INPUTS


def is_whole(metadata: Any, channel: str) -> bool:
    """Say whether a checkpoint has the channel's whole value: what was written before it need not count any more."""
    return channel not in metadata.get(COUNTERS, {})


def _id_in(config: RunnableConfig) -> str:
    return str(config.get("configurable", {}).get(ID) or "")
