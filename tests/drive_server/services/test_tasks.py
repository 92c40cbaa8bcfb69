"""Stored tasks: visible to one user only, final once they end, taken up after a crash, done once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from anyio.streams.text import TextReceiveStream

from drive_server.connect import in_process_session, open_drive
from drive_server.kernel.access import ALL_SCOPES, Actor
from drive_server.kernel.errors import (
    IdempotencyConflictError,
    InvalidCursorError,
    NotFoundError,
    RateLimitError,
    StateConflictError,
)
from drive_server.services.identity.service import IdentityService
from drive_server.services.tasks import (
    CANCELLED,
    COMPLETED,
    FAILED,
    LEASE,
    LONGEST,
    MAX_UNFINISHED,
    SHORTEST,
    WORKING,
    Order,
    TaskService,
)
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.work import TaskRow
from tests.drive_server.actors import new_person
from tests.drive_server.hosts import host_of, text_of
from tests.drive_server.killed_task import DONE, HALF_WAY
from tests.drive_server.tasking import listed, look_at, result_of
from tests.drive_server.test_main import environment
from tests.fakes.clock import SettableClock

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.store import Store

REPOSITORY = Path(__file__).parents[3]
MINUTE = 60


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def tasks(store: Store, clock: SettableClock) -> TaskService:
    return TaskService(store.database, store.database.signer, clock)


@pytest.fixture
def others(store: Store, clock: SettableClock) -> TaskService:
    """The same tasks as another process has them."""
    return TaskService(store.database, store.database.signer, clock)


def order(actor: Actor, key: str = "", kept_for: timedelta | None = None) -> Order:
    return Order(actor.user_id, "copy_item", {"item_id": "/长 🌍"}, {"method": "x"}, {"run_id": None}, key, kept_for)


async def test_a_task_is_kept_as_it_was_ordered(tasks: TaskService, ana: Actor, clock: SettableClock) -> None:
    made, is_new = await tasks.create(order(ana))
    found = await tasks.get(ana.user_id, made.id)

    assert is_new
    assert found == made
    assert (found.status, found.is_over, found.result) == (WORKING, False, None)
    assert found.order.arguments == {"item_id": "/长 🌍"}
    assert found.order.key == f"task-{made.id}"
    assert found.created_at == clock.now


async def test_only_its_user_sees_a_task(tasks: TaskService, ana: Actor, ben: Actor) -> None:
    made, _ = await tasks.create(order(ana))
    for task_id in (made.id, "nowhere", "", "x" * 10_000, "\u202e"):
        with pytest.raises(NotFoundError) as refused:
            await tasks.get(ben.user_id, task_id)
        assert refused.value.message == "There is no such task."

    assert (await tasks.list_tasks(ben.user_id, 10)).items == ()


async def test_a_key_stands_for_one_task_of_its_user(tasks: TaskService, ana: Actor, ben: Actor) -> None:
    first, _ = await tasks.create(order(ana, "once"))
    again, is_new = await tasks.create(order(ana, "once"))
    bens, bens_is_new = await tasks.create(order(ben, "once"))

    assert (again.id, is_new) == (first.id, False)
    assert (bens.id != first.id, bens_is_new) == (True, True)
    assert await tasks.find(order(ana)) is None
    with pytest.raises(IdempotencyConflictError):
        await tasks.create(replace(order(ana, "once"), tool="empty_trash"))
    with pytest.raises(IdempotencyConflictError):
        await tasks.find(replace(order(ana, "once"), arguments={}))


async def test_a_key_whose_task_has_expired_makes_a_new_one(
    tasks: TaskService, ana: Actor, clock: SettableClock
) -> None:
    order = Order(ana.user_id, "copy_item", {"item_id": "a"}, {}, {}, "k", timedelta(seconds=MINUTE))
    first, _ = await tasks.create(order)
    await tasks.end(first, COMPLETED, "done", {})
    clock.now += timedelta(seconds=MINUTE)

    assert await tasks.find(order) is None
    second, is_new = await tasks.create(replace(order, arguments={"item_id": "b"}))
    assert is_new
    assert (await tasks.get(ana.user_id, second.id)).status == WORKING


async def test_what_is_over_never_changes(tasks: TaskService, ana: Actor) -> None:
    made, _ = await tasks.create(order(ana))
    assert await tasks.end(made, COMPLETED, "Done.", {"content": []})
    for status in (COMPLETED, FAILED, CANCELLED):
        assert not await tasks.end(made, status, "Again.", None)
    with pytest.raises(StateConflictError):
        await tasks.request_cancel(made)

    found = await tasks.get(ana.user_id, made.id)
    assert (found.status, found.message, found.result) == (COMPLETED, "Done.", {"content": []})


async def test_the_list_is_whole_and_free_of_doubles_while_tasks_come_and_go(
    tasks: TaskService, ana: Actor, clock: SettableClock
) -> None:
    made = [(await tasks.create(order(ana)))[0] for _ in range(4)]
    clock.advance(1)
    made += [(await tasks.create(order(ana)))[0] for _ in range(3)]
    seen: list[str] = []
    cursor = None
    while True:
        page = await tasks.list_tasks(ana.user_id, 2, cursor)
        seen += [task.id for task in page.items]
        cursor = page.cursor
        if cursor is None:
            break
        clock.advance(1)
        await tasks.create(order(ana))

    assert seen == [task.id for task in sorted(made, key=lambda task: (task.created_at, task.id), reverse=True)]


async def test_a_cursor_is_good_for_its_user_only(tasks: TaskService, ana: Actor, ben: Actor) -> None:
    for _ in range(2):
        await tasks.create(order(ana))
    cursor = (await tasks.list_tasks(ana.user_id, 1)).cursor
    for bad in (cursor, "nonsense", ""):
        with pytest.raises(InvalidCursorError):
            await tasks.list_tasks(ben.user_id, 1, bad)


async def test_a_task_is_taken_by_another_process_when_its_lease_has_run_out(
    tasks: TaskService, others: TaskService, ana: Actor, clock: SettableClock
) -> None:
    made, _ = await tasks.create(order(ana))
    assert await others.take_abandoned() == []
    clock.advance(LEASE.total_seconds() - 1)
    await tasks.renew([made.id])
    clock.advance(LEASE.total_seconds() - 1)
    assert await others.take_abandoned() == []

    clock.advance(1)
    assert [task.id for task in await others.take_abandoned()] == [made.id]
    assert await tasks.take_abandoned() == []


async def test_of_two_processes_that_want_a_task_one_gets_it(
    tasks: TaskService, others: TaskService, ana: Actor
) -> None:
    made = [(await tasks.create(order(ana)))[0].id for _ in range(10)]
    await tasks.release(made)
    taken: list[str] = []

    async def take(process: TaskService) -> None:
        taken.extend(task.id for task in await process.take_abandoned())

    async with anyio.create_task_group() as group:
        for process in (tasks, others, tasks, others):
            group.start_soon(take, process)

    assert sorted(taken) == sorted(made)


async def test_what_was_done_counts_after_the_lease_and_what_was_not_does_not(
    tasks: TaskService, others: TaskService, ana: Actor, clock: SettableClock
) -> None:
    done, failed = [(await tasks.create(order(ana)))[0] for _ in range(2)]
    clock.advance(2 * MINUTE)
    await others.take_abandoned()

    assert await tasks.end(done, COMPLETED, "Done.", {})
    assert not await tasks.end(failed, FAILED, "Failed.", {})
    assert (await tasks.get(ana.user_id, failed.id)).status == WORKING


async def test_the_process_at_work_hears_that_it_shall_stop(
    tasks: TaskService, others: TaskService, ana: Actor
) -> None:
    stop, go_on = [(await tasks.create(order(ana)))[0] for _ in range(2)]
    await others.request_cancel(stop)

    assert await tasks.to_be_cancelled([stop.id, go_on.id]) == [stop.id]


async def test_what_is_over_is_removed_when_it_was_to_be_kept_no_longer(
    tasks: TaskService, ana: Actor, clock: SettableClock
) -> None:
    short, working, usual = [
        (await tasks.create(order(ana, kept_for=kept)))[0]
        for kept in (timedelta(seconds=10), timedelta(seconds=10), None)
    ]
    for task in (short, usual):
        await tasks.end(task, COMPLETED, "Done.", {})
    clock.advance(10)

    with pytest.raises(NotFoundError):
        await tasks.get(ana.user_id, short.id)
    assert {task.id for task in (await tasks.list_tasks(ana.user_id, 10)).items} == {working.id, usual.id}
    assert await tasks.expire() == 1
    assert await tasks.expire() == 0
    clock.advance(24 * 60 * MINUTE)
    assert await tasks.expire() == 1
    assert (await tasks.get(ana.user_id, working.id)).status == WORKING


@pytest.mark.parametrize(
    ("asked", "given"), [(timedelta(0), SHORTEST), (timedelta(days=-1), SHORTEST), (timedelta(days=999), LONGEST)]
)
async def test_nothing_is_kept_for_ever_nor_for_no_time(
    tasks: TaskService, ana: Actor, asked: timedelta, given: timedelta
) -> None:
    made, _ = await tasks.create(order(ana, kept_for=asked))

    assert made.expires_at - made.created_at == given


async def test_one_user_with_too_many_tasks_keeps_nobody_else_from_theirs(
    tasks: TaskService, ana: Actor, ben: Actor
) -> None:
    made = [(await tasks.create(order(ana)))[0] for _ in range(MAX_UNFINISHED)]
    with pytest.raises(RateLimitError) as refused:
        await tasks.create(order(ana))
    assert refused.value.details["limit"] == MAX_UNFINISHED
    await tasks.create(order(ben))
    await tasks.end(made[0], FAILED, "Failed.", {})
    await tasks.create(order(ana))


async def kill_in(settings: DriveSettings, key: str, place: str) -> str:
    """Let another process begin a task, kill it with the task half-way; return the task's id."""
    command = (sys.executable, "-m", "tests.drive_server.killed_task", key, place)
    async with await anyio.open_process(
        command, env=environment(settings), cwd=REPOSITORY, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        said = await TextReceiveStream(process.stdout).receive()
        process.kill()
        await process.wait()
    return said.strip()


async def prepared(settings: DriveSettings) -> tuple[str, str]:
    """Make a drive with something to copy; return a key that can do it, and its id."""
    async with open_drive(settings) as drive:
        alice = await new_person(drive.identity, "alice@example.com")
        await drive.files.create_folder(alice, "root", "Many")
        await drive.documents.create(alice, "/Many", "a.md", "你好")
        key, secret = await drive.identity.create_key(alice, "host", ["read", "write"])
    return secret, key.id


@pytest.mark.parametrize("place", [HALF_WAY, DONE])
@pytest.mark.story
async def test_a_task_of_a_process_that_was_killed_is_done_by_the_next_one_and_once(
    drive_settings: DriveSettings, place: str
) -> None:
    secret, _ = await prepared(drive_settings)
    task_id = await kill_in(drive_settings, secret, place)
    async with open_drive(drive_settings) as drive:
        alice = Actor(await drive.identity.authenticate(secret))
        async with host_of(drive, alice) as host:
            result = await result_of(host.session, task_id)
            over = await look_at(host.session, task_id)
            seen = [task.taskId for task in (await listed(host.session)).tasks]
        names = [item.name for item in (await drive.files.list_folder(alice, "root")).items]
        copies = [change for change in (await drive.journal.list_changes(alice)).items if change.action == "copy"]
    async with open_drive(drive_settings) as drive, host_of(drive, alice) as host:
        kept = await result_of(host.session, task_id)

    assert not result.isError, result.content
    assert result.meta is not None
    assert result.meta["drive-agent/replayed"] is (place == DONE)
    assert (over.status, seen) == ("completed", [task_id])
    assert names == ["Copy", "Many"]
    assert len(copies) == 1
    assert kept == result


@pytest.mark.story
async def test_a_task_whose_key_was_revoked_after_the_kill_fails_and_says_so(drive_settings: DriveSettings) -> None:
    secret, key_id = await prepared(drive_settings)
    task_id = await kill_in(drive_settings, secret, HALF_WAY)
    await revoke(drive_settings, secret, key_id)
    async with open_drive(drive_settings) as drive:
        alice = await drive.identity.principal_for(await user_of(drive, task_id), ALL_SCOPES)
        async with in_process_session(drive, alice) as session:
            result = await result_of(session, task_id)
            over = await look_at(session, task_id)
        names = [item.name for item in (await drive.files.list_folder(Actor(alice), "root")).items]

    assert text_of(result).startswith("unauthenticated: The key that this task was made with is not valid any more")
    assert over.status == "failed"
    assert names == ["Many"]


async def revoke(settings: DriveSettings, secret: str, key_id: str) -> None:
    """End the key while no process serves the drive."""
    database = await open_database(settings.resolved_database_url)
    identity = IdentityService(database, settings.token_path)
    await identity.revoke_key(Actor(await identity.authenticate(secret)), key_id)
    await database.dispose()


async def user_of(drive: Drive, task_id: str) -> str:
    async with drive.database.read() as session:
        return (await session.get_one(TaskRow, task_id)).user_id
