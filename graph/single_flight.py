"""The same question of several askers at once is asked once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Together(Generic[T]):
    """Answers those who ask the same at the same time with one answer, which is newer than all of their questions.

    Who asks while an answer is on its way may know of something that it doesn't: they wait for the next one, together.
    One who gives up ends nothing for the others; a question that all gave up is not asked. What is returned or raised
    is everybody's, and not to be changed.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Any]] = {}
        self._next: dict[Hashable, asyncio.Task[T]] = {}
        self._askers = Counter[asyncio.Task[T]]()

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
        self._askers[waiting] += 1
        try:
            return await asyncio.shield(waiting)
        finally:
            self._askers[waiting] -= 1
            if not self._askers[waiting]:
                del self._askers[waiting]

    async def _alone(self, key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        done = self._running[key] = asyncio.get_running_loop().create_future()
        try:
            return await question()
        finally:
            done.set_result(None)
            self._ended(key)

    async def _after(self, before: "asyncio.Future[Any]", key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        try:
            try:
                await asyncio.wait({before})
            finally:
                this = self._running[key] = self._next.pop(key)
            if this not in self._askers:
                raise asyncio.CancelledError
            return await question()
        finally:
            self._ended(key)

    def _ended(self, key: Hashable) -> None:
        if key not in self._next:
            self._running.pop(key, None)


def _heard(task: "asyncio.Task[Any]") -> None:
    """Take note of an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
