"""Deletion for good: of one item, of all that is in the trash, and of what has lain there for too long."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from sqlalchemy import func, select

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
)
from drive_server.services.files import trash
from drive_server.services.files.trash import Expiry
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import HoldingRow, NodeRow, VersionRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import LinkRow, ShareRow
from tests.drive_server.actors import rehearsing, with_scopes
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


async def rows(store: Store, table: Any) -> int:
    async with store.database.read() as session:
        return await session.scalar(select(func.count()).select_from(table)) or 0


async def trashed_folder(store: Store, ana: Actor) -> str:
    """Put /Old with two files, a link and a share into the trash; return its id."""
    folder = await store.folder(ana, "/Old")
    item = await store.file(ana, "/Old/a.txt", "one")
    await store.documents.write_text(ana, item.id, "two")
    await store.folder(ana, "/Old/deep")
    await store.file(ana, "/Old/deep/b.txt", "bee")
    await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    async with store.database.write() as session:
        session.add(LinkRow(id=new_id(), node_id=item.id, role=1, created_at=datetime.now(UTC), created_by=ana.user_id))
    await store.files.trash(ana, folder.id)
    return folder.id


def after(store: Store, days: float) -> Expiry:
    """Return the expiry of a trash of 30 days, as it runs so many days from now."""
    return Expiry(store.database, store.journal, 30, clock=lambda: datetime.now(UTC) + timedelta(days=days))


async def test_a_trashed_tree_is_deleted_with_all_that_belongs_to_it(store: Store, ana: Actor) -> None:
    kept = await store.file(ana, "/kept.txt", "bee")
    folder = await trashed_folder(store, ana)
    outcome = await store.files.delete_for_good(ana, folder)
    assert (outcome.value.count, [item.name for item in outcome.value.items]) == (4, ["Old"])
    assert [await rows(store, table) for table in (NodeRow, VersionRow, ShareRow, LinkRow)] == [2, 1, 0, 0]
    async with store.database.read() as session:
        assert await session.scalar(select(UserRow.used_bytes).where(UserRow.id == ana.user_id)) == 3
        assert (await session.scalars(select(HoldingRow.versions))).all() == [1]
    with pytest.raises(NotFoundError):
        await store.files.get(ana, folder)
    assert await store.text(ana, kept.id) == "bee"


async def test_the_journal_keeps_what_was_deleted_and_says_that_it_is_final(store: Store, ana: Actor) -> None:
    folder = await trashed_folder(store, ana)
    outcome = await store.files.delete_for_good(ana, folder)
    change = (await store.journal.list_changes(ana)).items[0]
    assert (change.id, change.action) == (outcome.change_id, "delete_for_good")
    assert change.summary == "Deleted 'Old' with 3 items in it for good; this can't be taken back."
    undone = (await store.undo.undo(ana, change_id=change.id)).value
    assert undone.undone == ()
    assert {left["reason"] for left in undone.skipped} == {"it was deleted for good, which can't be taken back"}


async def test_what_was_done_to_a_deleted_item_is_not_undone_and_the_rest_is(store: Store, ana: Actor) -> None:
    acting = in_run(ana, "run-1")
    item = (await store.documents.create(acting, "/", "a.txt", "one")).value
    await store.files.create_folder(acting, "/", "F")
    await store.files.trash(ana, item.id)
    await store.files.delete_for_good(ana, item.id)
    undone = (await store.undo.undo(ana, run_id="run-1")).value
    assert [change.action for change in undone.undone] == ["create_folder"]
    assert "deleted for good" in undone.skipped[0]["reason"]


async def test_only_what_is_in_the_trash_by_itself_is_deleted(store: Store, ana: Actor) -> None:
    live = await store.file(ana, "/live.txt")
    await store.folder(ana, "/Old")
    inner = await store.file(ana, "/Old/in.txt")
    await store.files.trash(ana, "/Old")
    for ref in (live.id, inner.id, "root"):
        with pytest.raises(StateConflictError):
            await store.files.delete_for_good(ana, ref)
    with pytest.raises(NotFoundError):
        await store.files.delete_for_good(ana, "nothing")


async def test_only_the_owner_deletes_for_good_and_only_with_the_scope(store: Store, ana: Actor, ben: Actor) -> None:
    shared = await store.folder(ana, "/Shared")
    item = await store.file(ana, "/Shared/a.txt")
    await store.sharing.share(ana, shared.id, "ben@example.com", "editor")
    await store.files.trash(ben, item.id)
    with pytest.raises(ForbiddenError):
        await store.files.delete_for_good(ben, item.id)
    with pytest.raises(MissingScopeError):
        await store.files.delete_for_good(with_scopes(ana, Scope.READ, Scope.WRITE), item.id)
    with pytest.raises(MissingScopeError):
        await store.files.empty_trash(with_scopes(ana, Scope.READ, Scope.WRITE))
    assert (await store.files.empty_trash(ben)).value.count == 0
    assert (await store.files.delete_for_good(ana, item.id)).value.count == 1


async def test_a_deletion_of_something_that_changed_since_it_was_read_is_refused(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    await store.files.trash(ana, item.id)
    with pytest.raises(EtagMismatchError):
        await store.files.delete_for_good(ana, item.id, if_match=item.etag)


async def test_the_effect_names_what_would_be_gone_for_good_and_deletes_nothing(store: Store, ana: Actor) -> None:
    folder = await trashed_folder(store, ana)
    for outcome in (
        await store.files.delete_for_good(rehearsing(ana), folder),
        await store.files.empty_trash(rehearsing(ana)),
    ):
        assert outcome.effect
        assert (outcome.effect.count, outcome.effect.reversible) == (4, False)
        assert "for good; this can't be taken back" in outcome.effect.summary
        assert outcome.effect.items[0]["path"] == "/Old"
        assert len(outcome.effect.items) == 4
    assert (await store.files.restore(ana, folder)).value.child_count == 2


async def test_the_trash_is_emptied_of_the_callers_own_things_only(store: Store, ana: Actor, ben: Actor) -> None:
    await trashed_folder(store, ana)
    other = await store.file(ana, "/other.txt")
    bens = await store.file(ben, "/b.txt")
    for actor, ref in ((ana, other.id), (ben, bens.id)):
        await store.files.trash(actor, ref)
    await store.file(ana, "/live.txt")
    outcome = await store.files.empty_trash(ana)
    assert (outcome.value.count, [item.name for item in outcome.value.items]) == (5, ["other.txt", "Old"])
    assert (await store.files.list_trash(ana)).items == ()
    assert [item.id for item in (await store.files.list_trash(ben)).items] == [bens.id]
    assert await store.names(ana) == ["live.txt"]


async def test_an_empty_trash_is_emptied_without_a_change(store: Store, ana: Actor) -> None:
    outcome = await store.files.empty_trash(ana)
    assert (outcome.value.count, outcome.change_id) == (0, None)
    effect = (await store.files.empty_trash(rehearsing(ana))).effect
    assert effect
    assert (effect.count, effect.summary) == (0, "Empty the trash, which is empty already.")


async def test_what_was_approved_to_be_deleted_is_what_is_deleted(store: Store, ana: Actor) -> None:
    await trashed_folder(store, ana)
    effect = (await store.files.empty_trash(rehearsing(ana))).effect
    assert effect
    late = await store.file(ana, "/late.txt")
    await store.files.trash(ana, late.id)
    with pytest.raises(EtagMismatchError):
        await store.files.empty_trash(replace(ana, if_match=effect.etag))
    assert len((await store.files.list_trash(ana)).items) == 2


async def test_a_repeated_call_answers_what_was_deleted_then(store: Store, ana: Actor) -> None:
    await trashed_folder(store, ana)
    keyed = in_run(ana, "run-1", "key")
    first = await store.files.empty_trash(keyed)
    again = await store.files.empty_trash(keyed)
    assert (again.replayed, again.value) == (True, first.value)


async def test_emptying_that_is_cancelled_halfway_deletes_nothing(
    store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "BATCH", 1)
    folder = await trashed_folder(store, ana)
    halfway = anyio.Event()

    async def stalling(done: int, total: int) -> None:
        if 2 * done >= total:
            halfway.set()
            await anyio.sleep_forever()

    emptying = asyncio.create_task(store.files.empty_trash(ana, progress=stalling))
    await halfway.wait()
    emptying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await emptying
    assert (await store.files.restore(ana, folder)).value.child_count == 2
    assert await store.text(ana, "/Old/a.txt") == "two"


async def test_progress_of_emptying_rises_to_the_total(
    store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "BATCH", 3)
    await trashed_folder(store, ana)
    told: list[tuple[int, int]] = []

    async def progress(done: int, total: int) -> None:
        told.append((done, total))

    await store.files.empty_trash(ana, progress=progress)
    assert told == [(0, 4), (3, 4), (4, 4)]


async def test_the_index_is_told_to_let_go_of_deleted_files(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    await store.files.trash(ana, item.id)
    store.wakes.clear()
    await store.files.delete_for_good(ana, item.id)
    async with store.database.read() as session:
        assert (await session.get_one(IndexEntryRow, item.id)).state == "pending"
    assert store.wakes


async def test_an_item_whose_folder_is_gone_comes_back_to_a_stated_folder(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Old")
    await store.folder(ana, "/New")
    item = await store.file(ana, "/Old/a.txt")
    await store.files.trash(ana, item.id)
    await store.files.trash(ana, "/Old")
    with pytest.raises(StateConflictError) as caught:
        await store.files.restore(ana, item.id)
    assert caught.value.hint == "Name a folder to restore it to."
    assert (await store.files.restore(ana, item.id, to_parent="/New")).value.path == "/New/a.txt"


async def test_after_its_time_in_the_trash_an_item_is_deleted_for_good(store: Store, ana: Actor, ben: Actor) -> None:
    folder = await trashed_folder(store, ana)
    bens = await store.file(ben, "/b.txt")
    await store.files.trash(ben, bens.id)
    assert await after(store, 29).run_once() == 0
    assert len((await store.files.list_trash(ana)).items) == 1
    assert await after(store, 31).run_once() == 5
    assert await after(store, 31).run_once() == 0
    for actor, ref in ((ana, folder), (ben, bens.id)):
        with pytest.raises(NotFoundError):
            await store.files.get(actor, ref)


async def test_expiry_is_recorded_as_the_systems_doing_for_the_owner(store: Store, ana: Actor) -> None:
    await trashed_folder(store, ana)
    await after(store, 31).run_once()
    change = (await store.journal.list_changes(ana)).items[0]
    assert (change.action, change.tool, change.method, change.user_email) == (
        "expire",
        "expiry",
        "system",
        "ana@example.com",
    )
    assert change.summary == "Deleted 4 items for good, after 30 days in the trash."


async def test_what_was_restored_in_time_and_what_is_live_stays(store: Store, ana: Actor) -> None:
    folder = await trashed_folder(store, ana)
    await store.files.restore(ana, folder)
    await store.file(ana, "/live.txt")
    assert await after(store, 400).run_once() == 0
    assert await store.names(ana) == ["Old", "live.txt"]


async def test_more_than_fits_one_change_expires_in_several(
    store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "ITEMS_AT_ONCE", 2)
    for number in range(5):
        item = await store.file(ana, f"/{number}.txt")
        await store.files.trash(ana, item.id)
    assert await after(store, 31).run_once() == 5
    actions = [change.action for change in (await store.journal.list_changes(ana)).items]
    assert actions.count("expire") == 3


async def test_two_processes_that_expire_at_once_delete_everything_once(store: Store, ana: Actor) -> None:
    await trashed_folder(store, ana)
    assert sorted(await asyncio.gather(after(store, 31).run_once(), after(store, 31).run_once())) == [0, 4]


async def trashed_before_its_folder(store: Store, ana: Actor) -> tuple[str, str]:
    """Put /Old/a.txt into the trash, then /Old with /Old/b.txt; return the ids of the file and the folder."""
    folder = await store.folder(ana, "/Old")
    kept = await store.file(ana, "/Old/a.txt", "one")
    await store.file(ana, "/Old/b.txt", "two!")
    await store.files.trash(ana, kept.id)
    await store.files.trash(ana, folder.id)
    return kept.id, folder.id


async def test_an_item_that_was_trashed_before_its_folder_outlives_it(store: Store, ana: Actor) -> None:
    kept, folder = await trashed_before_its_folder(store, ana)
    preview = (await store.files.delete_for_good(rehearsing(ana), folder)).effect
    assert preview is not None
    assert (preview.count, [item["name"] for item in preview.items]) == (2, ["Old", "b.txt"])
    assert (await store.files.delete_for_good(ana, folder)).value.count == 2
    assert [item.id for item in (await store.files.list_trash(ana)).items] == [kept]
    async with store.database.read() as session:
        assert await session.scalar(select(UserRow.used_bytes).where(UserRow.id == ana.user_id)) == 3
    elsewhere = await store.folder(ana, "/New")
    assert (await store.files.restore(ana, kept, to_parent=elsewhere.id)).value.path == "/New/a.txt"


async def test_without_its_folder_it_comes_back_to_the_top(store: Store, ana: Actor) -> None:
    kept, folder = await trashed_before_its_folder(store, ana)
    trashing = (await store.journal.list_changes(ana, item=kept)).items[0]
    await store.files.delete_for_good(ana, folder)
    assert (await store.undo.undo(ana, change_id=trashing.id)).value.skipped == ()
    assert (await store.files.get(ana, kept)).path == "/a.txt"


async def test_folders_trashed_inside_one_another_are_entries_of_their_own(store: Store, ana: Actor) -> None:
    ids = [(await store.folder(ana, path)).id for path in ("/a", "/a/b", "/a/b/c")]
    leaf = await store.file(ana, "/a/b/c/leaf.txt")
    await store.file(ana, "/a/b/beside.txt")
    for node_id in (leaf.id, *reversed(ids)):
        await store.files.trash(ana, node_id)
    assert (await store.files.delete_for_good(ana, ids[0])).value.count == 1
    assert (await store.files.delete_for_good(ana, ids[2])).value.count == 1
    restored = (await store.files.restore(ana, ids[1])).value
    assert (restored.path, restored.child_count) == ("/b", 1)
    assert [item.id for item in (await store.files.list_trash(ana)).items] == [leaf.id]
    assert (await store.files.empty_trash(ana)).value.count == 1


async def test_expiry_keeps_what_was_trashed_inside_and_is_not_due(store: Store, ana: Actor) -> None:
    kept, _ = await trashed_before_its_folder(store, ana)
    async with store.database.write() as session:
        (await session.get_one(NodeRow, kept)).trashed_at = datetime.now(UTC) + timedelta(days=20)
    assert await after(store, 40).run_once() == 2
    assert [item.id for item in (await store.files.list_trash(ana)).items] == [kept]
    assert await after(store, 60).run_once() == 1


async def test_emptying_takes_entries_inside_of_others_too(store: Store, ana: Actor) -> None:
    await trashed_before_its_folder(store, ana)
    assert (await store.files.empty_trash(ana)).value.count == 3
    async with store.database.read() as session:
        assert await session.scalar(select(UserRow.used_bytes).where(UserRow.id == ana.user_id)) == 0
