from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.server.session import ServerSession
from mcp.shared.memory import create_client_server_memory_streams

from drive_server.mcp.calls.progress import CallProgress, progress_sender
from tests.drive_server.hosts import Person, ProgressLog, asking_host_of, host_of
from tests.drive_server.raw import raw_client
from tests.fakes.clock import Seconds

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


class Told:
    """Remembers what was told; at first it can't be told so many times."""

    def __init__(self, busy: int = 0) -> None:
        self.steps: list[tuple[int, int]] = []
        self.busy = busy

    async def __call__(self, done: int, total: int) -> bool:
        if self.busy:
            self.busy -= 1
            return False
        self.steps.append((done, total))
        return True


def progress_in(messages: list[Any]) -> list[Any]:
    return [message for message in messages if getattr(message, "method", "") == "notifications/progress"]


async def add_tree(drive: Drive, actor: Actor, count: int) -> None:
    await drive.files.create_folder(actor, "root", "Many")
    for number in range(count):
        await drive.files.create_folder(actor, "/Many", f"文件夹 {number}")


async def test_a_step_is_told_when_some_time_has_passed_and_the_last_one_at_once() -> None:
    clock, told = Seconds(), Told()
    progress = CallProgress(told, clock)

    for done in (0, 1, 2):
        await progress(done, 5)
    clock.now += 1
    for done in (3, 4, 5):
        await progress(done, 5)

    assert told.steps == [(0, 5), (3, 5), (5, 5)]


async def test_what_is_told_only_grows() -> None:
    clock, told = Seconds(), Told()
    progress = CallProgress(told, clock)
    for done in (2, 1, 2, 3, 3, 0, 4, 4):
        clock.now += 1
        await progress(done, 4)

    assert told.steps == [(2, 4), (3, 4), (4, 4)]


async def test_nothing_is_told_of_nothing_nor_of_what_is_not_kept() -> None:
    told = Told()
    progress = CallProgress(told)
    await progress(0, 0)
    progress.is_muted = True
    await progress(1, 1)

    assert told.steps == []


async def test_a_busy_client_misses_a_step_but_not_the_last_one() -> None:
    told = Told(busy=4)
    progress = CallProgress(told)
    await progress(1, 3)
    await progress(3, 3)

    assert told.steps == [(3, 3)]


async def test_a_client_that_never_listens_does_not_hold_up_the_work() -> None:
    await CallProgress(Told(busy=1000))(3, 3)


async def test_a_call_can_be_cancelled_where_it_tells_its_progress() -> None:
    progress = CallProgress(None)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await progress(1, 2)
        pytest.fail("it went on")


async def test_a_host_that_asks_for_it_hears_how_far_a_copy_is(drive: Drive, alice: Actor) -> None:
    await add_tree(drive, alice, 7)
    heard = ProgressLog()
    async with host_of(drive, alice) as host:
        arguments = {"item_id": "/Many", "folder_id": "root", "name": "Copy"}
        result = await host.session.call_tool("copy_item", arguments, progress_callback=heard)

    assert not result.isError
    assert heard.steps[-1] == (8, 8)
    assert heard.steps == sorted(set(heard.steps))


async def test_a_host_that_does_not_ask_hears_nothing(drive: Drive, alice: Actor) -> None:
    await add_tree(drive, alice, 3)
    async with raw_client(drive, alice) as client:
        messages = await client.call(1, "copy_item", {"item_id": "/Many", "folder_id": "root", "name": "Copy"})

    assert progress_in(messages) == []


async def test_nothing_is_told_after_the_result(drive: Drive, alice: Actor) -> None:
    await add_tree(drive, alice, 3)
    async with raw_client(drive, alice) as client:
        arguments = {"item_id": "/Many", "folder_id": "root", "name": "Copy"}
        messages = await client.call(1, "copy_item", arguments, {"progressToken": "图-1"})
        later = await client.call(2, "whoami", {})
    told = progress_in(messages)

    assert told
    assert all(message.params["progressToken"] == "图-1" for message in told)
    assert progress_in(later) == []


async def test_a_rehearsal_before_the_question_is_not_told(drive: Drive, alice: Actor) -> None:
    await add_tree(drive, alice, 3)
    await drive.files.trash(alice, "/Many")
    heard = ProgressLog()

    class Asked(Person):
        async def __call__(self, context: Any, params: Any) -> Any:
            assert heard.steps == []
            return await super().__call__(context, params)

    async with asking_host_of(drive, alice, Asked("accept")) as host:
        result = await host.session.call_tool("empty_trash", {}, progress_callback=heard)

    assert not result.isError
    assert heard.steps[-1] == (4, 4)


async def test_a_move_of_many_tells_its_progress(drive: Drive, alice: Actor) -> None:
    await add_tree(drive, alice, 3)
    heard = ProgressLog()
    async with host_of(drive, alice) as host:
        items = [f"/Many/文件夹 {number}" for number in range(3)]
        arguments = {"item_ids": items, "folder_id": "root"}
        result = await host.session.call_tool("move_items", arguments, progress_callback=heard)

    assert not result.isError, result.content
    assert heard.steps[-1] == (3, 3)


async def test_an_undo_of_a_run_tells_its_progress(drive: Drive, alice: Actor) -> None:
    for number in range(3):
        await drive.files.create_folder(replace(alice, run_id="run"), "root", f"{number}")
    heard = ProgressLog()
    async with host_of(drive, alice) as host:
        result = await host.session.call_tool("undo_changes", {"run_id": "run"}, progress_callback=heard)

    assert not result.isError, result.content
    assert heard.steps[-1] == (3, 3)


async def test_a_client_that_is_gone_is_not_told_and_nothing_is_raised(drive: Drive) -> None:
    options = drive.server.protocol.create_initialization_options()
    async with (
        create_client_server_memory_streams() as (ours, theirs),
        ServerSession(*theirs, options) as session,
    ):
        tell = progress_sender(session, "token", 0)
        assert tell is not None
        assert await tell(1, 3)
        assert not await tell(2, 3), "nobody has read the first one"
        await ours[0].aclose()

        await CallProgress(tell)(3, 3)
