"""The mark of a server's state: one for all that watches, and no other one because a process says that it is alive."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from sqlalchemy import event

from drive_server.storage.process_locks import DatabaseLock
from tests.drive_server.actors import local_owner, new_person
from tests.drive_server.replicas import two_drives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.drive import Drive

LOOKS = 20
PATIENCE_SECONDS = 20
WATCHED = ("api_keys.revoked_at IS NOT NULL", "users.disabled_at IS NOT NULL")


@pytest.fixture
async def drives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Drive, Drive]]:
    monkeypatch.setattr("drive_server.kernel.sql.database.STATE_SECONDS", 0)
    async with two_drives(tmp_path, monkeypatch) as drives:
        yield drives


async def test_a_lease_that_another_process_takes_and_renews_leaves_the_state(drives: tuple[Drive, Drive]) -> None:
    ours, theirs = (drive.database for drive in drives)
    state = await ours.state()
    lock = DatabaseLock(theirs, "work")

    assert await lock.acquire()
    await lock.release()

    assert await ours.state() == state


async def test_each_change_key_and_person_that_another_process_ends_makes_another_state(
    drives: tuple[Drive, Drive],
) -> None:
    ours, theirs = drives
    owner = await local_owner(theirs.identity)
    anna, ben = [await new_person(theirs.identity, f"{name}@example.com") for name in ("anna", "ben")]
    keys = [(await theirs.identity.create_key(owner, name, ["read"]))[0] for name in ("laptop", "phone")]
    steps = [
        *(partial(theirs.identity.revoke_key, owner, key.id) for key in keys),
        *(partial(theirs.people.change, owner, anna.user_id, is_disabled=value) for value in (True, False, True)),
        partial(theirs.people.remove, owner, ben.user_id, deletes_files=True),
        partial(theirs.files.create_folder, owner, "/", "Letters"),
    ]
    states = [await ours.database.state()]
    for step in steps:
        await step()
        states.append(await ours.database.state())

    assert [after for before, after in pairwise(states) if after == before] == []


async def test_a_drive_that_watches_reads_the_state_alone_while_other_processes_renew_leases(
    drives: tuple[Drive, Drive], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = drives
    await anyio.wait_all_tasks_blocked()
    monkeypatch.setattr("drive_server.kernel.sql.database.CHANGED_SECONDS", 0)
    looks, others, are_enough = [], [], anyio.Event()

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        is_look = all(words in statement for words in WATCHED)
        if is_look or any(words in statement for words in WATCHED):
            (looks if is_look else others).append(statement)
        if len(looks) >= LOOKS:
            are_enough.set()

    event.listen(ours.database.engine.sync_engine, "before_cursor_execute", note)
    lock = DatabaseLock(theirs.database, "work")
    with anyio.fail_after(PATIENCE_SECONDS):
        while not are_enough.is_set():
            assert await lock.acquire()
            await lock.release()

    assert others == []
