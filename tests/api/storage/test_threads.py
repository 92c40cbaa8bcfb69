"""Threads on each kind of storage are read back whole: by their owner, from any step, after any failure."""

import asyncio
import os
import signal
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from api.storage import cached_saver
from api.storage.threads import PackingSerializer, open_threads
from drive_server.kernel.errors import InvalidInputError
from graph.drive.connections import ConnectionPool
from graph.messages.stored_results import ResultCache, ResultStore
from graph.settings import AgentSettings
from tests.api.storage.talk import (
    CONFIG,
    KILLED_AT,
    MESSAGES_OF_A_TURN,
    OTHER,
    ROUNDS,
    Talk,
    fresh,
    graph_on,
    plain_saver,
    rows_of,
    said,
    say,
)
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.fakes.clock import SettableClock
from tests.fakes.tiny_drive import TinyDrive
from tests.forked import Forked
from tests.graph.assistant import approve, assemble

WORDS = "合同 你好 😀 a\x00b \\u0000"


async def test_each_turn_is_read_as_the_library_reads_it(saver: Any, url: str) -> None:
    graph = graph_on(saver)
    for turn in range(4):
        await say(graph, f"question {turn}")
        assert await said(saver) == await fresh(url)
    assert len(await said(saver)) == 4 * (1 + ROUNDS + 1)


async def test_a_turn_reads_nothing_of_the_turns_before(saver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    library = next(base for base in type(saver).__mro__ if base.__module__.startswith("langgraph"))
    reads = library.aget_delta_channel_history

    async def counted(self: Any, **named: Any) -> Any:
        read.append(named)
        return await reads(self, **named)

    monkeypatch.setattr(library, "aget_delta_channel_history", counted)
    for turn in range(4):
        await say(graph_on(saver), f"question {turn}")
    assert len(await said(saver)) == 4 * 8
    assert read == []


async def test_history_lists_every_step_and_each_can_be_gone_back_to(saver: Any, url: str) -> None:
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
        assert await said(saver, at) == await fresh(url, at)


@pytest.mark.parametrize("back", [3, 9, 14])
async def test_a_branch_from_an_old_step_starts_with_what_was_said_there(saver: Any, url: str, back: int) -> None:
    graph = graph_on(saver)
    await say(graph, "first")
    await say(graph, "second")
    history = [past async for past in graph.aget_state_history(CONFIG)]
    newest = await said(saver)
    there = await said(saver, history[back].config)
    await say(graph, "instead", history[back].config)
    branch = await said(saver)
    assert branch == await fresh(url)
    assert branch[: len(there)] == there
    assert "instead" in [text for _, text in branch]
    assert await said(saver, history[0].config) == newest
    await say(graph, "on the branch")
    assert await said(saver) == await fresh(url)
    async for past in graph.aget_state_history(CONFIG):
        assert [(m.id, m.text) for m in past.values.get("messages", [])] == await fresh(url, past.config)


async def test_a_history_goes_back_to_the_beginning_once(saver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await say(graph_on(saver), "first")
    await say(graph_on(saver), "second")
    saver.forget("t1")
    read: list[Any] = []
    library = next(base for base in type(saver).__mro__ if base.__module__.startswith("langgraph"))
    reads = library.get_delta_channel_history

    def counted(self: Any, **named: Any) -> Any:
        read.append(named)
        return reads(self, **named)

    monkeypatch.setattr(library, "get_delta_channel_history", counted)
    history = [past async for past in graph_on(saver).aget_state_history(CONFIG, limit=10)]
    assert len(history) == 10
    assert len(read) == 1


async def test_what_another_process_adds_to_a_thread_is_seen(saver: Any, url: str) -> None:
    async with open_threads(url) as storage:
        other = storage.saver
        await say(graph_on(saver), "first")
        await said(saver)
        await say(graph_on(other), "second")
        await say(graph_on(saver), "third")
        assert await said(saver) == await said(other) == await fresh(url)
        assert len(await said(saver)) == 24


async def test_an_approval_that_waits_is_answered_by_another_process(saver: Any, url: str) -> None:
    await say(graph_on(saver), "first")
    await say(graph_on(saver), "ask")
    async with open_threads(url) as storage:
        other = storage.saver
        assert (await graph_on(other).aget_state(CONFIG)).interrupts
        await graph_on(other).ainvoke(Command(resume="yes"), CONFIG, durability="sync")
        assert await said(saver) == await said(other) == await fresh(url)
    assert len(await said(saver)) == 16


async def test_what_a_node_does_to_its_messages_is_not_remembered(saver: Any, url: str) -> None:
    await say(graph_on(saver), "first")
    (await graph_on(saver).aget_state(CONFIG)).values["messages"].clear()
    assert await said(saver) == await fresh(url)


@pytest.mark.parametrize(("name", "most"), [("MAX_MESSAGES", 10), ("MAX_THREADS", 1)])
async def test_threads_that_were_not_used_for_longest_are_forgotten_and_read_again(
    saver: Any, url: str, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(cached_saver, name, most)
    for config in (CONFIG, OTHER, CONFIG, OTHER):
        await say(graph_on(saver), "hello", config)
    assert await said(saver) == await fresh(url)
    assert await said(saver, OTHER) == await fresh(url, OTHER)


async def test_a_deleted_thread_is_gone_from_memory_too(saver: Any) -> None:
    await say(graph_on(saver), "first")
    await said(saver)
    await saver.adelete_thread("t1")
    assert await said(saver) == []
    await say(graph_on(saver), "anew")
    assert len(await said(saver)) == 8


@pytest.mark.parametrize("turns", range(1, 40, 3))
async def test_a_run_that_is_cancelled_at_any_moment_leaves_a_thread_that_is_read_as_it_is_stored(
    saver: Any, url: str, turns: int
) -> None:
    await say(graph_on(saver), "first")
    running = asyncio.create_task(say(graph_on(saver), "second"))
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await graph_on(saver).ainvoke(None, CONFIG, durability="sync")
    await say(graph_on(saver), "third")
    assert await said(saver) == await fresh(url)
    assert [text for _, text in await said(saver)].count("third") == 1


async def test_a_write_cancelled_while_its_checkpoint_is_stored_is_read_as_it_is_stored(
    saver: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(graph_on(saver), "first")
    loop, cancelled, put_writes = asyncio.get_running_loop(), asyncio.Event(), saver.put_writes

    async def late(checkpoint: Any) -> None:
        del checkpoint
        await cancelled.wait()

    def interrupted(*args: Any) -> None:
        loop.call_soon_threadsafe(running.cancel)
        put_writes(*args)

    with monkeypatch.context() as patched:
        patched.setattr(saver, "after_put", late)
        patched.setattr(saver, "put_writes", interrupted)
        running = asyncio.create_task(say(graph_on(saver), "second"))
        await asyncio.wait([running], timeout=0.2)
        cancelled.set()
        await asyncio.gather(running, return_exceptions=True)
    await graph_on(saver).ainvoke(None, CONFIG, durability="sync")
    await say(graph_on(saver), "third")
    assert await said(saver) == await fresh(url)


async def test_each_step_is_stored_before_the_next_one_begins(saver: Any, url: str) -> None:
    seen: list[int] = []

    def look(state: Talk) -> dict[str, Any]:
        del state
        seen.append(rows_of(url, "t1")["checkpoints"])
        return {"round": 0}

    builder = StateGraph(Talk)
    for name in ("one", "two", "three"):
        builder.add_node(name, look)
    for edge in pairwise([START, "one", "two", "three", END]):
        builder.add_edge(*edge)
    await say(builder.compile(checkpointer=saver), "hi")
    assert seen == [2, 3, 4]


async def test_a_deleted_thread_leaves_no_row_and_the_others_all_of_theirs(saver: Any, url: str) -> None:
    for config in (CONFIG, OTHER):
        await say(graph_on(saver), "first", config)
    others = rows_of(url, "t2")
    assert all(others.values())
    await saver.adelete_thread("t1")
    assert set(rows_of(url, "t1").values()) == {0}
    assert rows_of(url, "t2") == others


async def test_threads_that_run_at_once_stay_apart(saver: Any, url: str) -> None:
    configs: list[Any] = [{"configurable": {"thread_id": f"at once {number}"}} for number in range(8)]
    for text in ("first", "second"):
        await asyncio.gather(*(say(graph_on(saver), f"{text} {index}", each) for index, each in enumerate(configs)))
    for index, each in enumerate(configs):
        words = await said(saver, each)
        assert [text for _, text in words][::MESSAGES_OF_A_TURN] == [f"first {index}", f"second {index}"]
        assert words == await fresh(url, each)


@pytest.mark.story
async def test_what_a_killed_process_had_done_is_not_done_again(saver: Any, url: str) -> None:
    await say(graph_on(saver), "first")
    with Forked("tests.api.storage.talk", [url, "second"], {**os.environ, KILLED_AT: str(ROUNDS // 2)}) as process:
        assert process.wait(60) == -signal.SIGKILL, process.stderr.read().decode()
    before = await said(saver)
    assert [text for _, text in before][MESSAGES_OF_A_TURN:] == ["second", "step 0", "step 1", "step 2"]
    await graph_on(saver).ainvoke(None, CONFIG, durability="sync")
    assert (await said(saver))[: len(before)] == before
    assert len(await said(saver)) == 2 * MESSAGES_OF_A_TURN
    assert await said(saver) == await fresh(url)


async def test_a_thread_that_the_library_alone_wrote_is_read_and_goes_on(saver: Any, url: str) -> None:
    async with plain_saver(url) as plain:
        await say(graph_on(plain), "long " * 1_000)
    before = await said(saver)
    assert before[0][1] == "long " * 1_000
    await say(graph_on(saver), "second")
    assert (await said(saver))[: len(before)] == before
    assert await said(saver) == await fresh(url)


async def test_words_of_any_kind_are_read_as_they_were_said(saver: Any, url: str) -> None:
    await say(graph_on(saver), WORDS)
    assert (await said(saver))[0][1] == WORDS
    assert await said(saver) == await fresh(url)


async def test_what_is_remembered_outlives_the_process(url: str) -> None:
    words = WORDS.replace("\x00", "")
    for is_new in (True, False):
        async with open_threads(url) as storage:
            texts = ResultStore(storage.store, ResultCache(), "u", "t")
            if is_new:
                await texts.put("short", words)
                await texts.put("long", WORDS * 100)
            assert await texts.texts(["short", "long", "other"]) == {"short": words, "long": WORDS * 100}


async def test_an_approval_outlives_the_process_that_asked(url: str) -> None:
    drive, model, clock = TinyDrive(), ScriptedChatModel(), SettableClock()
    pool = ConnectionPool(drive.open_session, call_seconds=5, idle_seconds=60, clock=clock)
    for is_new in (True, False):
        async with open_threads(url) as storage:
            settings = AgentSettings(model="offline")
            assistant = assemble(model, pool, storage.saver, settings=settings, store=storage.store, clock=clock)
            assistant.thread_id = "t"
            if is_new:
                model.script = [tool_call("trash_item", "t", item_id="a")]
                assert (await assistant.say("move a to the trash")).asked
                continue
            model.script = ["Gone."]
            assert (await assistant.answer(approve("t"))).text.strip() == "Gone."
    assert [name for name, _ in drive.done] == ["trash_item"]
    await pool.aclose()


def test_what_is_packed_is_read_as_what_it_was() -> None:
    serializer, value = PackingSerializer(), [HumanMessage("你好 😀" * 1_000, id="h"), None, b"x", {"a": 1}]
    kind, content = serializer.dumps_typed(value)
    assert len(content) < 1_000
    assert serializer.loads_typed((kind, content)) == value
    assert serializer.loads_typed(serializer.dumps_typed("short")) == "short"


def test_a_url_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="mysql"):
        open_threads("mysql://somewhere/threads")
