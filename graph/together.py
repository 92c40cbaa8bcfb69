"""The same question of several askers at once is asked once."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Together(Generic[T]):
    """Answers those who ask the same at the same time with one answer, which is newer than all of their questions.

    Who asks while an answer is on its way may know of something that it doesn't: they wait for the next one, together.
    One who gives up ends nothing for the others.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Any]] = {}
        self._next: dict[Hashable, asyncio.Task[T]] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        """Return the answer, or raise what asking raises. Questions under one key have to be the same."""
        waiting = self._next.get(key)
        if waiting is None:
            before = self._running.get(key)
            if before is None:
                return await self._alone(key, question)
            # A context of its own: the answer is not only for who happens to be the first.
            waiting = asyncio.create_task(self._after(before, key, question), context=Context())
            waiting.add_done_callback(_heard)
            self._next[key] = waiting
        return await asyncio.shield(waiting)

    async def _alone(self, key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        done = self._running[key] = asyncio.get_running_loop().create_future()
        try:
            return await question()
        finally:
            done.set_result(None)
            self._ended(key)

    async def _after(self, before: "asyncio.Future[Any]", key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        await asyncio.wait({before})
        self._running[key] = self._next.pop(key)
        try:
            return await question()
        finally:
            self._ended(key)

    def _ended(self, key: Hashable) -> None:
        if key not in self._next:
            del self._running[key]


def _heard(task: "asyncio.Task[Any]") -> None:
    """Take note of an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
