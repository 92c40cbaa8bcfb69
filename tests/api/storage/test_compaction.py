"""What a finished turn leaves in the file of checkpoints, and that nothing that was said is lost by it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from api.storage.checkpoints import CheckpointSaver, open_checkpoints
from api.storage.compaction import compact, compact_many
from api.storage.packing import PackingSerializer, packed
from graph.appending import appended
from graph.state import MESSAGES

ROUNDS = 6
CONFIG: Any = {"configurable": {"thread_id": "t1"}}
OTHER: Any = {"configurable": {"thread_id": "t2"}}


OFTEN_WHOLE: Any = DeltaChannel(appended, snapshot_frequency=4)  # pyright: ignore[reportArgumentType] - as `MESSAGES`


class Talk(TypedDict):
    messages: Annotated[list[AnyMessage], MESSAGES]
    round: int


class OftenWhole(TypedDict):
    messages: Annotated[list[AnyMessage], OFTEN_WHOLE]
    round: int


def work(state: Any) -> dict[str, Any]:
    number, turn = state["round"], len(state["messages"])
    if state["messages"][-1].text == "ask":
        interrupt("may I?")
    return {"messages": [AIMessage(f"step {number}", id=f"{turn}-{number}")], "round": number + 1}


def both(state: Any) -> dict[str, Any]:
    turn = len(state["messages"])
    return {"messages": [AIMessage("at once", id=f"{turn}-{state['round']}")]}


def again(state: Any) -> Any:
    if state["round"] % ROUNDS:
        return "work"
    return [Send("both", {**state, "round": 100 + number}) for number in range(2)]


def drop(state: Any) -> dict[str, Any]:
    return {"messages": [RemoveMessage(id=str(state["messages"][-1].id))], "round": 0}


def graph_on(saver: AsyncSqliteSaver, state: Any = Talk) -> Any:
    graph = StateGraph(state)
    graph.add_node("work", work)
    graph.add_node("both", both)
    graph.add_node("drop", drop)
    graph.add_edge(START, "work")
    graph.add_conditional_edges("work", again, ["work", "both"])
    graph.add_edge("both", "drop")
    graph.add_edge("drop", END)
    return graph.compile(checkpointer=saver)


class SlowRuns(CheckpointSaver):
    """Stores every step, as of runs whose steps take longer than steps gather for."""

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        stored = await super().aput(*args, **kwargs)
        await self.saved()
        return stored


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncGenerator[CheckpointSaver]:
    async with open_checkpoints(tmp_path / "graph.db") as opened:
        saver = SlowRuns(opened.gathering)
        yield saver
        await saver.aclose()


async def say(graph: Any, text: str, config: Any = CONFIG) -> None:
    await graph.ainvoke({"messages": [HumanMessage(text)], "round": 0}, config, durability="sync")
    if isinstance(graph.checkpointer, CheckpointSaver):
        await graph.checkpointer.saved()


async def said(saver: AsyncSqliteSaver, config: Any = CONFIG) -> list[tuple[Any, str]]:
    snapshot = await graph_on(saver).aget_state(config)
    return [(message.id, message.text) for message in snapshot.values.get("messages", [])]


async def rows(saver: AsyncSqliteSaver) -> int:
    async with saver.conn.execute("SELECT count(*) FROM checkpoints") as found:
        return (await found.fetchone() or (0,))[0]


@asynccontextmanager
async def plain(tmp_path: Path) -> AsyncGenerator[AsyncSqliteSaver]:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as saver:
        saver.serde = PackingSerializer()
        yield saver


async def fresh(tmp_path: Path) -> list[tuple[Any, str]]:
    """Read the thread as the library's own saver does, without anything remembered."""
    async with plain(tmp_path) as other:
        return await said(other)


async def test_a_turn_leaves_a_few_checkpoints_and_all_that_was_said(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    for turn in range(4):
        await say(graph, f"question {turn}")
        before, many = await fresh(tmp_path), await rows(saver)
        assert await compact(saver, "t1", "messages") >= ROUNDS - 2
        assert await rows(saver) < many
        assert await fresh(tmp_path) == before == await said(saver)
    assert await rows(saver) <= 4 * 4
    assert len(await fresh(tmp_path)) == 4 * (1 + ROUNDS + 1)


async def test_compacting_twice_changes_nothing(saver: CheckpointSaver, tmp_path: Path) -> None:
    await say(graph_on(saver), "hello")
    await compact(saver, "t1", "messages")
    before = await fresh(tmp_path)
    assert await compact(saver, "t1", "messages") == 0
    assert await fresh(tmp_path) == before


async def test_it_is_done_as_soon_as_there_is_some_of_it(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    counts: list[int] = []
    for turn in range(4):
        await say(graph, f"question {turn}")
        await compact_many(saver, "t1", "messages")
        counts.append(await rows(saver))
    assert counts == [10, 6, 16, 12]
    assert len(await fresh(tmp_path)) == 4 * 8


async def test_turns_that_a_crash_left_are_made_small_with_the_next(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    for turn in range(3):
        await say(graph, f"question {turn}")
    before = await fresh(tmp_path)
    await compact(saver, "t1", "messages")
    assert await fresh(tmp_path) == before
    heads = [len(past.values.get("messages", [])) async for past in graph.aget_state_history(CONFIG) if not past.next]
    assert heads == [24, 16, 8]


async def test_other_threads_and_threads_without_anything_are_left_alone(saver: CheckpointSaver) -> None:
    graph = graph_on(saver)
    await say(graph, "mine")
    await say(graph, "theirs", OTHER)
    theirs = await said(saver, OTHER)
    assert await compact(saver, "nobody", "messages") == 0
    await compact(saver, "t1", "messages")
    assert await said(saver, OTHER) == theirs


async def test_an_approval_that_waits_can_still_be_answered(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    await say(graph, "ask")
    await compact(saver, "t1", "messages")
    assert (await graph.aget_state(CONFIG)).interrupts
    await graph.ainvoke(Command(resume="yes"), CONFIG, durability="sync")
    await saver.saved()
    assert len(await fresh(tmp_path)) == 16


async def test_a_branch_keeps_its_own_messages(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    history = [past async for past in graph.aget_state_history(CONFIG)]
    middle = history[len(history) // 2]
    await graph.ainvoke(
        {"messages": [HumanMessage("other way", id="other")], "round": 0}, middle.config, durability="sync"
    )
    await saver.saved()
    branch = await fresh(tmp_path)
    old = [(message.id, message.text) for message in (await graph.aget_state(history[0].config)).values["messages"]]
    await compact(saver, "t1", "messages")
    assert await fresh(tmp_path) == branch == await said(saver)
    async with plain(tmp_path) as other:
        assert await said(other, history[0].config) == old


async def test_a_branch_from_what_was_made_small_starts_with_what_was_said_there(
    saver: CheckpointSaver, tmp_path: Path
) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    await say(graph, "second")
    await compact(saver, "t1", "messages")
    first = [past async for past in graph.aget_state_history(CONFIG) if not past.next][-1]
    await graph.ainvoke({"messages": [HumanMessage("instead")], "round": 0}, first.config, durability="sync")
    await compact(saver, "t1", "messages")
    texts = [text for _, text in await fresh(tmp_path)]
    assert len(texts) == 16
    assert "instead" in texts
    assert "second" not in texts


async def test_what_was_written_before_a_whole_value_does_not_come_back(saver: CheckpointSaver, tmp_path: Path) -> None:
    """A task that was dropped when its run went on leaves what it wrote: the value that follows is stored whole."""
    await say(graph_on(saver, OftenWhole), "hello")
    before = await fresh(tmp_path)
    newest_first = [row async for row in saver.alist(CONFIG)]
    whole = [number for number, row in enumerate(newest_first) if "messages" in row.checkpoint["channel_values"]]
    ghost = newest_first[whole[0] + 1].config
    await saver.aput_writes(ghost, [("messages", [AIMessage("a ghost", id="ghost")])], "ffff-dropped")
    await saver.saved()
    assert await fresh(tmp_path) == before
    assert await compact(saver, "t1", "messages") > 0
    assert await fresh(tmp_path) == before


async def test_it_is_all_or_nothing(saver: CheckpointSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await say(graph_on(saver), "hello")
    before, many = await fresh(tmp_path), await rows(saver)

    def fails(value: Any) -> Any:
        raise OSError(value)

    with monkeypatch.context() as patched:
        patched.setattr(saver.serde, "dumps_typed", fails)
        with pytest.raises(OSError, match="step 0"):
            await compact(saver, "t1", "messages")
    assert (await fresh(tmp_path), await rows(saver)) == (before, many)


async def test_if_it_fails_nobody_else_loses_anything_and_it_is_done_with_the_next_run(
    saver: CheckpointSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(graph_on(saver), "mine")
    await say(graph_on(saver), "mine too")
    await CheckpointSaver.aput_writes(saver, last_of(OTHER), [("messages", [AIMessage("theirs")])], "task")
    saver.hand_over("t2")

    def fails(*_: Any) -> Any:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(saver.serde, "dumps_typed", fails)
        with pytest.raises(OSError, match="room"):
            await compact_many(saver, "t1", "messages")
    await saver.saved("t2")
    async with (
        plain(tmp_path) as other,
        other.conn.execute("SELECT thread_id FROM writes WHERE task_id = 'task'") as found,
    ):
        assert await found.fetchall() == [("t2",)]
    many = await rows(saver)
    await compact_many(saver, "t1", "messages")
    assert await rows(saver) < many


def last_of(config: Any) -> Any:
    return {"configurable": {**config["configurable"], "checkpoint_ns": "", "checkpoint_id": "c"}}


async def test_what_a_turn_leaves_takes_little_room(saver: CheckpointSaver) -> None:
    graph, sizes = graph_on(saver), list[int]()
    for turn in range(3):
        await say(graph, f"question {turn}")
        await compact(saver, "t1", "messages")
        query = "SELECT sum(length(checkpoint)) FROM checkpoints WHERE type LIKE 'zlib:%'"
        async with saver.conn.execute(query) as found:
            sizes.append((await found.fetchone() or (0,))[0])
    assert 0 < sizes[0] < sizes[1] < sizes[2]
    assert len([past async for past in graph.aget_state_history(CONFIG)]) == await rows(saver)


def test_what_is_packed_is_read_as_what_it_was_and_packed_once() -> None:
    serializer, value = PackingSerializer(), [HumanMessage("你好 😀" * 1_000, id="h"), None, b"x", {"a": 1}]
    kind, content = packed(*serializer.dumps_typed(value))
    assert len(content) < 1_000
    assert packed(kind, content) == (kind, content)
    assert serializer.loads_typed((kind, content)) == value
    assert serializer.loads_typed(serializer.dumps_typed(value)) == value
