"""Reading many files as a long call: over every transport, as a task, cancelled, and when rights end meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError

from drive_server.kernel.access import Actor
from tests.drive_server.gates import cancel, next_id
from tests.drive_server.hosts import Host
from tests.drive_server.http.service import running
from tests.drive_server.lender import Lender, fill, lending_host_of, reply
from tests.drive_server.tasking import begin, cancelled, result_of
from tests.drive_server.test_main import over_stdio

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.settings import DriveSettings

READ_ALL = {"instruction": "Summarise it.", "folder_id": "/Many"}
PATIENCE = 30
BOB = "bob@example.com"


class HeldLender(Lender):
    """Answers nothing after `answers` answers.

    `held` is set with the first request that has to wait, `let_go` when none waits any more.
    """

    def __init__(self, answers: int) -> None:
        super().__init__({f"{number:03}.md": self._say for number in range(500)})
        self.held = anyio.Event()
        self.let_go = anyio.Event()
        self._answers = answers
        self._waiting = 0

    async def _say(self, text: str) -> Any:
        self._answers -= 1
        if self._answers >= 0:
            return reply(f"Read {len(text)} characters.")
        self.held.set()
        self._waiting += 1
        try:
            await anyio.sleep_forever()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self.let_go.set()


async def test_a_cancelled_call_takes_back_its_requests_and_makes_no_more(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, 60)
    lender = HeldLender(answers=20)

    async def call(host: Host) -> None:
        with pytest.raises(McpError):
            await host.session.call_tool("map_reduce_files", READ_ALL)

    with anyio.fail_after(PATIENCE):
        async with lending_host_of(drive, alice, lender) as host, anyio.create_task_group() as group:
            request_id = next_id(host.session)
            group.start_soon(call, host)
            await lender.held.wait()
            await cancel(host.session, request_id)
            await lender.let_go.wait()
            made = len(lender.asked)
            for _ in range(5):
                await host.session.send_ping()
            assert len(lender.asked) == made < 60


async def test_it_can_be_a_task_with_the_model_of_the_host_that_had_it_made(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, 5)
    lender = Lender()
    with anyio.fail_after(PATIENCE):
        async with lending_host_of(drive, alice, lender) as host:
            task = await begin(host.session, "map_reduce_files", READ_ALL)
            result = await result_of(host.session, task.taskId)

    assert not result.isError
    assert (result.structuredContent or {})["coverage"] == "5 of 5 read."
    meta = lender.asked[0].meta
    assert meta is not None
    assert (meta.model_extra or {})["io.modelcontextprotocol/related-task"] == {"taskId": task.taskId}


async def test_a_cancelled_task_makes_no_more_requests(drive: Drive, alice: Actor) -> None:
    await fill(drive, alice, 30)
    lender = HeldLender(answers=3)
    with anyio.fail_after(PATIENCE):
        async with lending_host_of(drive, alice, lender) as host:
            task = await begin(host.session, "map_reduce_files", READ_ALL)
            await lender.held.wait()
            assert (await cancelled(host.session, task.taskId)).status == "cancelled"
            made = len(lender.asked)
            await host.session.send_ping()
            assert len(lender.asked) == made < 30


async def test_a_file_whose_share_ends_while_it_is_read_is_not_told_of(drive: Drive, alice: Actor, bob: Actor) -> None:
    await fill(drive, alice, 6)
    folder = (await drive.files.get(alice, "/Many")).id
    await drive.sharing.share(alice, folder, BOB, "viewer")
    own = (await drive.documents.create(bob, "root", "own.md", "My own.")).value.id

    async def revoke(text: str) -> Any:
        await drive.sharing.revoke(alice, folder, BOB)
        return reply(f"A secret of {len(text)} characters.")

    items = (await drive.files.list_folder(alice, folder)).items
    lender = Lender({"000.md": revoke, **{f"{n:03}.md": "A secret." for n in range(1, 6)}})
    drive.map_reduce._concurrency = 1  # pyright: ignore[reportPrivateUsage] - so that the order is known
    async with lending_host_of(drive, bob, lender) as host:
        found = await host.call("map_reduce_files", instruction="?", file_ids=[*(item.id for item in items), own])

    assert found["read"] == 1
    assert "secret" not in str(found)
    assert "access to it ended while it was read" in found["coverage"]
    assert lender.files == ["000.md", "own.md"]


async def test_a_key_that_is_revoked_ends_the_call(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service:
        drive = service.drive
        key = await service.add_person("alice@example.com")
        alice = Actor(await service.drive.identity.authenticate(key))
        await fill(drive, alice, 20)

        async def revoke(text: str) -> Any:
            for one in await drive.identity.list_keys(alice):
                await drive.identity.revoke_key(alice, one.id)
            return reply(f"{len(text)}")

        lender = Lender({"000.md": revoke})
        drive.map_reduce._concurrency = 1  # pyright: ignore[reportPrivateUsage] - so that the order is known
        async with (
            service.client(key) as client,
            streamable_http_client(f"{service.url}/mcp", http_client=client) as (reading, writing, _),
        ):
            with anyio.fail_after(PATIENCE):
                async with ClientSession(reading, writing, sampling_callback=lender) as session:
                    await session.initialize()
                    with pytest.raises(McpError):
                        await session.call_tool("map_reduce_files", READ_ALL)

        assert len(lender.files) < 20


async def test_a_host_over_http_that_answers_one_after_another_is_waited_for(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service:
        key = await service.add_person("alice@example.com")
        await fill(service.drive, Actor(await service.drive.identity.authenticate(key)), 60)
        lender, told = Lender(), list[float]()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            del total, message
            told.append(progress)

        with anyio.fail_after(PATIENCE):
            async with (
                service.client(key) as client,
                streamable_http_client(f"{service.url}/mcp", http_client=client) as (reading, writing, _),
                ClientSession(reading, writing, sampling_callback=lender) as session,
            ):
                await session.initialize()
                host = Host(session)
                result = await session.call_tool("map_reduce_files", READ_ALL, progress_callback=note)
                assert not result.isError, result.content
                found = result.structuredContent or {}
                whole = await host.call("read_bulk_result", result_id=found["result_id"], limit=100)

    assert found["coverage"] == "60 of 60 read."
    assert len(whole["results"]) == 60
    assert told[-1] == 61


async def test_a_host_over_stdio_lends_its_model(drive: Drive, drive_settings: DriveSettings, alice: Actor) -> None:
    await fill(drive, alice, 12)
    _, secret = await drive.identity.create_key(alice, "desktop", ["read"])
    lender = Lender()
    with anyio.fail_after(PATIENCE):
        async with over_stdio(drive_settings, sampling=lender, DRIVE_API_KEY=secret) as host:
            found = await host.call("map_reduce_files", **READ_ALL)

    assert found["coverage"] == "12 of 12 read."
    assert len(lender.asked) == 13
