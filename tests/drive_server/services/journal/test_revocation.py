"""A run that was revoked changes nothing more, and nobody else notices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import CallCancelledError
from tests.drive_server.actors import rehearsing
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


async def test_a_revoked_run_changes_nothing_more(store: Store, ana: Actor) -> None:
    first = await store.files.create_folder(in_run(ana, "run-1", "call-1"), "/", "Before")
    await store.journal.revoke(ana.user_id, "run-1")
    await store.journal.revoke(ana.user_id, "run-1")
    with pytest.raises(CallCancelledError):
        await store.files.create_folder(in_run(ana, "run-1", "call-2"), "/", "After")
    assert await store.files.create_folder(in_run(ana, "run-1", "call-1"), "/", "Before") == replace(
        first, replayed=True
    )
    assert await store.names(ana) == ["Before"]


async def test_other_runs_other_people_and_dry_runs_go_on(store: Store, ana: Actor, ben: Actor) -> None:
    await store.journal.revoke(ana.user_id, "run-1")
    await store.files.create_folder(in_run(ana, "run-2"), "/", "Other run")
    await store.files.create_folder(ana, "/", "No run")
    await store.files.create_folder(in_run(ben, "run-1"), "/", "Other person")
    assert (await store.files.create_folder(in_run(rehearsing(ana), "run-1"), "/", "Dry")).effect
    assert await store.names(ana) == ["No run", "Other run"]
    assert await store.names(ben) == ["Other person"]


@pytest.mark.sqlite("the change begins first for all writers wait in one queue")
async def test_a_change_in_its_transaction_is_done_when_the_run_is_revoked(store: Store, ana: Actor) -> None:
    async with anyio.create_task_group() as group, store.database.write():
        group.start_soon(store.files.create_folder, in_run(ana, "run-1"), "/", "Under way")
        await anyio.wait_all_tasks_blocked()
        group.start_soon(store.journal.revoke, ana.user_id, "run-1")
        await anyio.wait_all_tasks_blocked()
    assert await store.names(ana) == ["Under way"]


async def test_a_run_that_another_process_has_now_changes_nothing_more_here(store: Store, ana: Actor) -> None:
    asked: list[str] = []

    async def holds(session: AsyncSession, run_id: str) -> bool:
        assert session.in_transaction()
        asked.append(run_id)
        return run_id != "lost"

    store.journal.holds_run = holds
    with pytest.raises(CallCancelledError):
        await store.files.create_folder(in_run(ana, "lost"), "/", "Lost")
    await store.files.create_folder(in_run(ana, "kept"), "/", "Kept")
    await store.files.create_folder(ana, "/", "No run")
    assert await store.names(ana) == ["Kept", "No run"]
    assert asked == ["lost", "kept"]
