"""The status of the index for all who watch it: one reading for all, and none while nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.models.search import IndexStatus
from tests.drive_server.knowledge import samples

if TYPE_CHECKING:
    from collections.abc import Collection

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.sql.shared_poll import Watch
    from drive_server.knowledge.ingest.watching import IndexStatuses

PATIENCE = 30
POLLS = 5


@pytest.fixture
def asked(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Whose statuses were read, one entry a reading."""
    readings: list[list[str]] = []
    read = drive.ingester.statuses

    async def counted(owner_ids: Collection[str]) -> dict[str, IndexStatus]:
        readings.append(sorted(owner_ids))
        return await read(owner_ids)

    monkeypatch.setattr(drive.ingester, "statuses", counted)
    monkeypatch.setattr("drive_server.knowledge.ingest.watching.MAX_SECONDS", 1e9)
    return readings


async def polled(statuses: IndexStatuses) -> None:
    """Wait for further polls."""
    for _ in range(POLLS):
        reading = statuses.polls.next_reading
        statuses.polls.wake()
        await reading.wait()


async def until_ready(watch: Watch[IndexStatus], count: int) -> IndexStatus:
    while True:
        status = await watch.next(PATIENCE)
        if status and status.counts == {"ready": count}:
            return status


async def test_many_who_watch_are_served_by_one_reading_and_by_none_while_nothing_changes(
    drive: Drive, alice: Actor, bob: Actor, asked: list[list[str]]
) -> None:
    people, statuses = sorted([alice.user_id, bob.user_id]), drive.index_statuses
    await drive.ingester.drain()
    with anyio.fail_after(PATIENCE):
        watches = [statuses.watch(user_id) for user_id in people * 50]
        assert [await watch.next(PATIENCE) for watch in watches] == [IndexStatus()] * 100
        await polled(statuses)
    assert asked == [people]


async def test_while_another_process_indexes_each_poll_reads_as_nobody_tells_of_its_steps(
    drive: Drive, alice: Actor, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(drive.ingester), "is_writer", False)
    with anyio.fail_after(PATIENCE):
        watch = drive.index_statuses.watch(alice.user_id)
        assert await watch.next(PATIENCE) == IndexStatus()
        await polled(drive.index_statuses)
    assert len(asked) > POLLS


async def test_statuses_of_several_people_hold_each_their_own_files_and_problems(
    drive: Drive, alice: Actor, bob: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drive_server.knowledge.ingest.progress.MAX_PROBLEMS", 2)
    monkeypatch.setattr("drive_server.knowledge.ingest.progress.MAX_OWNERS", 1)
    folder = (await drive.files.create_folder(alice, "root", "below")).value
    for actor, where, names in ((alice, folder.id, "cab"), (bob, "root", "z")):
        for name in names:
            blob = await drive.blobs.put_bytes(samples.pdf(password=name))
            await drive.documents.create_from_blob(actor, where, f"{name}.pdf", blob, "application/pdf", "fail")
    await drive.documents.create(alice, "root", "fine.txt", "Noodles.")
    await drive.ingester.drain()

    found = await drive.ingester.statuses([alice.user_id, bob.user_id, "nobody"])

    assert [one["path"] for one in found[alice.user_id].problems] == ["/below/a.pdf", "/below/b.pdf"]
    assert [one["path"] for one in found[bob.user_id].problems] == ["/z.pdf"]
    assert sum(found[alice.user_id].counts.values()) == 4
    assert found[alice.user_id].counts["ready"] == 1
    assert found["nobody"] == IndexStatus()
    assert found[alice.user_id] == await drive.ingester.status(alice.user_id)


async def test_a_new_file_is_seen_by_its_owner_until_it_can_be_searched_and_by_nobody_else(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    with anyio.fail_after(PATIENCE):
        hers, his = (drive.index_statuses.watch(actor.user_id) for actor in (alice, bob))
        assert await his.next(PATIENCE) == IndexStatus()
        await drive.documents.create(alice, "root", "a.txt", "Nothing but noodles.")
        await until_ready(hers, 1)
        await drive.documents.create(bob, "root", "b.txt", "Nothing but rice.")
        await until_ready(his, 1)
        assert hers.take() is None
