"""Steps that only think are stored in one trip, with what follows them, and never later than something else sees."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.types import INTERRUPT, TASKS
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from api.storage.steps import is_one_thought
from tests.api.storage.talk import CONFIG, Talk, fresh, rows_of, said, say

AT: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": ""}}
READ: Any = Send("act", {"call": {"risk": "read"}})


async def test_each_thought_is_stored_in_one_trip_before_the_next_one_begins(
    saver: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    trips: list[Any] = []
    run = saver.thread.run

    async def counted(work: Any, *args: Any, **options: Any) -> Any:
        trips.append(work)
        return await run(work, *args, **options)

    def look(state: Talk) -> dict[str, Any]:
        del state
        seen.append(rows_of(url, "t1")["checkpoints"])
        return {"round": 0}

    builder = StateGraph(Talk)
    for name in ("begin", "drive_agent", "cite"):
        builder.add_node(name, look)
    for edge in pairwise([START, "begin", "drive_agent", "cite", END]):
        builder.add_edge(*edge)
    monkeypatch.setattr(saver.thread, "run", counted)
    await builder.compile(checkpointer=saver).ainvoke({"messages": [], "round": 0}, CONFIG, durability="sync")
    assert seen == [2, 3, 4]
    assert rows_of(url, "t1")["checkpoints"] == 5
    assert len(trips) == 1 + 4, "one to read, and one for each step"


@pytest.mark.parametrize("turns", range(0, 60, 4))
async def test_a_turn_of_thoughts_that_is_cancelled_leaves_a_thread_that_is_read_as_it_is_stored(
    saver: Any, url: str, turns: int
) -> None:
    graph = thinking(saver)
    await say(graph, "first")
    running = asyncio.create_task(say(graph, "second"))
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await said(saver) == await fresh(url)
    await say(graph, "third")
    assert await said(saver) == await fresh(url)
    texts = [text for _, text in await said(saver)]
    assert texts[:3] == ["first", "begin", "drive_agent"]
    assert texts[-3:] == ["third", "begin", "drive_agent"]


async def test_the_messages_of_a_thought_come_with_the_checkpoint_that_has_its_other_values(
    saver: Any, url: str
) -> None:
    at = await saver.aput(AT, checkpoint({"branch:to:drive_agent": None}), {}, {})
    await saver.aput_writes(at, [("round", 7), ("messages", [AIMessage("a")])], "task")
    assert writes_of(url) == 0
    await saver.aput(at, {**checkpoint({}), "id": "9"}, {"source": "loop"}, {})
    assert [channel for _, channel, _ in (await saver.aget_tuple(at)).pending_writes] == ["messages"]


async def test_the_messages_of_a_thought_are_not_stored_if_the_checkpoint_that_follows_fails(
    saver: Any, url: str
) -> None:
    at = await saver.aput(AT, checkpoint({"branch:to:drive_agent": None}), {}, {})
    await saver.aput_writes(at, [("round", 7), ("messages", [AIMessage("a")])], "task")
    unstorable = {"source": "loop", "parents": object()}
    with pytest.raises(TypeError):
        await saver.aput(at, {**checkpoint({}), "id": "9"}, unstorable, {})
    await saver.aput(AT, {**checkpoint({}), "id": "91"}, {"source": "loop"}, {})
    assert writes_of(url) == 0


async def test_the_writes_of_a_thought_that_was_given_up_are_never_stored(saver: Any, url: str) -> None:
    at = await saver.aput(AT, checkpoint({"branch:to:drive_agent": None}), {}, {})
    await asyncio.create_task(saver.aput_writes(at, [("messages", [AIMessage("a")])], "task"))
    await saver.aput(at, {**checkpoint({}), "id": "9"}, {"source": "update"}, {})
    await saver.aput(at, {**checkpoint({}), "id": "91"}, {"source": "loop"}, {})
    assert writes_of(url) == 0


async def test_the_writes_of_an_update_at_a_thought_are_stored_with_its_checkpoint(saver: Any, url: str) -> None:
    at = await saver.aput(AT, checkpoint({"branch:to:drive_agent": None}), {}, {})
    await asyncio.create_task(saver.aput_writes(at, [("messages", [AIMessage("a")])], "given up"))
    await saver.aput_writes(at, [("messages", [AIMessage("b")])], "update")
    await saver.aput(at, {**checkpoint({}), "id": "9"}, {"source": "update"}, {})
    assert writes_of(url) == 1


@pytest.mark.parametrize("channel", [INTERRUPT, "__error__"])
async def test_a_question_and_a_failure_of_a_thought_are_stored_at_once(saver: Any, url: str, channel: str) -> None:
    at = await saver.aput(AT, checkpoint({"branch:to:drive_agent": None}), {}, {})
    await saver.aput_writes(at, [(channel, "why")], "task")
    assert writes_of(url) == 1


@pytest.mark.parametrize("values", [{"branch:to:act": None}, {"branch:to:drive_agent": None, TASKS: [READ]}])
async def test_the_writes_of_other_steps_are_stored_at_once(saver: Any, url: str, values: dict[str, Any]) -> None:
    at = await saver.aput(AT, checkpoint(values), {}, {})
    await saver.aput_writes(at, [("round", 7)], "task")
    assert writes_of(url) == 1


async def test_a_deleted_thread_leaves_nothing_that_waits(saver: Any, url: str) -> None:
    at = await saver.aput(AT, checkpoint({"branch:to:begin": None}), {}, {})
    await saver.aput_writes(at, [("messages", [AIMessage("a")])], "task")
    await saver.adelete_thread("t1")
    await saver.aget_tuple(AT)
    assert writes_of(url) == 0


@pytest.mark.parametrize(
    ("values", "thought"),
    [
        ({"__start__": {}}, True),
        ({"branch:to:begin": None, "messages": []}, True),
        ({"branch:to:begin": None, "branch:to:cite": None}, False),
        ({"branch:to:act": None}, False),
        ({"branch:to:drive_agent": None, "plan": {"plan_id": "p"}}, False),
        ({TASKS: [READ]}, False),
        ({"messages": []}, False),
    ],
)
def test_one_node_that_thinks_is_a_thought(values: dict[str, Any], thought: bool) -> None:
    assert is_one_thought(values) == thought


def thinking(saver: Any) -> Any:
    """Return a graph of the names of nodes that think, each of which says its own."""

    def node(name: str) -> Any:
        def think(state: Talk) -> dict[str, Any]:
            return {"messages": [AIMessage(name, id=f"{name}-{len(state['messages'])}")]}

        return think

    builder = StateGraph(Talk)
    for name in ("begin", "drive_agent"):
        builder.add_node(name, node(name))
    for edge in pairwise([START, "begin", "drive_agent", END]):
        builder.add_edge(*edge)
    return builder.compile(checkpointer=saver)


def writes_of(url: str) -> int:
    rows = rows_of(url, "t1")
    return rows["writes" if "writes" in rows else "checkpoint_writes"]


def checkpoint(values: dict[str, Any]) -> Any:
    return {**empty_checkpoint(), "channel_values": values}
