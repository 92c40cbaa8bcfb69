"""Single flight: callers that make the same call at the same time share one answer."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Share one answer among callers of the same key; it is newer than all of their calls.

    A caller that comes while a call is running may know of something newer: it waits for the next call, with all who
    come meanwhile. A cancelled caller cancels nothing for the others; a call that all have given up is not made. The
    result or exception is shared: don't change it.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Any]] = {}
        self._next: dict[Hashable, asyncio.Task[T]] = {}
        self._waiters = Counter[asyncio.Task[T]]()

    async def do(self, key: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `call`, or raise its exception. Calls under one key have to be the same."""
        waiting = self._next.get(key)
        if waiting is None:
            previous = self._running.get(key)
            if previous is None:
                return await self._run(key, call)
            # A fresh context: the result is not only for the first caller.
            waiting = asyncio.create_task(self._after(previous, key, call), context=Context())
            waiting.add_done_callback(_ignore_exception)
            self._next[key] = waiting
        self._waiters[waiting] += 1
        try:
            return await asyncio.shield(waiting)
        finally:
            self._waiters[waiting] -= 1
            if not self._waiters[waiting]:
                del self._waiters[waiting]

    async def _run(self, key: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        done = self._running[key] = asyncio.get_running_loop().create_future()
        try:
            return await call()
        finally:
            done.set_result(None)
            self._ended(key)

    async def _after(self, previous: "asyncio.Future[Any]", key: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        try:
            try:
                await asyncio.wait({previous})
            finally:
                this = self._running[key] = self._next.pop(key)
            if this not in self._waiters:
                raise asyncio.CancelledError
            return await call()
        finally:
            self._ended(key)

    def _ended(self, key: Hashable) -> None:
        if key not in self._next:
            self._running.pop(key, None)


def _ignore_exception(task: "asyncio.Task[Any]") -> None:
    """Mark the exception as seen: nobody waits for it any more."""
    if not task.cancelled():
        task.exception()
