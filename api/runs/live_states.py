"""The state of a thread in the process that works on it: as its newest checkpoint has it, without reading that."""

from collections.abc import Mapping
from typing import Any, Final

from api.storage.cached_saver import NewestCheckpoint

SHOWN: Final = ("messages", "plan", "route")
"""The parts of the state that clients see."""


class LiveState:
    """The newest state of a run at work. `values` is None before its first step.

    `checkpoint` is the newest one that this process made. `seq` is the number of the event behind which the state
    comes: all events of its steps are sent, and none of the next one.
    """

    def __init__(self) -> None:
        self.values: Mapping[str, Any] | None = None
        self.checkpoint: NewestCheckpoint | None = None
        self.seq = 0

    def note(self, values: Mapping[str, Any], checkpoint: NewestCheckpoint | None, seq: int) -> bool:
        """Keep a newer state; say whether clients see a difference."""
        before = self.values or {}
        is_other = self.values is None or any(before.get(name) is not values.get(name) for name in SHOWN)
        self.values, self.checkpoint, self.seq = values, checkpoint, seq
        return is_other

    def drop(self) -> None:
        """Forget the state: the run waits for a person, or another process has it."""
        self.values = None
