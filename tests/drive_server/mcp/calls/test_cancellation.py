"""Cancelled calls, over real sessions: the work ends and leaves nothing, or it is done as a whole."""

from __future__ import annotations

import sys
import threading
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.shared.exceptions import McpError
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.services.documents import service as documents
from drive_server.services.files import copying
from tests.drive_server.gates import Gate, cancel, next_id
from tests.drive_server.hosts import Host, host_of, session_over_stdio
from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote
from tests.drive_server.raw import raw_client
from tests.drive_server.tasking import COPY, fill, names
from tests.drive_server.test_main import environment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings

PATIENCE = 20
REPOSITORY = Path(__file__).parents[4]
REQUEST_CANCELLED = -32800
MANY = 5


async def changes(drive: Drive, actor: Actor) -> int:
    return len((await drive.journal.list_changes(actor)).items)


@asynccontextmanager
async def calling(
    session: ClientSession, tool: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None
) -> AsyncGenerator[int]:
    """Make a call that nobody waits for; gives its id."""
    request_id = next_id(session)

    async def call() -> None:
        with pytest.raises(McpError) as refused:
            await session.call_tool(tool, arguments, meta=meta)
        assert refused.value.error.code == REQUEST_CANCELLED

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        yield request_id


async def cancel_half_way(session: ClientSession, gate: Gate) -> None:
    with anyio.fail_after(PATIENCE):
        async with calling(session, "copy_item", COPY) as request_id:
            await gate.reached.wait()
            await cancel(session, request_id)
            await gate.left.wait()


async def test_a_copy_that_is_cancelled_half_way_leaves_nothing(drive: Drive, alice: Actor, half_way: Gate) -> None:
    await fill(drive, alice, MANY)
    before, used = await changes(drive, alice), (await drive.quota.usage(alice.user_id)).used_bytes
    async with host_of(drive, alice) as host:
        await cancel_half_way(host.session, half_way)

        assert await names(drive, alice) == ["Many"]
        assert await changes(drive, alice) == before
        assert (await drive.quota.usage(alice.user_id)).used_bytes == used
        await host.session.send_ping()
        half_way.open()
        made = await host.call("copy_item", **COPY)
    assert made["child_count"] == MANY


async def test_the_same_over_http(drive_settings: DriveSettings, half_way: Gate) -> None:
    async with running(drive_settings) as service:
        drive = service.drive
        key = await service.add_person("alice@example.com")
        async with remote(service, key) as host:
            await host.call("create_folder", name="Many")
            await host.call("create_file", name="a.md", content="a", folder_id="/Many")
            await cancel_half_way(host.session, half_way)

            assert [item["name"] for item in (await host.call("list_folder"))["items"]] == ["Many"]
            half_way.open()
            await host.call("copy_item", **COPY)
        assert drive.database is not None


async def test_the_same_over_stdio_where_it_has_no_answer(drive: Drive, alice: Actor) -> None:
    """The first report of progress says that the copy is under way; its gate never opens."""
    await fill(drive, alice, MANY)
    _, secret = await drive.identity.create_key(alice, "desktop", ["read", "write"])
    variables = environment(drive.settings, DRIVE_API_KEY=secret, PYTHONPATH=str(REPOSITORY))
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "tests.drive_server.gated_stdio"], env=variables, cwd=REPOSITORY
    )
    made: dict[str, Any] = {}
    async with session_over_stdio(command, read_timeout_seconds=timedelta(seconds=PATIENCE)) as session:
        host, is_under_way = Host(session), anyio.Event()

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            del progress, total, message
            is_under_way.set()

        async with anyio.create_task_group() as group:
            request_id = next_id(session)
            group.start_soon(lambda: session.call_tool("copy_item", COPY, progress_callback=heard))
            await is_under_way.wait()
            await cancel(session, request_id)
            # It has to wait until the copy is taken back: SQLite has one writer.
            made |= await host.call("create_folder", name="Next")
            group.cancel_scope.cancel()

    assert made["path"] == "/Next"
    assert await names(drive, alice) == ["Many", "Next"]


async def test_a_call_that_is_cancelled_after_its_commit_is_whole_and_has_no_result(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(drive, alice, MANY)
    gate = Gate()

    @asynccontextmanager
    async def waits_at_the_end(context: Any, request: Any) -> AsyncGenerator[None]:
        del context
        yield
        if request.method == "tools/call":
            await gate()

    monkeypatch.setattr(drive.server.protocol, "admission", waits_at_the_end)
    async with host_of(drive, alice) as host:
        await cancel_half_way(host.session, gate)
    assert await names(drive, alice) == ["Copy", "Many"]


async def test_a_commit_that_has_begun_is_finished_and_the_index_hears_of_it(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(drive, alice, MANY)
    gate, woken, heard, is_copied = Gate(), anyio.Event(), anyio.Event(), Gate()
    is_copied.open()
    commit = AsyncSession.commit

    async def slow(session: AsyncSession) -> None:
        if is_copied.reached.is_set():  # no other writer is at work then
            await gate()
        await commit(session)

    monkeypatch.setattr(copying, "_insert", is_copied.after(copying._insert))  # pyright: ignore[reportPrivateUsage] - as above
    monkeypatch.setattr(AsyncSession, "commit", slow)
    monkeypatch.setattr(drive.journal, "on_content_change", woken.set)
    monkeypatch.setattr(drive.journal, "on_change", heard.set)
    async with host_of(drive, alice) as host:
        with anyio.fail_after(PATIENCE):
            async with calling(host.session, "copy_item", COPY) as request_id:
                await gate.reached.wait()
                await cancel(host.session, request_id)
                await host.session.send_ping()
                gate.open()
            await woken.wait()
            await heard.wait()
    assert await names(drive, alice) == ["Copy", "Many"]


async def test_an_undo_that_is_cancelled_takes_back_nothing(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(drive, alice, MANY)
    gate = Gate()
    flush = AsyncSession.flush
    monkeypatch.setattr(AsyncSession, "flush", gate.after(flush))
    async with host_of(drive, alice) as host:
        with anyio.fail_after(PATIENCE):
            async with calling(host.session, "undo_changes", {}) as request_id:
                await gate.reached.wait()
                await cancel(host.session, request_id)
                await gate.left.wait()
        monkeypatch.undo()
        children = [item["name"] for item in (await host.call("list_folder", folder_id="/Many"))["items"]]
    assert children == [f"{number}.md" for number in range(MANY)]


async def test_a_call_can_be_cancelled_before_it_has_begun(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, MANY)
    async with raw_client(drive, alice) as client:
        for number in range(1, 20):
            await client.ask(number, "tools/call", {"name": "copy_item", "arguments": {**COPY, "name": f"{number}"}})
            await client.tell("notifications/cancelled", {"requestId": number})
            *_, answer = await client.until_answered(number)
            assert answer.error.code == REQUEST_CANCELLED
            assert answer.error.data["code"] == "cancelled"
        *_, answer = await client.call(100, "whoami", {})

    assert answer.result["structuredContent"]["email"] == "alice@example.com"
    assert await names(drive, alice) == ["Many"]


async def test_what_is_cancelled_is_answered_once_and_the_session_goes_on(drive: Drive, alice: Actor) -> None:
    async with raw_client(drive, alice) as client:
        await client.call(1, "create_folder", {"name": "A"})
        for params in ({"requestId": 1}, {"requestId": "nobody"}, {"requestId": 999}, {}):
            await client.tell("notifications/cancelled", params)
        messages = await client.call(2, "create_folder", {"name": "B"})

    assert [message.id for message in messages if hasattr(message, "id")] == [2]


async def test_a_reader_is_free_at_once_and_its_thread_ends_by_itself(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await drive.documents.create(alice, "root", "a.md", "一\n二\n")
    started, may_end = threading.Event(), threading.Event()
    apply_edits = documents.apply_edits

    def slow(*arguments: Any) -> str:
        started.set()
        may_end.wait(PATIENCE)
        return apply_edits(*arguments)

    is_free = anyio.Event()

    @asynccontextmanager
    async def told_at_the_end(context: Any, request: Any) -> AsyncGenerator[None]:
        del context
        try:
            yield
        finally:
            if request.method == "tools/call":
                is_free.set()

    monkeypatch.setattr(drive.server.protocol, "admission", told_at_the_end)
    monkeypatch.setattr(documents, "apply_edits", slow)
    edit = {"file_id": "/a.md", "edits": [{"find": "一", "replace": "三"}]}
    async with host_of(drive, alice) as host:
        with anyio.fail_after(PATIENCE):
            async with calling(host.session, "patch_file", edit) as request_id:
                await anyio.to_thread.run_sync(started.wait)
                await cancel(host.session, request_id)
            await is_free.wait()
        may_end.set()
        assert (await host.call("read_file", file_id="/a.md"))["text"] == "一\n二\n"


async def test_a_host_that_goes_away_ends_what_it_asked_for(drive: Drive, alice: Actor, half_way: Gate) -> None:
    await fill(drive, alice, MANY)
    async with raw_client(drive, alice) as client:
        await client.ask(1, "tools/call", {"name": "copy_item", "arguments": COPY})
        with anyio.fail_after(PATIENCE):
            await half_way.reached.wait()
            await client.writing.aclose()
            await half_way.left.wait()
    assert await names(drive, alice) == ["Many"]


async def test_two_calls_go_on_beside_the_one_that_is_cancelled(
    drive: Drive, alice: Actor, bob: Actor, half_way: Gate
) -> None:
    """SQLite has one writer: whoever waits for it goes on when the copy is taken back."""
    await fill(drive, alice, MANY)
    made: list[dict[str, Any]] = []

    async def make(host: Host) -> None:
        made.append(await host.call("create_folder", name="B"))

    async with host_of(drive, alice) as host, host_of(drive, bob) as bobs:
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group, calling(host.session, "copy_item", COPY) as request_id:
                await half_way.reached.wait()
                group.start_soon(make, bobs)
                assert (await bobs.call("list_folder"))["items"] == []
                await cancel(host.session, request_id)
    assert [item["path"] for item in made] == ["/B"]
