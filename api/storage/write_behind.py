"""Writes of checkpoints in the order of their events: what a checkpoint makes past is in the event log before.

A checkpoint before mere thinking waits for the next batch of the log, while the graph goes on: a transaction for each
would cost a tenth of a turn of three calls (`python -m benchmarks.turns`). A crash then repeats what came after it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langgraph.checkpoint.serde.types import TASKS

from graph.approvals.act import only_reads
from graph.events import store_events
from graph.state import AGENTS

logger = logging.getLogger(__name__)

Thread = tuple[str, str]

THINKING: Final = frozenset(f"branch:to:{node}" for node in ("begin", "cite", *AGENTS)) | {"__start__"}
"""Channels of a checkpoint before mere thinking, which nobody sees if it is repeated."""


def may_be_seen(values: Mapping[str, Any]) -> bool:
    """Say whether more follows the checkpoint of these values than thinking and reading, or nothing."""
    tasks = values.get(TASKS) or ()
    if values.get("plan") or not only_reads(tasks):
        return True
    return not tasks and THINKING.isdisjoint(values)


@dataclass(frozen=True, slots=True)
class Write:
    """A write of the checkpoint `at`, or to it; `after` is the one before it. `done` is for who waits."""

    after: str | None
    at: str
    perform: Callable[[], Awaitable[object]]
    done: asyncio.Future[None] | None = None


@dataclass(slots=True)
class _Queue:
    """The writes of a thread that wait, who performs them, and the checkpoints that could not be stored whole."""

    writes: list[Write] = field(default_factory=list[Write])
    worker: "asyncio.Task[None] | None" = None
    lost: dict[str | None, Exception] = field(default_factory=dict[str | None, Exception])


class WriteBehind:
    """Performs the writes of each thread in order, and none before the events of its run so far are stored.

    After a failure, what follows the lost checkpoint is refused until the run has heard of it.
    """

    def __init__(self) -> None:
        self._queues: dict[Thread, _Queue] = {}

    async def now(self, thread: Thread, write: Write) -> None:
        """Perform the write, after those that wait. Raises what it raises, or what one that it follows raised."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.later(thread, replace(write, done=done))
        await store_events(urgent=True)
        await done

    def later(self, thread: Thread, write: Write) -> None:
        """Perform the write once the next batch of events is stored, or before the next one that can't wait."""
        queue = self._queues.setdefault(thread, _Queue())
        queue.writes.append(write)
        if queue.worker is None:
            queue.worker = asyncio.create_task(self._work(thread, queue), name=f"checkpoints of thread {thread[0]}")

    async def drain(self, thread: Thread) -> None:
        """Return once nothing of the thread waits."""
        if (queue := self._queues.get(thread)) and queue.worker:
            await asyncio.wait([queue.worker])

    async def close(self) -> None:
        """Return once nothing waits."""
        for thread in list(self._queues):
            await self.drain(thread)

    async def _work(self, thread: Thread, queue: _Queue) -> None:
        while queue.writes:
            # What comes while the events are stored waits for its own.
            writes, queue.writes = queue.writes, []
            failure = await _failure_of(store_events(urgent=False))
            for write in writes:
                await self._perform(queue, write, failure)
        queue.worker = None
        if not queue.lost:
            del self._queues[thread]

    async def _perform(self, queue: _Queue, write: Write, failure: Exception | None) -> None:
        failure = failure or queue.lost.get(write.after) or await _failure_of(write.perform())
        if failure:
            queue.lost[write.at] = failure
        if write.done is None or write.done.done():
            return
        if failure:
            queue.lost.clear()
            write.done.set_exception(failure)
        else:
            write.done.set_result(None)


async def _failure_of(work: Awaitable[object]) -> Exception | None:
    try:
        await work
    except Exception as error:
        logger.warning("a checkpoint could not be stored", exc_info=True)
        return error
    return None
