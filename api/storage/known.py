"""A saver of checkpoints that does not read a thread twice."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import DeltaChannelHistory, PendingWrite, get_checkpoint_id, writes_sort_key
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from typing_extensions import override

from api.storage.gathering import GatheringConnection
from api.storage.packing import PackingSerializer
from graph.state import MESSAGES

CHANNEL: Final = "messages"
MOST_KNOWN: Final = 20_000
"""How many messages of all threads together are kept in memory: some 30 MB."""
MOST_STEPS: Final = 500

_ANCESTORS: Final = """
WITH RECURSIVE ancestors(id, parent, type, checkpoint) AS (
    SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints
    WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = :target
    UNION ALL
    SELECT c.checkpoint_id, c.parent_checkpoint_id, c.type, c.checkpoint FROM ancestors a CROSS JOIN checkpoints c
    ON c.checkpoint_id = a.parent WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND a.id <> :known
    LIMIT :most
)
SELECT id, type, checkpoint FROM ancestors
"""
_WRITES: Final = """
SELECT checkpoint_id, task_path, task_id, idx, type, value FROM writes
WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND checkpoint_id IN ({places})
"""


@dataclass(frozen=True, slots=True)
class _Known:
    """What was said in a thread up to a checkpoint."""

    checkpoint_id: str
    messages: list[AnyMessage]


class RememberingSaver(AsyncSqliteSaver):
    """Remembers the messages of the threads that it read last, and reads of each only what was said since.

    Messages are stored as differences (`graph/state.py`): read from the file, a thread of 200 long turns costs as much
    as ten turns. What is remembered is the value at one checkpoint, which never changes; forks lead to others.
    """

    def __init__(self, connection: GatheringConnection) -> None:
        super().__init__(connection, serde=PackingSerializer())
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    @override
    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the messages at a checkpoint as a value without differences; other channels as they are stored."""
        target = get_checkpoint_id(config)
        if [*channels] != [CHANNEL] or not target:
            return await super().aget_delta_channel_history(config=config, channels=channels)
        named: dict[str, Any] = config.get("configurable", {})
        thread = (str(named["thread_id"]), str(named.get("checkpoint_ns", "")))
        known = self._known.get(thread)
        if known is None or known.checkpoint_id != target:
            history = await self._since(thread, target, known) if known else None
            if history is None:
                history = (await super().aget_delta_channel_history(config=config, channels=channels))[CHANNEL]
            known = self._remember(thread, _Known(target, _value(history)))
        return {CHANNEL: {"seed": list(known.messages), "writes": []}}

    @override
    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the thread's checkpoints, and forget what was said in it."""
        await super().adelete_thread(thread_id)
        for thread in [thread for thread in self._known if thread[0] == thread_id]:
            del self._known[thread]

    async def _since(self, thread: tuple[str, str], target: str, known: _Known) -> DeltaChannelHistory | None:
        """Return what was written between the known checkpoint and the target; None if that is no ancestor of it."""
        chain: list[str] = []
        named = {"thread": thread[0], "ns": thread[1], "target": target, "known": known.checkpoint_id}
        async with self.lock, self.conn.execute(_ANCESTORS, {**named, "most": MOST_STEPS}) as rows:
            async for checkpoint_id, kind, blob in rows:
                if checkpoint_id == target:
                    continue
                chain.append(checkpoint_id)
                if checkpoint_id == known.checkpoint_id:
                    return {"seed": list(known.messages), "writes": await self._writes(thread, chain)}
                values = self.serde.loads_typed((kind, blob)).get("channel_values") or {}
                if CHANNEL in values:
                    return {"seed": values[CHANNEL], "writes": await self._writes(thread, chain)}
        return None

    async def _writes(self, thread: tuple[str, str], chain: Sequence[str]) -> list[PendingWrite]:
        """Return the writes of these checkpoints, which are told newest first, in the order in which they count."""
        query = _WRITES.format(places=",".join("?" * len(chain)))
        async with self.conn.execute(query, [*thread, CHANNEL, *chain]) as found:
            rows = sorted(
                await found.fetchall(), key=lambda row: (-chain.index(row[0]), *writes_sort_key(row[1], row[2], row[3]))
            )
        return [(row[2], CHANNEL, self.serde.loads_typed((row[4], row[5]))) for row in rows]

    def _remember(self, thread: tuple[str, str], known: _Known) -> _Known:
        self._known[thread] = known
        self._known.move_to_end(thread)
        while len(self._known) > 1 and sum(len(one.messages) for one in self._known.values()) > MOST_KNOWN:
            self._known.popitem(last=False)
        return known


def _value(history: DeltaChannelHistory) -> list[AnyMessage]:
    channel: Any = MESSAGES.from_checkpoint(history.get("seed", []))
    channel.replay_writes(history["writes"])
    return channel.get()
