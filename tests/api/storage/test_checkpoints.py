"""The file of checkpoints, when what wrote to it was stopped."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict

import aiosqlite
import anyio.lowlevel
import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from api.storage import checkpoints, known
from api.storage.checkpoints import CheckpointSaver, open_checkpoints
from graph.state import MESSAGES
from tests.api.storage.test_compaction import CONFIG, OTHER, fresh, graph_on, said, say

INTERRUPTED = "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id) VALUES ('a', 'b', 'c')"


async def keep(saver: CheckpointSaver) -> None:
    await saver.aput({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})
    await saver.saved("t")


async def test_a_write_that_was_stopped_before_its_commit_holds_nobody_up_after_the_end(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await keep(saver)
        cursors = [await saver.conn.execute(INTERRUPTED), await saver.conn.execute("SELECT * FROM checkpoints")]
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await saver.conn.execute("PRAGMA busy_timeout = 0")
        await keep(saver)
        kept = [found async for found in saver.alist(None)]
    assert len(cursors) == 2
    assert len(kept) == 2


@pytest.mark.parametrize("turns", range(12))
async def test_writes_that_come_while_it_ends_hold_nobody_up_either(tmp_path: Path, turns: int) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        late = [asyncio.create_task(keep(saver)) for _ in range(20)]
        for _ in range(turns):
            await asyncio.sleep(0)
    ended = await asyncio.gather(*late, return_exceptions=True)
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await saver.conn.execute("PRAGMA busy_timeout = 0")
        await keep(saver)
    assert len(ended) == 20


class CountingSaver(CheckpointSaver):
    """Counts the messages that are read from the file."""

    loaded = 0

    async def _writes(self, thread: tuple[str, str], chain: Any) -> Any:
        found = await super()._writes(thread, chain)
        self.loaded += len(found)
        return found


async def test_a_thread_that_was_read_is_read_on_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "GATHERING_SECONDS", 600)
    async with open_checkpoints(tmp_path / "graph.db") as opened:
        saver = CountingSaver(opened.gathering)
        graph = graph_on(saver)
        counts: list[int] = []
        for turn in range(6):
            await say(graph, f"question {turn}")
            assert await said(saver) == await fresh(tmp_path)
            counts.append(saver.loaded)
        costs = [later - earlier for earlier, later in pairwise(counts)]
        assert costs == costs[:1] * len(costs)


async def test_what_another_process_adds_to_a_thread_is_seen(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver, open_checkpoints(tmp_path / "graph.db") as other:
        await say(graph_on(saver), "first")
        await said(saver)
        await say(graph_on(other), "second")
        await say(graph_on(saver), "third")
        assert await said(saver) == await said(other) == await fresh(tmp_path)


async def test_a_branch_from_an_old_checkpoint_has_its_own_messages(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        graph = graph_on(saver)
        await say(graph, "first")
        history = [past async for past in graph.aget_state_history(CONFIG)]
        await say(graph, "second")
        await graph.ainvoke({"messages": [HumanMessage("instead")], "round": 0}, history[3].config, durability="sync")
        await saver.saved()
        assert await said(saver) == await fresh(tmp_path)
        assert await said(saver, history[0].config) != await said(saver)


async def test_what_a_node_does_to_its_messages_is_not_remembered(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        graph = graph_on(saver)
        await say(graph, "first")
        (await graph.aget_state(CONFIG)).values["messages"].clear()
        assert await said(saver) == await fresh(tmp_path)


async def test_the_threads_that_were_not_read_for_longest_are_forgotten_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "MOST_KNOWN", 10)
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        graph = graph_on(saver)
        for config in (CONFIG, OTHER, CONFIG):
            await say(graph, "hello", config)
            await said(saver, config)
        assert await said(saver, OTHER)
        assert len(await said(saver)) == 16


async def test_a_deleted_thread_is_gone_from_memory_too(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        graph = graph_on(saver)
        await say(graph, "first")
        await said(saver)
        await saver.adelete_thread("t1")
        assert await said(saver) == []
        await say(graph, "anew")
        assert len(await said(saver)) == 8


async def test_what_tasks_wrote_is_on_disk_before_the_file_is_closed(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c"}}
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await saver.aput_writes(config, [("messages", "said")], "task")
        assert await stored_writes(tmp_path) == 0
    assert await stored_writes(tmp_path) == 1


async def test_what_tasks_wrote_is_stored_soon_also_if_no_checkpoint_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "GATHERING_SECONDS", 0)
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c"}}
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await saver.aput_writes(config, [("messages", "said")], "task")
        await settled(saver)
        assert await stored_writes(tmp_path) == 1


@asynccontextmanager
async def that_lost_something(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[CheckpointSaver]:
    """Open a saver to which the disk refused what a task of thread `t` wrote, and refuses everything."""
    monkeypatch.setattr(checkpoints, "GATHERING_SECONDS", 0)
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c"}}
    async with open_checkpoints(folder / "graph.db") as saver:
        await saver.conn.execute("PRAGMA query_only = ON")
        await saver.aput_writes(config, [("messages", "said")], "task")
        await settled(saver)
        yield saver


async def test_a_thread_whose_tasks_lost_what_they_wrote_does_not_go_on_as_if_nothing_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with that_lost_something(tmp_path, monkeypatch) as saver:
        await saver.conn.execute("PRAGMA query_only = OFF")
        with pytest.raises(sqlite3.OperationalError):
            await keep(saver)
        await keep(saver)


async def test_who_asks_whether_all_is_stored_is_told_of_what_was_lost_before_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with that_lost_something(tmp_path, monkeypatch) as saver:
        await saver.saved("another")
        with pytest.raises(sqlite3.OperationalError):
            await saver.saved("t")
        await saver.saved("t")
        with pytest.raises(sqlite3.OperationalError):
            await keep(saver)
        await saver.conn.execute("PRAGMA query_only = OFF")
        await keep(saver)


class Round(TypedDict):
    messages: Annotated[list[AnyMessage], MESSAGES]
    plan: dict[str, Any] | None


def stored_in(path: Path) -> list[int]:
    """Return the numbers of the steps that another process could read now."""
    with closing(sqlite3.connect(path)) as other:
        rows = other.execute("SELECT metadata FROM checkpoints ORDER BY checkpoint_id").fetchall()
    return [json.loads(row[0])["step"] for row in rows]


@pytest.mark.parametrize("plan", [None, {"plan_id": "p"}])
@pytest.mark.parametrize(("node_name", "risk"), [("act", "write"), ("act", "read"), ("other", "read")])
async def test_what_comes_before_a_change_or_a_step_of_a_plan_is_on_disk_and_the_rest_at_the_end(
    tmp_path: Path, plan: dict[str, Any] | None, node_name: str, risk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "GATHERING_SECONDS", 600)
    seen: list[tuple[str, list[int]]] = []

    def node(name: str) -> Any:
        async def look(_state: Round) -> dict[str, Any]:
            seen.append((name, stored_in(tmp_path / "graph.db")))
            return {"messages": [AIMessage(name)]}

        return look

    async def calls(state: Round) -> list[Send]:
        return [Send(node_name, {**state, "call": {"risk": risk}})]

    builder = StateGraph(Round)
    for name in ("think", node_name, "say"):
        builder.add_node(name, node(name))
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", calls, [node_name])
    builder.add_edge(node_name, "say")
    builder.add_edge("say", END)
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        graph: Any = builder.compile(checkpointer=saver)
        await graph.ainvoke({"messages": [HumanMessage("hi")], "plan": plan}, CONFIG, durability="sync")
        before = stored_in(tmp_path / "graph.db")
        await saver.saved()
        after = stored_in(tmp_path / "graph.db")
    only_reads = (node_name, risk) == ("act", "read")
    assert dict(seen)[node_name] == ([] if only_reads and not plan else [-1, 0, 1])
    assert before == ([-1, 0, 1, 2, 3] if plan else dict(seen)[node_name])
    assert after == ([-1, 0, 3] if only_reads and not plan else [-1, 0, 1, 2, 3])


async def settled(saver: CheckpointSaver) -> None:
    while saver.owes:
        await anyio.lowlevel.checkpoint()
    await saver.saved()


async def stored_writes(folder: Path) -> int:
    async with aiosqlite.connect(folder / "graph.db") as other, other.execute("SELECT count(*) FROM writes") as rows:
        (count,) = await rows.fetchone() or (0,)
    return count
