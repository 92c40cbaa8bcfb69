"""Threads that are deleted or expire leave nothing behind."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest
from httpx import ASGITransport, AsyncClient

from api.service import prune_threads
from api.storage.tables import Base
from tests.api.command_model import CommandModel
from tests.api.fakes import ManualClock
from tests.api.real_service import real_app, real_client
from tests.api.serving import SmallService
from tests.fakes.chat_model import ScriptedChatModel, tool_call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from api.service import Service

DAY = 86_400

SECRET = "Purple-Elephant-紫色大象"
LONG = f"{SECRET} stands in the file. " * 300


def left_in(folder: Path, *words: str) -> list[str]:
    """Return where one of the words stands in the bytes of the service's own files."""
    names = [path for name in ("api.db", "graph.db", "store.db") for path in sorted(folder.glob(f"{name}*"))]
    return [f"{path.name}: {word}" for path in names for word in words if word.encode() in path.read_bytes()]


def rows_of(path: Path, thread_id: str, runs: list[str]) -> list[str]:
    """Return the tables that still have a row of the thread."""
    with sqlite3.connect(path) as connection:
        found = [
            table.name
            for table in Base.metadata.sorted_tables
            for column in table.columns
            for value in [thread_id, *runs]
            if connection.execute(f"SELECT 1 FROM {table.name} WHERE {column.name} = ?", (value,)).fetchone()  # noqa: S608
        ]
    connection.close()
    return found


async def waiting_for(client: AsyncClient) -> dict[str, Any]:
    """Return the approval that waits, as soon as there is one."""
    items: list[dict[str, Any]] = []
    while not items:
        items = (await client.get("/api/approvals")).json()["items"]
    return items[0]


@pytest.mark.sqlite("looks into the files of the databases")
async def test_a_deleted_thread_leaves_no_row_and_no_byte(tmp_path: Path) -> None:
    model = ScriptedChatModel()
    async with real_client(tmp_path, model) as client:
        made = await client.post("/api/drive/files", params={"name": "a.txt"}, content=LONG.encode())
        file_id = made.json()["id"]
        model.script = [
            tool_call("read_file", "call_to_read", file_id=file_id),
            f"It says {SECRET}",
            tool_call("trash_item", "t1", item_id=file_id),
        ]
        answer = await client.post("/api/chat", json={"message": f"search my files for {SECRET}"})
        thread_id = answer.text.split('"thread_id":"', 1)[1].split('"', 1)[0]
        run_id = answer.text.split('"run_id":"', 1)[1].split('"', 1)[0]
        asking = asyncio.create_task(
            client.post("/api/chat", json={"message": f"delete {SECRET}", "thread_id": thread_id})
        )
        assert (await waiting_for(client))["thread_id"] == thread_id
        assert left_in(tmp_path, SECRET, thread_id, run_id)
        assert (await client.delete(f"/api/threads/{thread_id}")).status_code == 204
        await asking
        assert (await client.get(f"/api/threads/{thread_id}")).status_code == 404
        assert rows_of(tmp_path / "api.db", thread_id, [run_id]) == []
        assert left_in(tmp_path, SECRET, thread_id, run_id, "call_to_read") == []
    assert left_in(tmp_path, SECRET, thread_id, run_id) == []


@asynccontextmanager
async def talking(folder: Path, clock: ManualClock) -> AsyncGenerator[tuple[SmallService, AsyncClient]]:
    small = SmallService(folder, clock)
    headers = {"Authorization": "Bearer alice-key"}
    async with (
        small.app.router.lifespan_context(small.app),
        AsyncClient(transport=ASGITransport(small.app), base_url="http://127.0.0.1", headers=headers) as client,
    ):
        yield small, client


async def say(client: AsyncClient, text: str) -> str:
    """Say something in a new thread, and return the thread's id when the run has ended."""
    answer = await client.post("/api/chat", json={"message": text})
    return answer.text.split('"thread_id":"', 1)[1].split('"', 1)[0]


async def listed(client: AsyncClient) -> list[str]:
    return [thread["title"] for thread in (await client.get("/api/threads")).json()["items"]]


@pytest.mark.sqlite("looks into the files of the databases")
async def test_threads_expire_after_days_without_a_message(tmp_path: Path) -> None:
    clock = ManualClock()
    async with talking(tmp_path, clock) as (small, client):
        old = await say(client, "say old")
        clock.advance(20 * DAY)
        await say(client, "say new")
        clock.advance(15 * DAY)
        assert await small.service.expire_threads(30) == 1
        assert await listed(client) == ["say new"]
        assert [where for where in left_in(tmp_path, old) if where.startswith("api.db")] == []


async def test_a_thread_that_waits_for_the_person_does_not_expire(tmp_path: Path) -> None:
    clock = ManualClock()
    async with talking(tmp_path, clock) as (small, client):
        waiting = asyncio.create_task(say(client, "share it"))
        approval = await waiting_for(client)
        clock.advance(100)
        assert await small.service.expire_threads(10 / DAY) == 0
        key = approval["actions"][0]["tool_call_id"]
        decisions = {"decisions": [{"tool_call_id": key, "type": "reject"}]}
        assert (await client.post(f"/api/approvals/{approval['approval_id']}", json=decisions)).status_code == 200
        await waiting
        assert await listed(client) == ["share it"]
        clock.advance(DAY)
        assert await small.service.expire_threads(0.5) == 1
        assert await listed(client) == []


async def test_by_default_no_thread_expires(tmp_path: Path) -> None:
    clock = ManualClock()
    async with talking(tmp_path, clock) as (small, client):
        await say(client, "say hello")
        clock.advance(10_000 * DAY)
        assert await small.service.expire_threads(0) == 0
        assert await listed(client) == ["say hello"]


async def test_expired_threads_are_looked_for_every_hour_and_a_failure_does_not_end_it(tmp_path: Path) -> None:
    clock = ManualClock()
    async with talking(tmp_path, clock) as (small, _):
        looked: list[float] = []
        again = asyncio.Event()

        class Failing:
            clock = small.service.clock

            async def expire_threads(self, days: float) -> int:
                looked.append(days)
                again.set()
                raise OSError("no disk")

        keeper = asyncio.create_task(prune_threads(cast("Service", Failing()), 7))
        for _ in range(3):
            await again.wait()
            again.clear()
            await asyncio.sleep(0)
            clock.advance(3600)
        keeper.cancel()
        assert looked == [7, 7, 7]


async def test_an_import_that_was_not_finished_is_deleted_after_a_day(tmp_path: Path) -> None:
    clock = ManualClock()
    app = real_app(tmp_path, CommandModel(), clock=clock)
    async with app.router.lifespan_context(app):
        service = app.state.service
        headers = {"Authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}"}
        async with AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1", headers=headers) as client:
            at = clock.now().isoformat()
            body = {"export_id": "e", "thread_id": "t", "title": "T", "created_at": at, "updated_at": at}
            messages = [{"id": "1", "role": "user", "text": "hello"}]
            answer = await client.post("/api/threads/import", json={**body, "messages": messages, "is_last": False})
        thread_id = answer.json()["thread_id"]
        assert (await service.graph.state(thread_id))["messages"]
        clock.advance(23 * 3600)
        assert await service.expire_imports() == 0
        clock.advance(2 * 3600)
        await service.expire_imports()
        assert not (await service.graph.state(thread_id)).get("messages")
        assert await service.expire_imports() == 0
