from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import func, select

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NameConflictError,
    NotFoundError,
    QuotaExceededError,
    StateConflictError,
)
from drive_server.services.files import copying
from drive_server.services.quota import Limits
from drive_server.services.tree.ancestors import MAX_DEPTH
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import HoldingRow, NodeRow
from drive_server.storage.tables.journal import ChangeItemRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import ShareRow
from tests.drive_server.actors import rehearsing, with_scopes
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


async def tree(store: Store, ana: Actor) -> str:
    """Make /Plans with a file, a folder with a file, and an empty folder; return its id."""
    folder = await store.folder(ana, "/Plans")
    await store.file(ana, "/Plans/a.txt", "one")
    await store.folder(ana, "/Plans/deep")
    await store.file(ana, "/Plans/deep/报告 📄.md", "deep")
    await store.folder(ana, "/Plans/empty")
    return folder.id


async def count(store: Store, table: type[NodeRow] | type[IndexEntryRow]) -> int:
    async with store.database.read() as session:
        return await session.scalar(select(func.count()).select_from(table)) or 0


async def test_a_file_is_copied_with_the_content_of_now_as_version_1(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.documents.write_text(ana, item.id, "two")
    await store.folder(ana, "/Other")
    copy = (await store.files.copy(ana, item.id, "/Other", "b.txt")).value
    assert (copy.path, copy.version, copy.size, copy.media_type) == ("/Other/b.txt", 1, 3, "text/plain")
    assert copy.id != item.id
    assert await store.text(ana, copy.id) == "two"
    await store.documents.write_text(ana, copy.id, "three")
    assert await store.text(ana, item.id) == "two"


async def test_a_folder_is_copied_with_all_that_is_live_in_it(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    gone = await store.file(ana, "/Plans/gone.txt")
    await store.files.trash(ana, gone.id)
    copy = (await store.files.copy(ana, source, "/", "Copy")).value
    assert (copy.kind, copy.child_count) == ("folder", 3)
    assert await store.names(ana, "/Copy") == ["deep", "empty", "a.txt"]
    assert await store.text(ana, "/Copy/deep/报告 📄.md") == "deep"
    originals = {item.id for item in (await store.files.list_folder(ana, source)).items}
    assert not originals & {item.id for item in (await store.files.list_folder(ana, copy.id)).items}


async def test_every_copied_file_waits_for_the_index_and_every_copied_item_is_told_by_the_journal(
    store: Store, ana: Actor
) -> None:
    source = await tree(store, ana)
    heard: list[str] = []
    store.journal.on_change = lambda: heard.append("change")
    outcome = await store.files.copy(ana, source, "/", "Copy")
    below = await store.files.tree(ana, "/Copy", depth=5)
    copied = {below.item.id, *(child.item.id for child in below.children)}
    async with store.database.read() as session:
        touched = set(
            await session.scalars(select(ChangeItemRow.item_id).where(ChangeItemRow.change_id == outcome.change_id))
        )
        states = (await session.scalars(select(IndexEntryRow.state).where(IndexEntryRow.file_id.in_(touched)))).all()
    assert copied <= touched
    assert len(touched) == 5
    assert states == ["pending"] * 2
    assert heard == ["change"]
    assert outcome.value.id in touched


async def test_a_copy_belongs_to_the_owner_of_the_folder_and_carries_no_shares(
    store: Store, ana: Actor, ben: Actor
) -> None:
    source = await tree(store, ana)
    await store.sharing.share(ana, source, "ben@example.com", "viewer")
    copy = (await store.files.copy(ben, source, "/")).value
    assert (copy.owner, copy.role, copy.path, copy.shared) == ("ben@example.com", "owner", "/Plans", False)
    assert await store.text(ben, "/Plans/deep/报告 📄.md") == "deep"
    with pytest.raises(NotFoundError):
        await store.files.get(ana, copy.id)
    async with store.database.read() as session:
        assert await session.scalar(select(func.count()).select_from(ShareRow)) == 1
        held = await session.scalar(select(func.count()).where(HoldingRow.owner_id == ben.user_id))
        used = await session.scalar(select(UserRow.used_bytes).where(UserRow.id == ben.user_id))
    assert (held, used) == (2, len("one") + len("deep"))


async def test_a_copy_into_a_folder_that_ben_shares_belongs_to_ben(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    shared = await store.folder(ben, "/Ours")
    await store.sharing.share(ben, shared.id, "ana@example.com", "editor")
    copy = (await store.files.copy(ana, item.id, shared.id)).value
    assert (copy.owner, copy.role) == ("ben@example.com", "editor")
    assert (await store.files.get(ben, "/Ours/a.txt")).id == copy.id
    undone = (await store.undo.undo(ana)).value
    assert undone.skipped == ()
    assert await store.names(ben, "/Ours") == []


async def test_what_the_copier_may_not_see_or_change_is_neither_copied_nor_filled(
    store: Store, ana: Actor, ben: Actor
) -> None:
    secret = await store.file(ana, "/secret.txt")
    shared = await store.folder(ana, "/Shared")
    await store.sharing.share(ana, shared.id, "ben@example.com", "viewer")
    mine = await store.file(ben, "/b.txt")
    with pytest.raises(NotFoundError):
        await store.files.copy(ben, secret.id, "/")
    with pytest.raises(ForbiddenError):
        await store.files.copy(ben, mine.id, shared.id)
    with pytest.raises(NotFoundError):
        await store.files.copy(ben, mine.id, "/nowhere")


@pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE])
async def test_copying_needs_a_key_that_reads_and_writes(store: Store, ana: Actor, scope: Scope) -> None:
    item = await store.file(ana, "/a.txt")
    with pytest.raises(MissingScopeError):
        await store.files.copy(with_scopes(ana, scope), item.id, "/", "b.txt")


async def test_a_folder_is_not_copied_into_itself_and_the_root_not_at_all(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    for target in (source, "/Plans/deep"):
        with pytest.raises(StateConflictError):
            await store.files.copy(ana, source, target)
    with pytest.raises(StateConflictError):
        await store.files.copy(ana, "root", "/Plans")
    assert await count(store, NodeRow) == 6


async def test_a_taken_name_is_refused_with_a_free_one_or_numbered(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    with pytest.raises(NameConflictError) as caught:
        await store.files.copy(ana, item.id, "/")
    assert caught.value.details["suggestion"] == "a (2).txt"
    outcome = await store.files.copy(ana, item.id, "/", on_conflict="rename")
    assert outcome.value.name == "a (2).txt"
    change = (await store.journal.list_changes(ana)).items[0]
    assert change.summary == "Copied 'a.txt' to the root folder as 'a (2).txt'."


async def test_a_tree_that_would_be_too_deep_is_refused(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    parent = "root"
    for _ in range(MAX_DEPTH - 2):
        parent = (await store.files.create_folder(ana, parent, "d")).value.id
    with pytest.raises(StateConflictError):
        await store.files.copy(ana, source, parent)


async def test_depth_counts_from_the_root_also_for_one_who_sees_a_part_of_the_tree(
    store: Store, ana: Actor, ben: Actor
) -> None:
    parent = "root"
    for _ in range(MAX_DEPTH):
        parent = (await store.files.create_folder(ana, parent, "d")).value.id
    await store.sharing.share(ana, parent, "ben@example.com", "editor")
    with pytest.raises(StateConflictError):
        await store.files.create_folder(ben, parent, "one too many")


async def test_a_copy_that_does_not_fit_the_quota_is_refused_and_leaves_nothing(
    store: Store, ana: Actor, ben: Actor
) -> None:
    source = await tree(store, ana)
    await store.sharing.share(ana, source, "ben@example.com", "viewer")
    store.journal.limits = Limits(quota_bytes=5)
    with pytest.raises(QuotaExceededError):
        await store.files.copy(ben, source, "/")
    assert await store.names(ben) == []
    assert (await store.files.copy(ana, source, "/", "Again")).value.child_count == 3


async def test_the_effect_tells_all_that_is_copied_and_changes_nothing(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    before = await count(store, NodeRow)
    outcome = await store.files.copy(rehearsing(ana), source, "/", "Copy")
    assert outcome.effect
    assert outcome.effect.summary == "Copy 'Plans' with 4 items in it to the root folder."
    assert (outcome.effect.count, outcome.effect.diff, outcome.effect.reversible) == (5, None, True)
    assert [item["path"] for item in outcome.effect.items][:2] == ["/Copy", "/Copy/a.txt"]
    assert await count(store, NodeRow) == before


async def test_progress_rises_to_the_total_in_steps(store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "ROWS_AT_ONCE", 2)
    source = await tree(store, ana)
    told: list[tuple[int, int]] = []

    async def progress(done: int, total: int) -> None:
        told.append((done, total))

    await store.files.copy(ana, source, "/", "Copy", progress=progress)
    assert told == [(1, 5), (3, 5), (5, 5)]


async def test_a_copy_that_is_cancelled_halfway_leaves_nothing_and_the_drive_usable(
    store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "ROWS_AT_ONCE", 1)
    source = await tree(store, ana)
    before = await count(store, NodeRow), await count(store, IndexEntryRow)
    halfway = anyio.Event()

    async def stalling(done: int, total: int) -> None:
        if 2 * done > total:
            halfway.set()
            await anyio.sleep_forever()

    copying_task = asyncio.create_task(store.files.copy(ana, source, "/", "Copy", progress=stalling))
    await halfway.wait()
    copying_task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await copying_task
    assert (await count(store, NodeRow), await count(store, IndexEntryRow)) == before
    assert len((await store.journal.list_changes(ana)).items) == 5
    assert (await store.files.copy(ana, source, "/", "Copy")).value.child_count == 3


async def test_more_items_than_one_change_may_hold_are_refused(
    store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await tree(store, ana)
    monkeypatch.setattr(copying, "MAX_COPIED_ITEMS", 3)
    with pytest.raises(InvalidInputError):
        await store.files.copy(ana, source, "/", "Copy")


async def test_undoing_a_copy_trashes_it_and_redoing_brings_it_back(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    await store.files.copy(ana, source, "/", "Copy")
    undone = (await store.undo.undo(ana)).value
    assert (len(undone.undone), undone.skipped) == (1, ())
    assert await store.names(ana) == ["Plans"]
    redone = (await store.undo.redo(ana)).value
    assert [change.action for change in redone.redone] == ["copy"]
    assert await store.text(ana, "/Copy/deep/报告 📄.md") == "deep"


async def test_a_copy_in_which_somebody_changed_something_since_is_not_undone(
    store: Store, ana: Actor, ben: Actor
) -> None:
    source = await tree(store, ana)
    copied = await store.files.copy(ana, source, "/", "Copy")
    await store.sharing.share(ana, copied.value.id, "ben@example.com", "editor")
    inner = await store.files.get(ana, "/Copy/deep/报告 📄.md")
    await store.documents.write_text(ben, inner.id, "ben's words")
    undone = (await store.undo.undo(ana, change_id=copied.change_id)).value
    assert undone.undone == ()
    assert "changed since by ben@example.com" in undone.skipped[0]["reason"]
    await store.documents.write_text(ben, inner.id, "deep")
    assert len((await store.undo.undo(ana, change_id=copied.change_id)).value.undone) == 1


async def test_a_copy_that_holds_something_new_is_not_undone(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    copied = await store.files.copy(ana, source, "/", "Copy")
    await store.file(ana, "/Copy/deep/new.txt")
    undone = (await store.undo.undo(ana, change_id=copied.change_id)).value
    assert (undone.undone, len(undone.skipped)) == ((), 1)
    assert await store.text(ana, "/Copy/deep/new.txt")


async def test_a_run_that_copied_and_then_edited_its_copy_is_undone_as_a_whole(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    acting = in_run(ana, "run-1")
    await store.files.copy(acting, source, "/", "Copy")
    await store.documents.write_text(acting, "/Copy/a.txt", "other")
    await store.documents.write_text(acting, "/Copy/a.txt", "another")
    undone = (await store.undo.undo(ana, run_id="run-1")).value
    assert (len(undone.undone), undone.skipped) == (3, ())
    assert await store.names(ana) == ["Plans"]


async def test_a_repeated_call_copies_once(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    keyed = in_run(ana, "run-1", "key")
    first = await store.files.copy(keyed, item.id, "/", "b.txt")
    again = await store.files.copy(keyed, item.id, "/", "b.txt")
    assert (again.replayed, again.value) == (True, first.value)
    assert await store.names(ana) == ["a.txt", "b.txt"]


async def test_two_copies_at_once_to_one_name_do_not_both_get_it(store: Store, ana: Actor) -> None:
    source = await tree(store, ana)
    outcomes = await asyncio.gather(
        *(store.files.copy(ana, source, "/", "Copy") for _ in range(3)), return_exceptions=True
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NameConflictError"] * 2 + ["Outcome"]


async def test_who_changed_what_left_a_copy_is_not_told_to_who_lost_sight_of_it(
    store: Store, ana: Actor, ben: Actor
) -> None:
    carl = await store.person("carl@example.com")
    shared, private = await store.folder(ana, "/Shared"), await store.folder(ana, "/Private")
    await store.sharing.share(ana, shared.id, "ben@example.com", "editor")
    await store.sharing.share(ana, private.id, "carl@example.com", "editor")
    source = await tree(store, ben)
    made = await store.files.copy(ben, source, shared.id)
    inside = await store.files.get(ana, "/Shared/Plans/a.txt")
    await store.files.move(ana, inside.id, private.id)
    await store.documents.write_text(carl, inside.id, "secret")
    (left,) = (await store.undo.undo(ben, change_id=made.change_id)).value.skipped
    assert left["reason"] == "something in it was moved away or deleted since"


async def test_a_viewer_who_copies_is_not_told_who_changed_the_original(store: Store, ana: Actor, ben: Actor) -> None:
    carl = await store.person("carl@example.com")
    item = await store.file(ana, "/a.txt")
    await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    await store.sharing.share(ana, item.id, "carl@example.com", "editor")
    await store.documents.write_text(carl, item.id, "new")
    with pytest.raises(EtagMismatchError) as caught:
        await store.files.copy(replace(ben, if_match=item.etag), item.id, "/")
    assert (caught.value.details["changed_by"], caught.value.details["changes"]) == (None, [])
