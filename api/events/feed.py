"""What one run has to say at the moment: its newest frames in memory, and the signal that there are more."""

import asyncio
from collections import deque
from collections.abc import Sequence

from api.events.events import Frame

TAIL_FRAMES = 512


class Feed:
    """A run that is at work in this process. `seq` is the number of its newest frame."""

    def __init__(self, seq: int = 0) -> None:
        self.seq = seq
        self.changed = asyncio.Event()
        self._tail: deque[Frame] = deque(maxlen=TAIL_FRAMES)

    def publish(self, frames: Sequence[Frame]) -> None:
        """Add frames, which follow the newest one, and wake whoever waits."""
        if frames:
            self._tail.extend(frames)
            self.seq = frames[-1].seq
            self.wake()

    def wake(self) -> None:
        """Wake whoever waits for `changed`."""
        self.changed.set()
        self.changed = asyncio.Event()

    def after(self, seq: int) -> list[Frame] | None:
        """Return the frames after a number, or None if some of them have left memory."""
        if seq >= self.seq or (self._tail and self._tail[0].seq <= seq + 1):
            return [frame for frame in self._tail if frame.seq > seq]
        return None
