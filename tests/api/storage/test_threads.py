"""Threads on LangGraph's own savers: what is read back, by whom, from which step, and after what went wrong."""

import asyncio
import gzip
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.serde.types import TASKS
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from api.storage import cached_saver, sqlite_threads
from api.storage.sqlite_threads import SqliteThreads, ThreadedSqliteSaver, may_be_seen
from api.storage.threads import PackingSerializer, open_threads
from drive_server.errors import InvalidInputError
from graph.build import build_graph
from graph.dependencies import GraphDependencies
from graph.drive.connections import ConnectionPool
from graph.settings import AgentSettings
from graph.state import MESSAGES
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.fakes.clock import SettableClock
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, approve

ROUNDS = 6
CONFIG: Any = {"configurable": {"thread_id": "t1"}}
OTHER: Any = {"configurable": {"thread_id": "t2"}}


class Talk(TypedDict):
    messages: Annotated[list[AnyMessage], MESSAGES]
    round: int


def work(state: Any) -> dict[str, Any]:
    number, turn = state["round"], len(state["messages"])
    if state["messages"][-1].text == "ask":
        interrupt("may I?")
    return {"messages": [AIMessage(f"step {number}", id=f"{turn}-{number}")], "round": number + 1}


def both(state: Any) -> dict[str, Any]:
    return {"messages": [AIMessage("at once", id=f"{len(state['messages'])}-{state['round']}")]}


def again(state: Any) -> Any:
    if state["round"] % ROUNDS:
        return "work"
    return [Send("both", {**state, "round": 100 + number}) for number in range(2)]


def drop(state: Any) -> dict[str, Any]:
    return {"messages": [RemoveMessage(id=str(state["messages"][-1].id))], "round": 0}


def graph_on(saver: BaseCheckpointSaver[Any]) -> Any:
    graph = StateGraph(Talk)
    for name, node in (("work", work), ("both", both), ("drop", drop)):
        graph.add_node(name, node)
    graph.add_edge(START, "work")
    graph.add_conditional_edges("work", again, ["work", "both"])
    graph.add_edge("both", "drop")
    graph.add_edge("drop", END)
    return graph.compile(checkpointer=saver)


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[SqliteThreads]:
    async with open_threads(f"sqlite:///{folder / 'graph.db'}") as storage:
        yield cast("SqliteThreads", storage.saver)


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncGenerator[SqliteThreads]:
    async with opened(tmp_path) as saver:
        yield saver


async def say(graph: Any, text: str, config: Any = CONFIG) -> None:
    await graph.ainvoke({"messages": [HumanMessage(text)], "round": 0}, config, durability="sync")


async def said(saver: BaseCheckpointSaver[Any], config: Any = CONFIG) -> list[tuple[Any, str]]:
    snapshot = await graph_on(saver).aget_state(config)
    return [(message.id, message.text) for message in snapshot.values.get("messages", [])]


async def fresh(folder: Path, config: Any = CONFIG) -> list[tuple[Any, str]]:
    """Read the thread as the library's own saver does, without anything remembered."""
    async with AsyncSqliteSaver.from_conn_string(str(folder / "graph.db")) as plain:
        plain.serde = PackingSerializer()
        return await said(plain, config)


async def keep(saver: SqliteThreads) -> None:
    await saver.aput({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})


async def test_a_thread_of_the_earlier_form_is_read_and_goes_on(tmp_path: Path) -> None:
    """The file was written by the service of version 0.1: steps merged and packed, an approval waiting."""
    packed = Path(__file__).with_name("old_threads.db.gz").read_bytes()
    (tmp_path / "graph.db").write_bytes(gzip.decompress(packed))
    drive, model, clock = TinyDrive(), ScriptedChatModel(), SettableClock()
    pool = ConnectionPool(drive.open_session, call_seconds=5, idle_seconds=60, clock=clock)
    async with opened(tmp_path) as saver:
        deps = GraphDependencies(
            models={"router": model, "planner": model, "agent": model},
            connections=pool,
            settings=AgentSettings(model="offline"),
            checkpointer=saver,
            clock=clock,
        )
        assistant = Assistant(build_graph(deps), thread_id="old-thread")
        before = (await assistant.graph.aget_state(assistant.config)).values["messages"]
        assert [message.type for message in before] == ["human", "ai", "tool", "ai", "tool", "ai"] * 3 + ["human", "ai"]
        assert [message.text.strip() for message in before[5::6]] == ["answer 0", "answer 1", "answer 2"]
        model.script = ["Gone."]
        await assistant.answer(approve("t"))
        assert [name for name, _ in drive.done] == ["trash_item"]
        model.script = [tool_call("read_file", "later", file_id="b"), "new"]
        after = (await assistant.say("search my files again")).state["messages"]
        assert after[: len(before)] == before
        assert [message.text.strip() for message in after if message.type == "ai" and message.text][-2:] == [
            "Gone.",
            "new",
        ]
    await pool.aclose()


async def test_each_turn_is_read_as_the_library_reads_it(saver: SqliteThreads, tmp_path: Path) -> None:
    graph = graph_on(saver)
    for turn in range(4):
        await say(graph, f"question {turn}")
        assert await said(saver) == await fresh(tmp_path)
    assert len(await said(saver)) == 4 * (1 + ROUNDS + 1)


async def test_a_turn_reads_nothing_of_the_turns_before(saver: SqliteThreads, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    reads = ThreadedSqliteSaver.aget_delta_channel_history

    async def counted(self: Any, **named: Any) -> Any:
        read.append(named)
        return await reads(self, **named)

    monkeypatch.setattr(ThreadedSqliteSaver, "aget_delta_channel_history", counted)
    for turn in range(4):
        await say(graph_on(saver), f"question {turn}")
    assert len(await said(saver)) == 4 * 8
    assert read == []


async def test_history_lists_every_step_and_each_can_be_gone_back_to(saver: SqliteThreads, tmp_path: Path) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    await say(graph, "second")
    history = [past async for past in graph.aget_state_history(CONFIG)]
    assert [past.metadata["step"] for past in history] == list(range(len(history) - 2, -2, -1))
    sizes = [len(past.values.get("messages", [])) for past in history]
    assert all(abs(later - earlier) <= 2 for later, earlier in pairwise(sizes))
    for past in history:
        at = {"configurable": {"thread_id": "t1", "checkpoint_id": past.config["configurable"]["checkpoint_id"]}}
        assert await said(saver, at) == [(m.id, m.text) for m in past.values.get("messages", [])]
        assert await said(saver, at) == await fresh(tmp_path, at)


@pytest.mark.parametrize("back", [3, 9, 14])
async def test_a_branch_from_an_old_step_starts_with_what_was_said_there(
    saver: SqliteThreads, tmp_path: Path, back: int
) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    await say(graph, "second")
    history = [past async for past in graph.aget_state_history(CONFIG)]
    newest = await said(saver)
    there = await said(saver, history[back].config)
    await say(graph, "instead", history[back].config)
    branch = await said(saver)
    assert branch == await fresh(tmp_path)
    assert branch[: len(there)] == there
    assert "instead" in [text for _, text in branch]
    assert await said(saver, history[0].config) == newest
    await say(graph, "on the branch")
    assert await said(saver) == await fresh(tmp_path)


async def test_what_another_process_adds_to_a_thread_is_seen(saver: SqliteThreads, tmp_path: Path) -> None:
    async with opened(tmp_path) as other:
        await say(graph_on(saver), "first")
        await said(saver)
        await say(graph_on(other), "second")
        await say(graph_on(saver), "third")
        assert await said(saver) == await said(other) == await fresh(tmp_path)
        assert len(await said(saver)) == 24


async def test_an_approval_that_waits_is_answered_by_another_process(saver: SqliteThreads, tmp_path: Path) -> None:
    await say(graph_on(saver), "first")
    await say(graph_on(saver), "ask")
    async with opened(tmp_path) as other:
        assert (await graph_on(other).aget_state(CONFIG)).interrupts
        await graph_on(other).ainvoke(Command(resume="yes"), CONFIG, durability="sync")
        assert await said(saver) == await said(other) == await fresh(tmp_path)
    assert len(await said(saver)) == 16


async def test_what_a_node_does_to_its_messages_is_not_remembered(saver: SqliteThreads, tmp_path: Path) -> None:
    await say(graph_on(saver), "first")
    (await graph_on(saver).aget_state(CONFIG)).values["messages"].clear()
    assert await said(saver) == await fresh(tmp_path)


@pytest.mark.parametrize(("name", "most"), [("MOST_MESSAGES", 10), ("MOST_THREADS", 1)])
async def test_threads_that_were_not_used_for_longest_are_forgotten_and_read_again(
    saver: SqliteThreads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(cached_saver, name, most)
    for config in (CONFIG, OTHER, CONFIG, OTHER):
        await say(graph_on(saver), "hello", config)
    assert await said(saver) == await fresh(tmp_path)
    assert await said(saver, OTHER) == await fresh(tmp_path, OTHER)


async def test_a_deleted_thread_is_gone_from_memory_too(saver: SqliteThreads) -> None:
    await say(graph_on(saver), "first")
    await said(saver)
    await saver.adelete_thread("t1")
    assert await said(saver) == []
    await say(graph_on(saver), "anew")
    assert len(await said(saver)) == 8


async def test_a_run_whose_disk_fails_ends_and_the_thread_goes_on_from_what_is_stored(
    saver: SqliteThreads, tmp_path: Path
) -> None:
    await say(graph_on(saver), "first")
    saver.conn.execute("PRAGMA query_only = ON")
    with pytest.raises(sqlite3.OperationalError):
        await say(graph_on(saver), "lost")
    saver.conn.execute("PRAGMA query_only = OFF")
    await say(graph_on(saver), "second")
    assert await said(saver) == await fresh(tmp_path)
    assert "lost" not in [text for _, text in await said(saver)]


@pytest.mark.parametrize("turns", range(1, 40, 3))
async def test_a_run_that_is_cancelled_at_any_moment_leaves_a_thread_that_is_read_as_it_is_stored(
    saver: SqliteThreads, tmp_path: Path, turns: int
) -> None:
    await say(graph_on(saver), "first")
    running = asyncio.create_task(say(graph_on(saver), "second"))
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await graph_on(saver).ainvoke(None, CONFIG, durability="sync")
    await say(graph_on(saver), "third")
    assert await said(saver) == await fresh(tmp_path)
    assert [text for _, text in await said(saver)].count("third") == 1


async def test_each_step_is_on_disk_before_the_next_one_begins(saver: SqliteThreads, tmp_path: Path) -> None:
    seen: list[int] = []

    def look(state: Talk) -> dict[str, Any]:
        del state
        with sqlite3.connect(tmp_path / "graph.db") as other:
            seen.append(other.execute("SELECT count(*) FROM checkpoints").fetchone()[0])
        other.close()
        return {"round": 0}

    builder = StateGraph(Talk)
    for name in ("one", "two", "three"):
        builder.add_node(name, look)
    for edge in pairwise([START, "one", "two", "three", END]):
        builder.add_edge(*edge)
    await say(builder.compile(checkpointer=saver), "hi")
    assert seen == [2, 3, 4]


@pytest.mark.parametrize("turns", range(0, 12, 3))
async def test_writes_that_come_while_it_ends_hold_nobody_up_either(tmp_path: Path, turns: int) -> None:
    async with opened(tmp_path) as saver:
        late = [asyncio.create_task(keep(saver)) for _ in range(20)]
        for _ in range(turns):
            await asyncio.sleep(0)
    for one in late:
        one.cancel()
    ended = await asyncio.gather(*late, return_exceptions=True)
    async with opened(tmp_path) as saver:
        saver.conn.execute("PRAGMA busy_timeout = 0")
        await keep(saver)
    assert len(ended) == 20


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ({"__start__": {}}, False),
        ({"branch:to:begin": None}, False),
        ({"branch:to:drive_agent": None, "calls": []}, False),
        ({"branch:to:drive_agent": None, "plan": {"plan_id": "p"}}, True),
        ({"branch:to:approve": None}, True),
        ({TASKS: [Send("act", {"call": {"risk": "read"}})]}, False),
        ({TASKS: [Send("act", {"call": {"risk": "read"}}), Send("act", {"call": {"risk": "write"}})]}, True),
        ({TASKS: [Send("other", {})]}, True),
        ({"messages": [], "rounds": 1}, True),
    ],
)
async def test_what_somebody_may_see_is_on_the_disk_before_anything_follows(
    saver: SqliteThreads, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], seen: bool
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(sqlite_threads, "_sync", synced.append)
    checkpoint = {**empty_checkpoint(), "channel_values": values}
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    await saver.aput(config, cast("Any", checkpoint), {}, {})
    assert may_be_seen(values) == seen
    assert [path.rpartition("/")[2] for path in synced] == ["graph.db-wal"] * seen


def test_what_is_packed_is_read_as_what_it_was() -> None:
    serializer, value = PackingSerializer(), [HumanMessage("你好 😀" * 1_000, id="h"), None, b"x", {"a": 1}]
    kind, content = serializer.dumps_typed(value)
    assert len(content) < 1_000
    assert serializer.loads_typed((kind, content)) == value
    assert serializer.loads_typed(serializer.dumps_typed("short")) == "short"


def test_a_url_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="mysql"):
        open_threads("mysql://somewhere/threads")
