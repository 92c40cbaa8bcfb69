from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from drive_server.kernel.errors import ForbiddenError, NameConflictError, NotFoundError, StateConflictError
from drive_server.services.journal.changes import REPLACES
from drive_server.storage.tables.index import IndexEntryRow
from tests.drive_server.actors import rehearsing

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


async def test_a_trashed_folder_takes_all_below_it_and_brings_it_back(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Old")
    await store.folder(ana, "/Old/deep")
    kept = await store.file(ana, "/Old/deep/plan.md")
    trashed = (await store.files.trash(ana, "/Old")).value
    assert trashed.trashed_at
    assert await store.names(ana) == []
    with pytest.raises(NotFoundError):
        await store.files.get(ana, "/Old/deep/plan.md")
    assert [item.name for item in (await store.files.list_trash(ana)).items] == ["Old"]
    back = (await store.files.restore(ana, trashed.id)).value
    assert (back.trashed_at, back.child_count) == (None, 1)
    assert (await store.files.get(ana, "/Old/deep/plan.md")).id == kept.id


async def test_what_was_in_the_trash_before_stays_there_when_its_folder_comes_back(store: Store, ana: Actor) -> None:
    folder = await store.folder(ana, "/Old")
    await store.file(ana, "/Old/kept.md")
    first = await store.file(ana, "/Old/first.md")
    await store.files.trash(ana, first.id)
    await store.files.trash(ana, folder.id)
    with pytest.raises(StateConflictError) as caught:
        await store.files.restore(ana, first.id)
    assert "Name a folder" in caught.value.hint
    await store.files.restore(ana, folder.id)
    assert await store.names(ana, folder.id) == ["kept.md"]
    await store.files.restore(ana, first.id)
    assert await store.names(ana, folder.id) == ["first.md", "kept.md"]


async def test_an_item_can_be_restored_to_another_folder(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Old")
    item = await store.file(ana, "/Old/plan.md")
    await store.files.trash(ana, item.id)
    await store.files.trash(ana, "/Old")
    assert (await store.files.restore(ana, item.id, to_parent="/")).value.path == "/plan.md"


async def test_a_name_that_was_taken_meanwhile_is_told_with_a_free_one(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/plan.md")
    await store.files.trash(ana, item.id)
    await store.file(ana, "/plan.md")
    with pytest.raises(NameConflictError) as caught:
        await store.files.restore(ana, item.id)
    assert caught.value.details["suggestion"] == "plan (2).md"
    assert (await store.files.get(ana, item.id)).trashed_at


async def test_only_what_was_trashed_itself_can_be_restored(store: Store, ana: Actor) -> None:
    folder, inner = await store.folder(ana, "/Old"), await store.file(ana, "/Old/plan.md")
    with pytest.raises(StateConflictError):
        await store.files.restore(ana, inner.id)
    await store.files.trash(ana, folder.id)
    with pytest.raises(StateConflictError) as caught:
        await store.files.restore(ana, inner.id)
    assert caught.value.details == {"folder_id": folder.id}


async def test_nothing_can_be_done_to_an_item_in_the_trash_but_restore_it(store: Store, ana: Actor) -> None:
    item, folder = await store.file(ana, "/plan.md"), await store.folder(ana, "/f")
    await store.files.trash(ana, item.id)
    await store.files.trash(ana, folder.id)
    for attempt in (
        store.files.rename(ana, item.id, "x"),
        store.files.trash(ana, item.id),
        store.documents.write_text(ana, item.id, "x"),
        store.documents.read_text(ana, item.id),
        store.files.create_folder(ana, folder.id, "x"),
        store.files.list_folder(ana, folder.id),
    ):
        with pytest.raises(StateConflictError):
            await attempt


async def test_the_trash_is_listed_newest_first_in_pages(store: Store, ana: Actor) -> None:
    for name in "abcde":
        await store.file(ana, f"/{name}")
        await store.files.trash(ana, f"/{name}")
    first = await store.files.list_trash(ana, limit=3)
    second = await store.files.list_trash(ana, limit=3, cursor=first.cursor)
    assert [item.name for item in (*first.items, *second.items)] == ["e", "d", "c", "b", "a"]
    assert second.cursor is None


async def test_an_editor_of_the_folder_can_trash_and_restore_and_a_viewer_sees_neither(
    store: Store, ana: Actor
) -> None:
    ben, eve = await store.person("ben@example.com"), await store.person("eve@example.com")
    folder, item = await store.folder(ana, "/Team"), await store.file(ana, "/Team/plan.md")
    await store.sharing.share(ana, folder.id, "ben@example.com", "editor")
    await store.sharing.share(ana, folder.id, "eve@example.com", "viewer")
    with pytest.raises(ForbiddenError):
        await store.files.trash(eve, item.id)
    await store.files.trash(ben, item.id)
    with pytest.raises(NotFoundError):
        await store.files.get(eve, item.id)
    assert [seen.id for seen in (await store.files.list_trash(ben)).items] == [item.id]
    assert (await store.files.list_trash(eve)).items == ()
    assert (await store.files.restore(ben, item.id)).value.path == "/Shared with me/Team/plan.md"


async def test_a_dry_run_of_trash_lists_what_goes_and_changes_nothing(store: Store, ana: Actor) -> None:
    folder = await store.folder(ana, "/Old")
    for number in range(120):
        await store.file(ana, f"/Old/{number:03}.md", str(number))
    outcome = await store.files.trash(rehearsing(ana), folder.id)
    assert outcome.effect
    assert (outcome.effect.count, len(outcome.effect.items)) == (121, 100)
    assert outcome.effect.summary == "Move 'Old' with 120 items in it to the trash, from where it can be restored."
    assert [item["path"] for item in outcome.effect.items[:2]] == ["/Old", "/Old/000.md"]
    assert outcome.effect.etag
    assert outcome.effect.etag.partition(REPLACES)[0] == folder.etag
    assert outcome.effect.reversible
    assert (await store.files.get(ana, folder.id)).child_count == 120
    assert (await store.files.list_trash(ana)).items == ()


async def test_trash_and_restore_tell_the_index(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Old")
    item = await store.file(ana, "/Old/plan.md")
    for change in (store.files.trash, store.files.restore):
        async with store.database.write() as session:
            await session.execute(update(IndexEntryRow).values(state="ready"))
        woken = len(store.wakes)
        await change(ana, (await store.files.get(ana, item.id)).parent_id or "")
        assert (await store.files.get(ana, item.id)).index_state == "pending"
        assert len(store.wakes) == woken + 1


async def test_who_was_given_a_single_item_does_not_restore_it_to_elsewhere(
    store: Store, ana: Actor, ben: Actor
) -> None:
    item = await store.file(ana, "/a.txt")
    folder = await store.folder(ana, "/Other")
    for ref in (item.id, folder.id):
        await store.sharing.share(ana, ref, "ben@example.com", "editor")
    await store.files.trash(ana, item.id)
    for to_parent in (None, folder.id):
        with pytest.raises(ForbiddenError):
            await store.files.restore(ben, item.id, to_parent=to_parent)
    assert await store.names(ana, folder.id) == []
