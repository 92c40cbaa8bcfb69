"""LangGraph's saver of either database, in a thread, with the newest messages cached."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, Final

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    writes_sort_key,
)
from typing_extensions import override

from api.storage.one_thread import OneThread
from api.storage.replicas import CLAIM, Claim
from api.storage.steps import BEGINNING, is_one_thought
from graph.events.sending import store_events
from graph.state import MESSAGES

CHANNEL: Final = "messages"
MAX_MESSAGES: Final = 20_000
"""Limit of all threads together: some 30 MB."""
MAX_THREADS: Final = 500


@dataclass(slots=True)
class _Step:
    """A checkpoint: whether this process made it, the one before it, and the messages that were written at it."""

    is_own: bool = False
    is_uncertain: bool = False
    """Nobody knows how many of the writes at it are stored."""
    is_thought: bool = False
    """One node follows, and only thinks."""
    parent: str | None = None
    whole: Any = None
    written: dict[tuple[Any, ...], Any] = field(default_factory=dict[tuple[Any, ...], Any])


@dataclass(frozen=True, slots=True)
class NewestCheckpoint:
    """The id of a checkpoint, of the one before it, and its source: input, loop or update."""

    id: str
    parent: str | None
    source: str


@dataclass(slots=True)
class _Thread:
    """The messages at one checkpoint, and the steps that this process made since; `newest` is the last of these."""

    checkpoint_id: str = ""
    messages: list[AnyMessage] = field(default_factory=list[AnyMessage])
    steps: dict[str, _Step] = field(default_factory=dict[str, _Step])
    newest: NewestCheckpoint | None = None


@dataclass(slots=True)
class _Waiting:
    """A write of the step `at`, which is stored together with the next checkpoint.

    `put_with_next` stores only its messages: the next checkpoint has all other values. `by` is the task that put it: an
    update of the state, which waits for each of its steps, has one for all.
    """

    at: str
    put: Callable[[], Any]
    put_with_next: Callable[[], Any]
    written: dict[tuple[Any, ...], Any] = field(default_factory=dict[tuple[Any, ...], Any])
    by: asyncio.Task[Any] | None = field(default_factory=asyncio.current_task)


class CachedSaver(BaseCheckpointSaver[Any]):
    """One of LangGraph's synchronous savers, called by the event loop; caches the messages of the threads written last.

    One trip to a thread for a call, where LangGraph's asynchronous saver makes three, takes a twentieth off the CPU of
    a turn and a tenth off its time (17.6 ms and 20.1 become 16.7 and 17.9), and brings 100 chats at once from 1.47 of
    the ideal to 1.34: `python -m benchmarks.agent.turns` and `.crowd`, `drive-agent` beside `drive-agent, LangGraph's
    saver`.

    A step that only thinks makes that trip once: its writes wait for the checkpoint that follows at once, and the
    checkpoint of a turn's input for that before the first node. A kill in between leaves the step to be done again, as
    one a moment earlier does. `tests/api/http/test_turn_costs.py` counts the trips that are left.

    The cache saves a factor of 2: turn 200 of ten calls costs 1.2 times as much as turn 10 (95 ms and 81), on
    LangGraph's own saver 2.6 times (198 and 78), as `python -m benchmarks.agent.long_thread --at-once 10 --beside`
    prints. Checkpoints of another process are read through the library, without our cache.
    """

    THREAD: ClassVar = OneThread

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.thread = self.THREAD()
        self.after_put: Callable[[Checkpoint], Awaitable[None]] | None = None
        """Called when a checkpoint is stored, before anything follows."""
        self._threads: OrderedDict[tuple[str, str], _Thread] = OrderedDict()
        self._waiting: dict[tuple[str, str], list[_Waiting]] = {}

    @override
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint."""
        return await self.thread.run(self.get_tuple, config)

    @override
    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, the newest first: unfiltered, those of a thread with their messages."""
        listed = await self.thread.run(lambda: [*self.list(config, **options)])
        if config is not None and not options.get("filter"):
            await self._add_messages(listed)
        for found in listed:
            yield found

    async def _add_messages(self, listed: Sequence[CheckpointTuple]) -> None:
        """Put the messages into checkpoints: each has those of the one before it, and those that were written there.

        For one without, LangGraph goes back to the last full copy.
        """
        writes = {_id_of(found.config): found.pending_writes or () for found in listed}
        messages: dict[str | None, list[AnyMessage]] = {}
        for found in reversed(listed):
            stored, before = found.checkpoint, _id_of(found.parent_config)
            if CHANNEL not in stored["channel_versions"]:
                continue
            if CHANNEL in stored["channel_values"]:
                history = DeltaChannelHistory(seed=stored["channel_values"][CHANNEL], writes=[])
            elif before in messages:
                written = [one for one in writes[before] if one[1] == CHANNEL]
                history = DeltaChannelHistory(seed=messages[before], writes=written)
            else:
                history = (await self.aget_delta_channel_history(config=found.config, channels=[CHANNEL]))[CHANNEL]
            messages[_id_of(found.config)] = value = _value(history)
            stored["channel_values"][CHANNEL] = [*value]

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, after the events that it makes past."""
        await store_events()
        whole = checkpoint["channel_values"].get(CHANNEL)
        step = self._step(config, checkpoint["id"])
        put = partial(self.put, config, checkpoint, metadata, new_versions)
        before = self._due(config)
        if metadata.get("source") != "loop":
            # Writes of a cancelled turn wait for nobody: only the loop that thought them goes on from them.
            before = [one for one in before if one.by is asyncio.current_task()]
        if BEGINNING in checkpoint["channel_values"]:
            self._waiting[_thread_of(config)] = [_Waiting(checkpoint["id"], put, put)]
        else:
            await self._store(config, before, put)
        if self.after_put:
            await self.after_put(checkpoint)
        step.is_own, step.parent, step.whole = True, get_checkpoint_id(config), whole
        step.is_thought = is_one_thought(checkpoint["channel_values"])
        newest = NewestCheckpoint(checkpoint["id"], step.parent, metadata.get("source", "loop"))
        self._thread(config).newest = newest
        thread_id, namespace = _thread_of(config)
        stored = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}
        return {"configurable": stored}

    @override
    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes at a checkpoint, after its events."""
        await store_events()
        # Writes may come before their checkpoint, and fail or be cancelled while it is being stored.
        at = str(get_checkpoint_id(config))
        messages = [write for write in writes if write[0] == CHANNEL]
        put, put_with_next = (
            partial(self.put_writes, config, some, task_id, task_path) if some else _nothing
            for some in (writes, messages)
        )
        written: dict[tuple[Any, ...], Any] = {
            writes_sort_key(task_path, task_id, index): value
            for index, (channel, value) in enumerate(writes)
            if channel == CHANNEL
        }
        waiting = _Waiting(at, put, put_with_next, written)
        if self._step(config, at).is_thought and WRITES_IDX_MAP.keys().isdisjoint(channel for channel, _ in writes):
            self._waiting.setdefault(_thread_of(config), []).append(waiting)
        else:
            await self._store(config, [*self._due(config), waiting])

    @override
    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the messages at the newest checkpoint as one value; others, and other channels, as they are stored."""
        target = get_checkpoint_id(config)
        cached = self._thread(config)
        if [*channels] != [CHANNEL] or not target or target < cached.checkpoint_id:
            return await self._stored_history(config, channels)
        if cached.checkpoint_id != target:
            history = _since(cached, target) or (await self._stored_history(config, channels))[CHANNEL]
            cached.checkpoint_id, cached.messages = target, _value(history)
            cached.steps = {step_id: step for step_id, step in cached.steps.items() if step_id >= target}
            while len(self._threads) > 1 and sum(len(one.messages) for one in self._threads.values()) > MAX_MESSAGES:
                self._threads.popitem(last=False)
        return {CHANNEL: {"seed": list(cached.messages), "writes": []}}

    @override
    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all of a thread, and forget its messages."""
        self.forget(thread_id)
        await self.thread.run(self.delete_thread, thread_id)

    def forget(self, thread_id: str) -> None:
        """Drop the cached checkpoints of a thread, and those that wait to be stored."""
        for thread in [thread for thread in self._threads if thread[0] == thread_id]:
            del self._threads[thread]
        for thread in [thread for thread in self._waiting if thread[0] == thread_id]:
            del self._waiting[thread]

    def newest(self, thread_id: str) -> NewestCheckpoint | None:
        """Return the checkpoint of a thread that this process made last, None if it made none."""
        cached = self._threads.get((thread_id, ""))
        return cached.newest if cached else None

    def put_all(self, calls: Sequence[Callable[[], Any]], claim: Claim | None) -> None:
        """Make the storing calls in order and in one transaction; `claim` is the right of the run they store for."""
        raise NotImplementedError

    def _due(self, config: RunnableConfig) -> list[_Waiting]:
        """Return the writes that wait at the checkpoint of the config, and forget all that wait in its thread."""
        return [one for one in self._waiting.pop(_thread_of(config), ()) if one.at == get_checkpoint_id(config)]

    async def _store(
        self, config: RunnableConfig, waiting: Sequence[_Waiting], put: Callable[[], Any] | None = None
    ) -> None:
        """Store the waiting writes and then the next checkpoint, in order and in one trip."""
        calls = [*(one.put_with_next for one in waiting), put] if put else [one.put for one in waiting]
        try:
            await self.thread.run(self.put_all, calls, CLAIM.get())
        except BaseException:
            for one in waiting:
                self._step(config, one.at).is_uncertain = True
            raise
        for one in waiting:
            for key, value in one.written.items():
                self._step(config, one.at).written.setdefault(key, value)

    def _thread(self, config: RunnableConfig) -> _Thread:
        """Return the cache of a thread, which is from now on the one used last."""
        cached = self._threads.setdefault(_thread_of(config), _Thread())
        self._threads.move_to_end(_thread_of(config))
        if len(self._threads) > MAX_THREADS:
            self._threads.popitem(last=False)
        return cached

    def _step(self, config: RunnableConfig, checkpoint_id: str) -> _Step:
        return self._thread(config).steps.setdefault(checkpoint_id, _Step())

    async def _stored_history(
        self, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await self.thread.run(self.get_delta_channel_history, config=config, channels=channels)


def _nothing() -> None:
    """Store nothing."""


def _since(cached: _Thread, target: str) -> DeltaChannelHistory | None:
    """Return the steps to the target, the oldest first; None unless this process made all steps on the way."""
    written: list[Any] = []
    seed: Any = None
    at: str | None = target
    while seed is None and at:
        step = cached.steps.get(at)
        if step is None or not step.is_own or step.is_uncertain:
            return None
        if at != target:
            written[:0] = [value for _, value in sorted(step.written.items(), key=itemgetter(0))]
            seed = cached.messages if at == cached.checkpoint_id else step.whole
        at = step.parent
    return {"seed": seed or [], "writes": [("", CHANNEL, value) for value in written]}


def _value(history: DeltaChannelHistory) -> list[AnyMessage]:
    channel: Any = MESSAGES.from_checkpoint(history.get("seed", []))
    channel.replay_writes(history["writes"])
    return channel.get()


def _id_of(config: RunnableConfig | None) -> str | None:
    return get_checkpoint_id(config) if config else None


def _thread_of(config: RunnableConfig) -> tuple[str, str]:
    named = config.get("configurable", {})
    return str(named["thread_id"]), str(named.get("checkpoint_ns", ""))
