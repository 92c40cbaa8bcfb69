"""Whose file is read next."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum

import anyio


class End(Enum):
    """Where a place takes the next file from, of those that wait."""

    SMALLEST = 1
    LARGEST = 2


@dataclass(eq=False, slots=True)
class Waiting:
    """A file that waits. `is_awaited`: somebody looks at the screen until it is read."""

    size: int
    is_awaited: bool
    place: End | None = None
    called: anyio.Event = field(default_factory=anyio.Event)


class ReaderQueue:
    """Two places: one for the smallest file that waits, so that many are done soon, one for the largest, which would
    else be read at the end while the other place is empty. What is awaited comes first, at either."""

    def __init__(self) -> None:
        self._free = list(End)
        self._waiting: list[Waiting] = []

    @asynccontextmanager
    async def place(self, size: int, *, is_awaited: bool) -> AsyncGenerator[None]:
        """Wait for a place, and keep it as long as the context is open."""
        one = Waiting(size, is_awaited)
        self._waiting.append(one)
        self._call()
        try:
            await one.called.wait()
            yield
        finally:
            if one.place:
                self._free.append(one.place)
                self._call()
            else:
                self._waiting.remove(one)

    def _call(self) -> None:
        while self._free and self._waiting:
            one = self._first(self._free[0])
            self._waiting.remove(one)
            one.place = self._free.pop(0)
            one.called.set()

    def _first(self, end: End) -> Waiting:
        awaited = next((one for one in self._waiting if one.is_awaited), None)
        choose = min if end is End.SMALLEST else max
        return awaited or choose(self._waiting, key=lambda one: one.size)
