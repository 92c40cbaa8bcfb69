"""Threads in files of SQLite: their earlier form, a failing disk, what waits for the disk, and locks."""

import asyncio
import gzip
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.types import TASKS
from langgraph.types import Send

from api.storage import sqlite_threads
from api.storage.sqlite_threads import SqliteThreads
from api.storage.steps import may_be_seen
from api.storage.threads import open_threads
from drive_server.kernel.errors import StorageFailureError
from graph.drive.connections import ConnectionPool
from graph.settings import AgentSettings
from tests.api.storage.talk import fresh, graph_on, said, say
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.fakes.clock import SettableClock
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import approve, assemble


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'graph.db'}"


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[SqliteThreads]:
    async with open_threads(f"sqlite:///{folder / 'graph.db'}") as storage:
        yield cast("SqliteThreads", storage.saver)


async def keep(saver: SqliteThreads) -> None:
    await saver.aput({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})


async def test_a_thread_of_the_earlier_form_is_read_and_goes_on(tmp_path: Path) -> None:
    """The file was written by the service of version 0.1: steps merged and packed, an approval waiting."""
    packed = Path(__file__).with_name("old_threads.db.gz").read_bytes()
    (tmp_path / "graph.db").write_bytes(gzip.decompress(packed))
    drive, model, clock = TinyDrive(), ScriptedChatModel(), SettableClock()
    pool = ConnectionPool(drive.open_session, call_seconds=5, idle_seconds=60, clock=clock)
    async with opened(tmp_path) as saver:
        settings = AgentSettings(model="offline")
        assistant = assemble(model, pool, saver, settings=settings, clock=clock)
        assistant.thread_id = "old-thread"
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


async def test_a_run_whose_disk_fails_ends_and_the_thread_goes_on_from_what_is_stored(
    saver: SqliteThreads, url: str
) -> None:
    await say(graph_on(saver), "first")
    saver.conn.execute("PRAGMA query_only = ON")
    with pytest.raises(StorageFailureError, match=r"graph\.db may only be read"):
        await say(graph_on(saver), "lost")
    saver.conn.execute("PRAGMA query_only = OFF")
    await say(graph_on(saver), "second")
    assert await said(saver) == await fresh(url)
    assert "lost" not in [text for _, text in await said(saver)]


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
    synced: list[Path] = []
    monkeypatch.setattr(sqlite_threads, "sync", synced.append)
    checkpoint = {**empty_checkpoint(), "channel_values": values}
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    await saver.aput(config, cast("Any", checkpoint), {}, {})
    assert may_be_seen(values) == seen
    assert [path.name for path in synced] == ["graph.db-wal"] * seen
