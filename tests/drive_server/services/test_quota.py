from __future__ import annotations

from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import select

from drive_server.kernel.errors import ForbiddenError, InvalidInputError, NotFoundError, QuotaExceededError
from drive_server.services.documents.edits import Edit
from drive_server.services.documents.service import DocumentService
from drive_server.services.journal.service import Journal
from drive_server.services.quota import (
    BATCH,
    MAX_QUOTA_BYTES,
    Limits,
    QuotaService,
    hold_all,
    release_all,
    require_room,
)
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.items import HoldingRow, NodeRow, VersionRow
from drive_server.storage.tables.people import UserRow
from tests.drive_server.actors import rehearsing
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


def limited(store: Store, quota_bytes: int = 0, max_versions: int = 100) -> DocumentService:
    """The store's documents, under these limits."""
    limits = Limits(quota_bytes, max_versions)
    journal = Journal(store.database, store.blobs, limits=limits)
    return DocumentService(store.database, store.blobs, journal, store.texts)


async def used(store: Store, actor: Actor) -> int:
    async with store.database.read() as session:
        return (await session.get_one(UserRow, actor.user_id)).used_bytes


async def recounted(store: Store, actor: Actor) -> int:
    """Count the person's bytes by their versions, and check that the holdings agree."""
    mine = (
        select(VersionRow.blob, VersionRow.size)
        .join(NodeRow, NodeRow.id == VersionRow.node_id)
        .where(NodeRow.owner_id == actor.user_id)
    )
    async with store.database.read() as session:
        versions = [(blob, size) for blob, size in await session.execute(mine)]
        rows = await session.scalars(select(HoldingRow).where(HoldingRow.owner_id == actor.user_id))
        held = {row.blob: (row.size, row.versions) for row in rows}
    counted = Counter(blob for blob, _ in versions)
    assert held == {blob: (size, counted[blob]) for blob, size in versions}
    return sum(dict(versions).values())


def stored(store: Store) -> set[str]:
    return {path.name for path in store.folder_of_blobs.rglob("*") if path.is_file()}


@asynccontextmanager
async def nothing_stored(store: Store) -> AsyncGenerator[None]:
    before = stored(store)
    yield
    assert stored(store) == before


async def test_a_content_counts_once_however_many_versions_have_it(store: Store, ana: Actor) -> None:
    await store.file(ana, "/a.txt", "same")
    await store.file(ana, "/b.txt", "same")
    item = await store.file(ana, "/c.txt", "other!")
    await store.documents.write_text(ana, item.id, "same")

    assert await used(store, ana) == await recounted(store, ana) == len("same") + len("other!")


async def test_old_versions_and_the_trash_count(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.documents.write_text(ana, item.id, "three")
    await store.files.trash(ana, item.id)

    assert await used(store, ana) == await recounted(store, ana) == len("one") + len("three")


async def test_what_is_over_the_quota_is_refused_and_not_stored(store: Store, ana: Actor) -> None:
    documents = limited(store, quota_bytes=10)
    item = (await documents.create(ana, "/", "a.txt", "12345678")).value

    async with nothing_stored(store):
        for attempt in (
            documents.create(ana, "/", "b.txt", "abc"),
            documents.create(ana, "/", "b.bin", b"\0\1\2"),
            documents.write_text(ana, item.id, "abc"),
            documents.patch(ana, item.id, [Edit("1234", "abc")]),
        ):
            with pytest.raises(QuotaExceededError) as caught:
                await attempt
            assert caught.value.details["quota_bytes"] == 10
            assert caught.value.details["used_bytes"] == 8
    assert await store.names(ana) == ["a.txt"]
    assert await used(store, ana) == await recounted(store, ana) == 8
    assert (await documents.create(ana, "/", "c.txt", "ab")).value.size == 2


async def test_a_content_that_is_there_already_needs_no_room(store: Store, ana: Actor) -> None:
    documents = limited(store, quota_bytes=5)
    await documents.create(ana, "/", "a.txt", "12345")
    item = (await documents.create(ana, "/", "b.txt", "12345")).value
    await documents.create(ana, "/", "empty.txt", "")

    await documents.write_text(ana, item.id, "")
    assert (await documents.restore_version(ana, item.id, 1)).value.size == 5


async def test_a_person_keeps_what_is_over_a_quota_that_was_lowered(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "12345")
    documents = limited(store, quota_bytes=1)

    await documents.write_text(ana, item.id, "")
    assert (await documents.restore_version(ana, item.id, 1)).value.size == 5
    with pytest.raises(QuotaExceededError):
        await documents.create(ana, "/", "b.txt", "x")


async def test_the_quota_of_the_folders_owner_counts_and_is_not_told_to_others(
    store: Store, ana: Actor, ben: Actor
) -> None:
    documents = limited(store, quota_bytes=10)
    folder = await store.folder(ana, "/Shared")
    await store.sharing.share(ana, folder.id, "ben@example.com", "editor")
    item = (await documents.create(ben, folder.id, "a.txt", "12345678")).value

    assert (await used(store, ana), await used(store, ben)) == (8, 0)
    for attempt in (documents.create(ben, folder.id, "b.txt", "abc"), documents.write_text(ben, item.id, "abc")):
        with pytest.raises(QuotaExceededError) as caught:
            await attempt
        assert caught.value.details == {"needed_bytes": 3}
    assert (await documents.create(ben, "/", "b.txt", "abc")).value.size == 3


async def test_a_dry_run_counts_nothing_but_tells_that_there_is_no_room(store: Store, ana: Actor) -> None:
    documents = limited(store, quota_bytes=10)

    await documents.create(rehearsing(ana), "/", "a.txt", "1234567890")
    with pytest.raises(QuotaExceededError):
        await documents.create(rehearsing(ana), "/", "a.txt", "12345678901")

    assert await used(store, ana) == 0
    assert stored(store) == set()


async def test_a_repeated_call_counts_once(store: Store, ana: Actor) -> None:
    documents = limited(store, quota_bytes=4)
    keyed = in_run(ana, "run", "key")

    first = await documents.create(keyed, "/", "a.txt", "1234")
    again = await documents.create(keyed, "/", "a.txt", "1234")

    assert (again.value, again.replayed) == (first.value, True)
    assert await used(store, ana) == 4


async def test_taking_a_change_back_keeps_the_count(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.documents.write_text(ana, item.id, "three")
    await store.undo.undo(ana)

    assert await store.text(ana, item.id) == "one"
    assert await used(store, ana) == await recounted(store, ana) == len("one") + len("three")


async def test_no_more_versions_are_kept_than_allowed_and_the_newest_always(store: Store, ana: Actor) -> None:
    documents = limited(store, max_versions=3)
    item = (await documents.create(ana, "/", "a.txt", "0")).value
    for number in range(1, 6):
        await documents.write_text(ana, item.id, str(number))

    versions = (await documents.list_versions(ana, item.id)).items

    assert [version.number for version in versions] == [6, 5, 4]
    assert await store.text(ana, item.id) == "5"
    assert await used(store, ana) == await recounted(store, ana) == 3
    with pytest.raises(NotFoundError):
        await documents.restore_version(ana, item.id, 3)
    assert (await documents.restore_version(ana, item.id, 4)).value.version == 7


async def test_one_version_is_the_least(store: Store, ana: Actor) -> None:
    documents = limited(store, quota_bytes=4, max_versions=1)
    item = (await documents.create(ana, "/", "a.txt", "12")).value
    await documents.write_text(ana, item.id, "34")

    assert [version.number for version in (await documents.list_versions(ana, item.id)).items] == [2]
    assert await used(store, ana) == await recounted(store, ana) == 2


async def test_a_limit_that_was_lowered_holds_from_the_next_version_on(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "0")
    for number in range(1, 5):
        await store.documents.write_text(ana, item.id, str(number))

    await limited(store, max_versions=2).write_text(ana, item.id, "5")

    assert [version.number for version in (await store.documents.list_versions(ana, item.id)).items] == [6, 5]
    assert await used(store, ana) == await recounted(store, ana) == 2


async def test_an_undo_leaves_a_file_whose_earlier_content_is_no_longer_kept(store: Store, ana: Actor) -> None:
    documents = limited(store, max_versions=1)
    item = (await documents.create(ana, "/", "a.txt", "one")).value
    change = await documents.write_text(ana, item.id, "two")

    outcome = await store.undo.undo(ana, change_id=change.change_id)

    assert outcome.value.undone == ()
    assert "no longer kept" in outcome.value.skipped[0]["reason"]
    assert await store.text(ana, item.id) == "two"


async def test_thousands_of_versions_are_counted_at_once(store: Store, ana: Actor) -> None:
    blobs = [Blob(f"{number % (2 * BATCH):064x}", 10) for number in range(5 * BATCH)]
    async with store.database.write() as session:
        await hold_all(session, ana.user_id, blobs)
    assert await used(store, ana) == 2 * BATCH * 10

    async with store.database.write() as session:
        await release_all(session, ana.user_id, [blob.hash for blob in blobs[: 4 * BATCH]])
    assert await used(store, ana) == BATCH * 10
    async with store.database.write() as session:
        await release_all(session, ana.user_id, [blob.hash for blob in blobs[4 * BATCH :]])
        assert (await session.scalars(select(HoldingRow))).all() == []
    assert await used(store, ana) == 0


async def test_what_a_change_adds_and_removes_is_set_against_each_other(store: Store, ana: Actor) -> None:
    limits = Limits(quota_bytes=10)
    async with store.database.write() as session:
        await hold_all(session, ana.user_id, [Blob("a" * 64, 10)])
    async with store.database.write() as session:
        await hold_all(session, ana.user_id, [Blob("b" * 64, 9)])
        with pytest.raises(QuotaExceededError):
            require_room(session, limits, ana.user_id)
        await release_all(session, ana.user_id, ["a" * 64])
        require_room(session, limits, ana.user_id)


async def test_an_administrator_sets_what_somebody_may_keep(store: Store, ana: Actor, ben: Actor) -> None:
    quota = QuotaService(store.database, Limits(quota_bytes=100))
    admin = replace(ana, principal=replace(ana.principal, is_admin=True))

    for named in (ben.user_id, "BEN@example.com"):
        assert (await quota.set_quota(admin, named, 7))[2].quota_bytes == 7
    assert (await quota.usage(ben.user_id)).left == 7
    assert (await quota.set_quota(admin, ben.user_id, 0))[2].left is None
    assert (await quota.set_quota(admin, ben.user_id, None))[2].quota_bytes == 100
    with pytest.raises(ForbiddenError):
        await quota.set_quota(ben, ben.user_id, 1 << 40)
    for unknown in ("nobody@example.com", "0" * 32, "", "\0"):
        with pytest.raises(NotFoundError):
            await quota.set_quota(admin, unknown, 1)
    for wrong in (-1, MAX_QUOTA_BYTES + 1):
        with pytest.raises(InvalidInputError):
            await quota.set_quota(admin, ben.user_id, wrong)


async def test_the_quota_of_a_person_goes_before_that_of_the_settings(store: Store, ana: Actor) -> None:
    documents = limited(store, quota_bytes=2)
    admin = replace(ana, principal=replace(ana.principal, is_admin=True))
    await QuotaService(store.database, Limits(quota_bytes=2)).set_quota(admin, ana.user_id, 5)

    await documents.create(ana, "/", "a.txt", "12345")
    with pytest.raises(QuotaExceededError):
        await documents.create(ana, "/", "b.txt", "1")


async def test_two_writers_at_once_do_not_both_get_the_last_room(store: Store, ana: Actor) -> None:
    documents = limited(store, quota_bytes=5)
    refused = Counter[str]()

    async def write(name: str) -> None:
        try:
            await documents.create(ana, "/", name, f"4{name}..")
        except QuotaExceededError as error:
            refused[error.code] += 1

    async with anyio.create_task_group() as tasks:
        for name in ("a", "b", "c", "d"):
            tasks.start_soon(write, name)

    assert refused == {"quota_exceeded": 3}
    assert await used(store, ana) == await recounted(store, ana) == 4
