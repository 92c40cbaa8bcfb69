from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, insert
from sqlalchemy.exc import IntegrityError

from api.events import log as event_log
from api.events.frames import Frame, read_frames
from api.events.log import BUFFER_FRAMES, EventLog
from api.storage import patience
from api.storage.database import open_database
from api.storage.tables import EventRow
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database
from tests.api.serving import execute, service_database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable
    from pathlib import Path


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(service_database(tmp_path))
    yield database
    await database.dispose()


@asynccontextmanager
async def writing(database: Database, *run_ids: str) -> AsyncGenerator[EventLog]:
    log = EventLog(database)
    for run_id in run_ids:
        await log.reopen(run_id)
    writer = asyncio.create_task(log.write())
    try:
        yield log
    finally:
        log.stop()
        await writer


async def collect(log: EventLog, run_id: str, after: int = 0) -> list[Frame]:
    return [frame async for frames in log.follow(run_id, after, 10) for frame in frames]


def said(frames: list[Frame]) -> list[tuple[int, str]]:
    return [(frame.seq, frame.data.decode()) for frame in frames]


async def test_what_a_follower_gets_is_what_is_stored(database: Database) -> None:
    async with writing(database, "r") as log:
        reading = asyncio.create_task(collect(log, "r"))
        log.append("r", {"type": "route_decision", "agent": "a"})
        await log.commit("r", [{"type": "done"}])
        assert await reading == await read_frames(database, "r")
    assert [frame.seq for frame in await reading] == [1, 2]


async def test_nothing_is_sent_that_is_not_stored(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = asyncio.Event()
    real = Database.write_sync

    async def full(self: Database, work: Callable[[Connection], Any]) -> Any:
        def failing(connection: Connection) -> Any:
            work(connection)
            if not refused.is_set():
                refused.set()
                raise StorageFailureError("The disk is full.")

        return await real(self, failing)

    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0)
    async with writing(database, "r") as log:
        monkeypatch.setattr(Database, "write_sync", full)
        frames = log.follow("r", 0, 10)
        log.append("r", {"type": "content", "text": "a"})
        first = await anext(frames)
        assert refused.is_set()
        assert said(first) == [(1, '{"type":"content","text":"a"}')]
        await frames.aclose()
    assert await read_frames(database, "r") == first


async def test_text_that_meets_in_a_transaction_becomes_one_event(database: Database) -> None:
    async with writing(database, "r", "s") as log:
        for delta in ("Gu", "ten", " Tag"):
            log.append("r", {"type": "content", "text": delta})
            log.append("s", {"type": "content", "text": delta})
        log.append("r", {"type": "tool_call_start", "tool_call_id": "1"})
        log.append("r", {"type": "content", "text": "!"})
        log.append("r", {"type": "content", "text": "new", "restarts": True})
        log.append("r", {"type": "content", "text": "er"})
        await log.commit("r", [{"type": "done"}])
    assert [data for _, data in said(await read_frames(database, "r"))] == [
        '{"type":"content","text":"Guten Tag"}',
        '{"type":"tool_call_start","tool_call_id":"1"}',
        '{"type":"content","text":"!"}',
        '{"type":"content","text":"new","restarts":true}',
        '{"type":"content","text":"er"}',
        '{"type":"done"}',
    ]
    assert said(await read_frames(database, "s")) == [(1, '{"type":"content","text":"Guten Tag"}')]


async def test_what_comes_while_the_events_before_it_are_flushed_is_stored_after_them(database: Database) -> None:
    async with writing(database, "r") as log:
        for text in ("a", "b"):
            log.append("r", {"type": "content", "text": text})
            flushed = asyncio.create_task(log.flush("r"))
            await asyncio.sleep(0)
        log.append("r", {"type": "map_progress"})
        await flushed
        await log.commit("r", [{"type": "done"}])
    assert [frame.type for frame in await read_frames(database, "r")] == ["content", "content", "map_progress", "done"]


async def test_events_are_batched_until_a_caller_waits_for_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "BATCH_SECONDS", 600)
    transactions: list[Any] = []
    write = Database.write_sync

    async def counted(self: Database, work: Any) -> Any:
        transactions.append(work)
        return await write(self, work)

    monkeypatch.setattr(Database, "write_sync", counted)
    async with writing(database, "r") as log:
        for number in range(3):
            log.append("r", {"type": "route_decision", "agent": str(number)})
            await asyncio.sleep(0)
        await log.commit("r", [{"type": "done"}])
        log.append("r", {"type": "route_decision", "agent": "3"})
    assert [frame.type for frame in await read_frames(database, "r")] == [
        *["route_decision"] * 3,
        "done",
        "route_decision",
    ]
    assert len(transactions) == 2


async def test_the_first_words_of_a_message_wait_for_no_batch_but_those_after_them_do(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "BATCH_SECONDS", 600)
    monkeypatch.setattr(event_log, "MAX_BATCH_SECONDS", 0)
    async with writing(database, "r") as log:
        frames = log.follow("r", 0, 600)
        log.append("r", {"type": "route_decision"})
        for message in ("a", "b"):
            log.append("r", {"type": "content", "text": message, "message_id": message})
            assert message in str((await anext(frames))[-1].data)
        for text in ("and", " so", " on"):
            log.append("r", {"type": "content", "text": text, "message_id": "b"})
            await asyncio.sleep(0)
        await log.commit("r", [{"type": "done"}])
    assert [frame.type for frame in await read_frames(database, "r")] == [
        "route_decision",
        *["content"] * 3,
        "done",
    ]


async def test_a_statement_that_is_refused_fails_alone(database: Database) -> None:
    twice = insert(EventRow).values(run_id="other", seq=1, type="done", data="{}")
    async with writing(database, "r", "s") as log:
        log.append("s", {"type": "route_decision"})
        with pytest.raises(IntegrityError):
            await log.commit("r", [{"type": "done"}], twice, twice)
        await log.commit("s", [{"type": "done"}])
    assert [frame.type for frame in await read_frames(database, "s")] == ["route_decision", "done"]


async def test_events_and_statements_hold_together(database: Database) -> None:
    other = insert(EventRow).values(run_id="other", seq=1, type="done", data="{}")
    async with writing(database, "r") as log:
        await log.commit("r", [{"type": "run"}], other)
        with pytest.raises(IntegrityError):
            await log.commit("r", [{"type": "done"}], other)
    assert [frame.type for frame in await read_frames(database, "r")] == ["run"]


async def test_a_follower_that_fell_behind_misses_nothing(database: Database) -> None:
    async with writing(database, "r") as log:
        frames = log.follow("r", 0, 10)
        log.append("r", {"type": "run"})
        seen = await anext(frames)
        for number in range(BUFFER_FRAMES * 3):
            log.append("r", {"type": "tool_progress", "progress": number})
        await log.commit("r", [{"type": "done"}])
        seen += [frame async for batch in frames for frame in batch]
    assert [frame.seq for frame in seen] == list(range(1, BUFFER_FRAMES * 3 + 3))


async def test_a_quiet_run_yields_nothing_now_and_then(database: Database) -> None:
    async with writing(database, "r") as log:
        frames = log.follow("r", 0, 0.001)
        assert await anext(frames) == []
        assert await anext(frames) == []
        log.append("r", {"type": "done"})
        assert [frame.type async for batch in frames for frame in batch] == ["done"]


async def test_ending_the_streams_ends_them_and_keeps_the_run(database: Database) -> None:
    async with writing(database, "r") as log:
        reading = asyncio.create_task(collect(log, "r"))
        await asyncio.sleep(0)
        log.end_follows()
        assert await reading == []
        await log.commit("r", [{"type": "done"}])
    assert [frame.type for frame in await read_frames(database, "r")] == ["done"]


async def test_queued_events_are_stored_before_the_end(database: Database, tmp_path: Path) -> None:
    async with writing(database, "r") as log:
        log.append("r", {"type": "run"})
    assert execute(tmp_path, "SELECT type FROM run_events") == [("run",)]


async def test_slow_transactions_make_batches_longer_up_to_a_limit() -> None:
    assert event_log.next_batch_time(begun=0, ended=0.001) == pytest.approx(0.021)
    assert event_log.next_batch_time(begun=0, ended=0.01) == pytest.approx(0.05)
    assert event_log.next_batch_time(begun=0, ended=3) == pytest.approx(3.1)


async def test_first_words_leave_slow_transactions_time_too() -> None:
    assert event_log.next_batch_time(begun=0, ended=0.001, soon=True) == pytest.approx(0.005)
    assert event_log.next_batch_time(begun=0, ended=3, soon=True) == pytest.approx(3.1)
