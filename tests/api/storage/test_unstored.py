# pyright: reportPrivateUsage=false
# What waits is seen nowhere else.
"""Steps that follow one another fast: what is stored of them, and that nothing that was said is lost by it."""

import sqlite3
from collections.abc import AsyncGenerator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.types import Command, Overwrite

from api.storage import checkpoints
from api.storage.checkpoints import CheckpointSaver, open_checkpoints
from api.storage.packing import Kept, PackingSerializer
from api.storage.unstored import Step, Unstored, Written, staying
from tests.api.storage.test_compaction import CONFIG, OTHER, OftenWhole, fresh, graph_on, plain, rows, said, say

THREAD: Any = {"thread_id": "t1", "checkpoint_ns": ""}


class SometimesStored(CheckpointSaver):
    """Stores at the steps that are marked, as a run does that is slow in between."""

    marks: tuple[bool, ...] = ()
    taken = 0

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        stored = await super().aput(*args, **kwargs)
        self.taken += 1
        if self.marks and self.marks[self.taken % len(self.marks)]:
            await self.saved()
        return stored


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, nothing is stored between two steps by the clock."""
    monkeypatch.setattr(checkpoints, "GATHERING_SECONDS", 600)


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncGenerator[CheckpointSaver]:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        yield saver


async def test_of_a_fast_turn_its_input_what_is_beside_that_and_its_end_are_stored(
    saver: CheckpointSaver, tmp_path: Path
) -> None:
    graph = graph_on(saver)
    steps: list[int] = []
    for turn in range(3):
        await say(graph, f"question {turn}")
        steps.append(await rows(saver))
    history = [past async for past in graph.aget_state_history(CONFIG)]

    # Before the calls of a turn, which are stored as ever: the input, the one after it, and the one that calls.
    assert [later - earlier for earlier, later in pairwise([0, *steps])] == [5, 5, 5]
    assert [past.metadata["source"] for past in history].count("input") == 3
    assert all(later.parent_config == earlier.config for later, earlier in pairwise(history))
    assert await fresh(tmp_path) == await said(saver)
    assert len(await said(saver)) == 24


@pytest.mark.anyio
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(marks=st.lists(st.booleans(), max_size=9).map(tuple), whole=st.booleans())
async def test_whenever_it_is_stored_the_same_was_said(
    tmp_path_factory: pytest.TempPathFactory, marks: tuple[bool, ...], whole: bool
) -> None:
    folder = tmp_path_factory.mktemp("marks")
    async with open_checkpoints(folder / "graph.db") as opened:
        saver = SometimesStored(opened.gathering)
        saver.marks = marks
        graph = graph_on(saver, OftenWhole) if whole else graph_on(saver)
        for text in ("first", "ask", "third"):
            await say(graph, text)
            if text == "ask":
                await graph.ainvoke(Command(resume="yes"), CONFIG, durability="sync")
        await saver.saved()
        found = await fresh(folder)
        await saver.aclose()
    texts = [text for _, text in found]
    assert [text for text in texts if not text.startswith(("step", "at once"))] == ["first", "ask", "third"]
    assert texts[:8] == ["first", *(f"step {number}" for number in range(6)), "at once"]
    assert [text for text in texts if text.startswith("step")] == [f"step {number}" for number in range(6)] * 3
    assert len(texts) == 24


async def test_a_branch_from_what_was_stored_has_its_own_messages(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    await say(graph, "second")
    history = [past async for past in graph.aget_state_history(CONFIG)]
    first = next(past for past in reversed(history) if not past.next)
    await graph.ainvoke({"messages": [HumanMessage("instead")], "round": 0}, first.config, durability="sync")
    await saver.saved()

    assert [text for _, text in await fresh(tmp_path) if text in {"first", "second", "instead"}] == ["first", "instead"]
    async with plain(tmp_path) as other:
        old = await said(other, history[0].config)
    assert [text for _, text in old if text in {"first", "second"}] == ["first", "second"]


async def test_who_reads_sees_what_is_not_stored_yet(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    await graph.ainvoke({"messages": [HumanMessage("hello")], "round": 0}, CONFIG, durability="sync")

    seen = (await graph.aget_state(CONFIG)).values["messages"]
    listed = [row async for row in saver.alist(None)]

    assert len(seen) == 8
    assert len(listed) == 5
    await saver.saved()
    assert len(await fresh(tmp_path)) == 8


async def test_what_can_not_be_written_is_told_to_its_thread_alone(saver: CheckpointSaver) -> None:
    checkpoint: Any = empty_checkpoint() | {"channel_values": {"a": object()}}
    await saver.aput({"configurable": {**THREAD, "thread_id": "t9"}}, checkpoint, {}, {})
    await say(graph_on(saver), "hello", OTHER)

    assert len(await said(saver, OTHER)) == 8
    with pytest.raises(TypeError, match="object"):
        await saver.saved("t9")
    await saver.saved("t9")


async def test_a_step_that_stays_is_what_it_was_and_can_be_gone_on_from(saver: CheckpointSaver) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    history = [past async for past in graph.aget_state_history(CONFIG)]
    begun = next(past for past in history if past.metadata["step"] == 0)
    assert [message.text for message in begun.values["messages"]] == ["first"]
    await graph.ainvoke(None, begun.config, durability="sync")
    await saver.saved()
    assert [text for _, text in await said(saver)] == ["first", *(f"step {n}" for n in range(6)), "at once"]


async def test_of_steps_of_which_one_can_not_be_written_none_is(saver: CheckpointSaver, tmp_path: Path) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    before, many = await fresh(tmp_path), await rows(saver)
    for one in (step(90), bad_step()):
        saver._waiting("t1").add(one)
    with pytest.raises(TypeError, match="object"):
        await saver.saved("t1")
    assert await fresh(tmp_path) == await said(saver) == before
    assert await rows(saver) == many


def bad_step() -> Step:
    checkpoint: Any = empty_checkpoint() | {"channel_values": {"a": object()}}
    return Step({"configurable": {**THREAD}}, checkpoint, {})


async def test_a_thread_that_lost_something_is_as_it_was_before(saver: CheckpointSaver, tmp_path: Path) -> None:
    """A commit fails while the run goes on: what came after it has nothing to follow, and is not stored."""
    graph = graph_on(saver)
    await say(graph, "first")
    before = await fresh(tmp_path)
    commit, failed = saver.gathering.commit, False

    async def fails_once() -> None:
        nonlocal failed
        if failed:
            return await commit()
        failed = True
        # While the disk is busy the run takes its next steps.
        saver._waiting("t1").add(step(90))
        await saver.conn.execute("INSERT INTO nowhere VALUES (1)")
        saver.hand_over("t1")
        saver._waiting("t1").add(step(91))
        return await commit()

    saver.gathering.commit = fails_once
    with pytest.raises(sqlite3.OperationalError):
        await graph.ainvoke({"messages": [HumanMessage("second")], "round": 0}, CONFIG, durability="sync")
    await saver.saved()
    assert await fresh(tmp_path) == before
    await say(graph, "third")
    assert [text for _, text in await fresh(tmp_path) if text in {"first", "second", "third"}] == ["first", "third"]
    assert await orphans(saver) == 0


async def orphans(saver: CheckpointSaver) -> int:
    query = """
    SELECT count(*) FROM checkpoints c WHERE parent_checkpoint_id IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM checkpoints p WHERE p.thread_id = c.thread_id AND p.checkpoint_id = c.parent_checkpoint_id)
    """
    async with saver.conn.execute(query) as found:
        return (await found.fetchone() or (0,))[0]


async def test_who_asks_whether_the_file_can_be_read_moves_nobodys_steps(saver: CheckpointSaver) -> None:
    graph = graph_on(saver)
    await graph.ainvoke({"messages": [HumanMessage("hello")], "round": 5}, CONFIG, durability="sync")
    assert saver.owes
    await saver.aget_tuple({"configurable": {"thread_id": "", "checkpoint_ns": ""}})
    assert "t1" in saver._unstored


async def test_a_thread_that_is_deleted_does_not_come_back_with_what_waited(saver: CheckpointSaver) -> None:
    graph = graph_on(saver)
    await graph.ainvoke({"messages": [HumanMessage("hello")], "round": 0}, CONFIG, durability="sync")
    await saver.adelete_thread("t1")
    await saver.saved()
    assert await said(saver) == []
    assert await rows(saver) == 0


def step(number: int, parent: int | None = None, said: Any = None, source: str = "loop") -> Step:
    before = number - 1 if parent is None else parent
    checkpoint: Any = empty_checkpoint() | {"id": str(number)}
    metadata: Any = {"source": source, "counters_since_delta_snapshot": {"messages": (1, 1)}}
    written = [Written({"configurable": {**THREAD, "checkpoint_id": str(number)}}, [("messages", said)], "task")]
    config: Any = {"configurable": {**THREAD, "checkpoint_id": str(before)}}
    return Step(config, checkpoint, metadata, written if said is not None else [])


def stored(*steps: Step) -> list[tuple[str, str, list[Any]]]:
    unstored = Unstored("messages")
    for one in steps:
        unstored.add(one)
    return [
        (one.id, one.parent, [plain_value(v) for w in one.written for _, v in w.writes]) for one in unstored.staying()
    ]


def writes_at(step: Step) -> list[tuple[str, Any]]:
    return [write for written in step.written for write in written.writes]


def plain_value(value: Any) -> Any:
    return value.value if isinstance(value, Kept) else value


def test_what_was_said_at_steps_that_go_is_kept_in_its_order_with_the_one_before() -> None:
    one, two, three = (AIMessage(text) for text in "abc")
    assert stored(step(1, said=[one]), step(2, said=two), step(3, said=[three]), step(4)) == [
        ("1", "0", [[one, two, three]]),
        ("4", "1", []),
    ]


def test_steps_that_branch_or_replace_messages_are_stored_as_they_are() -> None:
    branching = [step(1), step(2), step(3, parent=1), step(4)]
    replacing = [step(1), step(2, said=Overwrite([])), step(3), step(4)]
    assert [found[0] for found in stored(*branching)] == ["1", "2", "3", "4"]
    assert [found[0] for found in stored(*replacing)] == ["1", "2", "3", "4"]


def test_a_task_that_wrote_twice_counts_once() -> None:
    first = step(1, said=[AIMessage("a")])
    first.written.append(first.written[0])
    assert [len(value) for _, _, values in stored(first, step(2), step(3)) for value in values] == [1]


@pytest.mark.parametrize("text", ["", "短", "the contract ends in March " * 400])
def test_what_is_kept_is_stored_as_what_it_holds_in_little_room(text: str) -> None:
    serializer, said = PackingSerializer(), [HumanMessage(text, id="h")] * 3
    stored_as = serializer.dumps_typed(Kept(said))
    assert serializer.loads_typed(stored_as) == said
    assert len(stored_as[1]) < 4_096


@pytest.mark.parametrize(
    ("are_marked", "stay"),
    [([], set()), ([False], {0}), ([False] * 4, {0, 3}), ([False, False, True, False, False, False], {0, 1, 2, 3, 5})],
)
def test_the_ends_stay_and_what_is_marked_with_what_is_beside_it(are_marked: list[bool], stay: set[int]) -> None:
    assert staying(are_marked) == stay
