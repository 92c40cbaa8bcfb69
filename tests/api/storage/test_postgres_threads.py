"""Threads in PostgreSQL: a server that goes and comes back, and characters that its JSON has no room for."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import repeat
from typing import Any

import anyio
import psycopg
import pytest

from api.storage import patience, postgres_threads
from api.storage.database import open_database
from api.storage.replicas import CLAIM, Claim, Replica
from api.storage.threads import open_threads
from drive_server.kernel.errors import DatabaseAwayError
from graph.messages.stored_results import ResultCache, ResultStore
from tests.api.storage.postgres_server import PostgresServer, running_pair
from tests.api.storage.talk import CONFIG, fresh, graph_on, said, say
from tests.databases import async_url


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


async def test_a_server_that_was_started_anew_is_reached_again(url: str, postgres: PostgresServer) -> None:
    async with open_threads(url) as storage:
        saver = storage.saver
        texts = ResultStore(storage.store, ResultCache(), "u", "t")
        await texts.put("a", "before")
        await say(graph_on(saver), "first")
        postgres.stop()
        postgres.start()
        await say(graph_on(saver), "second")
        assert await said(saver) == await fresh(url)
        assert len(await said(saver)) == 16
        assert await ResultStore(storage.store, ResultCache(), "u", "t").get("a") == "before"


@pytest.mark.parametrize("seconds", [0.0, postgres_threads.CHECKED_SECONDS])
async def test_threads_go_to_the_server_that_writes_now(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(postgres_threads, "CHECKED_SECONDS", seconds)
    with running_pair() as (first, second):
        url = first.either(first.new_database(), second)
        async with open_threads(url) as storage:
            await say(graph_on(storage.saver), "first")
            second.promote()
            first.execute("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
            with anyio.fail_after(20):
                while "second" not in [text for _, text in await said(storage.saver)]:
                    with suppress(DatabaseAwayError):
                        await say(graph_on(storage.saver), "second")
            assert await said(storage.saver) == await fresh(url)


async def test_a_server_is_asked_once_a_connection_whether_it_writes_not_before_each_trip(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    is_writable = postgres_threads.is_writable

    def counted(connection: Any) -> bool:
        asked.append(connection.info.backend_pid)
        return is_writable(connection)

    monkeypatch.setattr(postgres_threads, "CHECKED_SECONDS", 3600.0)
    monkeypatch.setattr(postgres_threads, "is_writable", counted)
    async with open_threads(url) as storage:
        for text in ("first", "second", "third"):
            await say(graph_on(storage.saver), text)
    assert len(asked) == len({*asked}) > 0


async def test_without_a_server_a_run_ends_and_the_thread_goes_on_from_what_is_stored(
    url: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_threads, "CONNECT_SECONDS", 3)
    async with open_threads(url) as storage:
        await say(graph_on(storage.saver), "first")
        postgres.stop()
        try:
            with pytest.raises(DatabaseAwayError):
                await say(graph_on(storage.saver), "lost")
            with pytest.raises(DatabaseAwayError):
                await storage.store.aget(("a",), "b")
        finally:
            postgres.start()
        await say(graph_on(storage.saver), "second")
        assert await said(storage.saver) == await fresh(url)
        assert "lost" not in [text for _, text in await said(storage.saver)]


async def test_what_a_run_stores_and_reads_waits_until_the_server_is_back(
    url: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []

    def pauses() -> Iterator[float]:
        postgres.start()
        started.append(True)
        yield from repeat(0.1)

    monkeypatch.setattr(postgres_threads, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(patience, "pauses", pauses)
    database = await open_database(async_url(url))
    async with open_threads(url) as storage:
        await say(graph_on(storage.saver), "first")
        CLAIM.set(Claim(Replica(database), "r", "t1", 1, 1, must_announce=False))
        postgres.stop()
        await say(graph_on(storage.saver), "second")
        postgres.stop()
        await storage.store.aput(("a",), "b", {"text": "kept"})
        item = await storage.store.aget(("a",), "b")
        assert len(await said(storage.saver)) == 16
        assert await said(storage.saver) == await fresh(url)
    await database.dispose()
    assert (item and item.value, started) == ({"text": "kept"}, [True, True])


@pytest.mark.parametrize("number", range(3))
async def test_services_that_first_start_at_once_on_one_empty_database_all_have_threads(url: str, number: int) -> None:
    async def start(name: str) -> None:
        async with open_threads(url) as storage:
            await say(graph_on(storage.saver), name)
            await storage.store.aput(("a",), name, {"number": number})

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for name in ("first", "second", "third"):
                tasks.start_soon(start, name)
    with psycopg.connect(url) as connection:
        unusable = connection.execute("SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid").fetchall()
        names = connection.execute("SELECT key FROM store ORDER BY key").fetchall()
    assert unusable == []
    assert names == [("first",), ("second",), ("third",)]


async def test_each_row_of_a_thread_stands_in_one_index_also_of_a_database_of_an_earlier_version(url: str) -> None:
    indexes = "SELECT indexdef FROM pg_indexes WHERE tablename = ANY(%s)"
    tables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"]
    for _ in range(2):
        async with open_threads(url) as storage:
            await say(graph_on(storage.saver), "hello")
        with psycopg.connect(url) as connection:
            found = [row[0] for row in connection.execute(indexes, [tables])]
            assert ["(thread_id, checkpoint_ns, c" in one for one in found] == [True] * 3, found
            # As LangGraph makes it, and an earlier version left it.
            connection.execute("CREATE INDEX checkpoint_writes_thread_id_idx ON checkpoint_writes(thread_id)")


async def test_nul_stays_in_messages_and_is_replaced_in_json(url: str) -> None:
    words = "a\x00\x00b \\u0000 \\\x00 😀"
    async with open_threads(url) as storage:
        await say(graph_on(storage.saver), words, note=words)
        values = (await graph_on(storage.saver).aget_state(CONFIG)).values
        await storage.store.aput(("a",), "b", {"text": words})
        item = await storage.store.aget(("a",), "b")
    assert values["messages"][0].text == words
    assert item
    assert values["note"] == item.value["text"] == words.replace("\x00", "\ufffd")
