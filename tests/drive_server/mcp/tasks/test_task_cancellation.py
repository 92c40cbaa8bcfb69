"""Tasks that are cancelled, or whose process ends, over real sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp.types import INVALID_PARAMS

from drive_server.connect import open_drive
from drive_server.mcp.tasks.runner import MAX_AT_ONCE
from drive_server.services.files import copying
from tests.drive_server.actors import new_person
from tests.drive_server.gates import Gate
from tests.drive_server.hosts import host_of, text_of
from tests.drive_server.tasking import (
    COPY,
    RELATED,
    begin,
    cancelled,
    fill,
    look_at,
    names,
    refused_with,
    result_of,
)

if TYPE_CHECKING:
    import pytest
    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings

PATIENCE = 20


async def test_a_task_that_is_cancelled_half_way_leaves_nothing(
    drive: Drive, alice: Actor, session: ClientSession, half_way: Gate
) -> None:
    task = await begin(session, "copy_item", COPY)
    await half_way.reached.wait()
    over = await cancelled(session, task.taskId)
    result = await result_of(session, task.taskId)

    assert half_way.left.is_set()
    assert over.status == "cancelled"
    assert (await look_at(session, task.taskId)).status == "cancelled"
    assert result.isError
    assert text_of(result).startswith("cancelled: ")
    assert result.meta == {RELATED: {"taskId": task.taskId}}
    assert await names(drive, alice) == ["Many"]
    async with refused_with(INVALID_PARAMS) as error:
        await cancelled(session, task.taskId)
    assert error["code"] == "state_conflict"
    half_way.open()
    await drive.files.copy(alice, "/Many", "root", name="Copy")


async def test_a_task_that_was_done_when_it_was_cancelled_is_completed(
    drive: Drive, alice: Actor, session: ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(drive.journal, "change", gate.after(drive.journal.change))
    task = await begin(session, "copy_item", COPY)
    await gate.reached.wait()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(cancelled_too_late, session, task.taskId)
            await gate.left.wait()
            gate.open()

    assert (await look_at(session, task.taskId)).status == "completed"
    assert not (await result_of(session, task.taskId)).isError
    assert await names(drive, alice) == ["Copy", "Many"]


async def cancelled_too_late(session: ClientSession, task_id: str) -> None:
    async with refused_with(INVALID_PARAMS):
        await cancelled(session, task_id)


async def test_a_task_that_waits_for_its_turn_can_be_cancelled(
    drive: Drive, alice: Actor, session: ClientSession, copying_stands: Gate
) -> None:
    tasks = [await begin(session, "copy_item", {**COPY, "name": f"{n}"}) for n in range(MAX_AT_ONCE + 1)]
    await copying_stands.reached.wait()
    waiting = [await look_at(session, task.taskId) for task in tasks]

    assert [task.statusMessage for task in waiting].count("Waiting for its turn.") == 1
    for task in reversed(tasks):
        assert (await cancelled(session, task.taskId)).status == "cancelled"
    assert await names(drive, alice) == ["Many"]


async def test_a_task_of_another_process_is_cancelled_there(
    drive: Drive, alice: Actor, session: ClientSession, copying_stands: Gate
) -> None:
    task = await begin(session, "copy_item", COPY)
    await copying_stands.reached.wait()
    async with open_drive(drive.settings) as other, host_of(other, alice) as host:
        assert (await look_at(host.session, task.taskId)).status == "working"
        over = await cancelled(host.session, task.taskId)

    assert copying_stands.left.is_set()
    assert over.status == "cancelled"


async def test_a_process_that_ends_leaves_its_tasks_to_the_next(
    drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    async with open_drive(drive_settings) as first:
        alice = await new_person(first.identity, "alice@example.com")
        await fill(first, alice)
        with monkeypatch.context() as patched:
            patched.setattr(copying, "_insert", gate.after(copying._insert))  # pyright: ignore[reportPrivateUsage] - as above
            async with host_of(first, alice) as host:
                task = await begin(host.session, "copy_item", COPY)
                await gate.reached.wait()
    async with open_drive(drive_settings) as second, host_of(second, alice) as host:
        result = await result_of(host.session, task.taskId)

    assert gate.left.is_set()
    assert not result.isError, result.content


async def test_a_task_whose_key_was_revoked_while_it_works_can_be_cancelled(
    drive: Drive, alice: Actor, session: ClientSession, copying_stands: Gate
) -> None:
    key, secret = await drive.identity.create_key(alice, "host", ["read", "write"])
    async with host_of(drive, type(alice)(await drive.identity.authenticate(secret))) as host:
        task = await begin(host.session, "copy_item", COPY)
    await copying_stands.reached.wait()
    await drive.identity.revoke_key(alice, key.id)
    with anyio.fail_after(PATIENCE):
        over = await cancelled(session, task.taskId)

    assert over.status == "cancelled"
    assert await names(drive, alice) == ["Many"]
