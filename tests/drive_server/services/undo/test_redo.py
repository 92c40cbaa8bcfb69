from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from drive_server.kernel.access import Role, Scope
from drive_server.kernel.errors import InvalidInputError, MissingScopeError, NotFoundError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.models.access import User
from drive_server.services.quota import Limits
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.sharing import LinkRow
from tests.drive_server.actors import rehearsing, with_scopes
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.changes import Outcome
    from drive_server.services.journal.recorder import Recorder
    from tests.drive_server.store import Store


async def state_of(store: Store, ana: Actor, ref: str) -> tuple[str, str]:
    return (await store.files.get(ana, ref)).path, await store.text(ana, ref)


async def test_a_run_that_was_undone_is_done_again(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    acting = in_run(ana, "run-1")
    await store.files.create_folder(acting, "/", "New")
    await store.files.move(acting, item.id, "/New")
    await store.documents.write_text(acting, item.id, "two")
    await store.undo.undo(ana, run_id="run-1")
    assert await state_of(store, ana, item.id) == ("/a.txt", "one")
    outcome = await store.undo.redo(ana, run_id="run-1")
    assert await state_of(store, ana, item.id) == ("/New/a.txt", "two")
    assert [change.action for change in outcome.value.redone] == ["create_folder", "move", "write"]
    assert (outcome.value.skipped, outcome.value.change_id) == ((), outcome.change_id)
    redo = (await store.journal.list_changes(ana)).items[0]
    assert redo.action == "redo"
    assert redo.summary.startswith("Did again 3 changes: Created the folder 'New' in the root folder; Moved")


async def test_undo_and_redo_alternate_any_number_of_times_and_the_marks_stay_true(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    acting = in_run(ana, "run-1")
    change = await store.files.rename(acting, item.id, "b.txt")
    for _ in range(3):
        undo = await store.undo.undo(ana, change_id=change.change_id)
        assert (await store.files.get(ana, item.id)).name == "a.txt"
        assert await marks(store) == {change.change_id: undo.change_id}
        redo = await store.undo.redo(ana)
        assert (await store.files.get(ana, item.id)).name == "b.txt"
        assert await marks(store) == {undo.change_id: redo.change_id}


async def marks(store: Store) -> dict[int | None, int | None]:
    """Return which changes are marked as undone in the last two rounds, and by which."""
    async with store.database.read() as session:
        undone = select(ChangeRow).where(ChangeRow.undone_by.is_not(None)).order_by(ChangeRow.id)
        rows = (await session.scalars(undone)).all()
        newest = max(row.undone_by or 0 for row in rows)
        return {row.id: row.undone_by for row in rows if row.undone_by == newest}


async def test_a_redo_can_be_undone_and_then_the_change_can_be_redone_again(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    change = await store.files.rename(ana, item.id, "b.txt")
    undo = await store.undo.undo(ana, change_id=change.change_id)
    redo = await store.undo.redo(ana, change_id=change.change_id)
    await store.undo.undo(ana, change_id=redo.change_id)
    assert (await store.files.get(ana, item.id)).name == "a.txt"
    recorded = {entry.id: entry.undone_by for entry in (await store.journal.list_changes(ana)).items}
    assert recorded[change.change_id or 0] == undo.change_id
    assert recorded[undo.change_id or 0] is None
    await store.undo.redo(ana, change_id=undo.change_id)
    assert (await store.files.get(ana, item.id)).name == "b.txt"


async def test_undos_are_done_again_from_the_last_one_backwards(store: Store, ana: Actor) -> None:
    first = await store.files.create_folder(ana, "/", "A")
    second = await store.files.create_folder(ana, "/", "B")
    await store.undo.undo(ana, change_id=second.change_id)
    await store.undo.undo(ana, change_id=first.change_id)
    assert await store.names(ana) == []
    await store.undo.redo(ana)
    assert await store.names(ana) == ["A"]
    await store.undo.redo(ana)
    assert await store.names(ana) == ["A", "B"]
    with pytest.raises(StateConflictError):
        await store.undo.redo(ana)


async def test_a_preview_says_what_can_not_be_done_again_because_somebody_changed_it_and_when(
    store: Store, ana: Actor, ben: Actor
) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    change = await store.documents.write_text(ana, item.id, "two")
    await store.undo.undo(ana, change_id=change.change_id)
    await store.documents.write_text(ben, item.id, "ben's")
    bens = (await store.journal.list_changes(ana, item=item.id)).items[0]
    preview = await store.undo.redo(with_scopes(ana, Scope.READ), change_id=change.change_id, preview=True)
    assert (preview.value.preview, preview.value.redone, preview.value.change_id) == (True, (), None)
    assert [left["reason"] for left in preview.value.skipped] == [
        f"changed since by ben@example.com at {bens.at:%Y-%m-%d %H:%M} UTC"
    ]
    assert preview.effect
    assert preview.effect.summary == "Do again 0 changes: none. Left as it is now: 1 that can't be done again."
    assert await store.text(ana, item.id) == "ben's"


async def test_the_one_who_is_named_for_a_conflict_is_not_the_one_who_undoes(
    store: Store, ana: Actor, ben: Actor
) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    acting = in_run(ana, "run-1")
    await store.documents.write_text(acting, item.id, "two")
    await store.files.rename(ben, item.id, "b.txt")
    await store.documents.write_text(acting, item.id, "three")
    await store.files.rename(acting, item.id, "c.txt")
    await store.files.rename(ben, item.id, "d.txt")
    skipped = (await store.undo.undo(ana, run_id="run-1", preview=True)).value.skipped
    assert ["ben@example.com" in left["reason"] for left in skipped] == [True]


async def test_a_dry_run_changes_nothing(store: Store, ana: Actor) -> None:
    await store.files.create_folder(ana, "/", "A")
    await store.undo.undo(ana)
    outcome = await store.undo.redo(rehearsing(ana))
    assert outcome.effect
    assert outcome.effect.summary == "Do again 1 change: Created the folder 'A' in the root folder."
    assert await store.names(ana) == []


async def test_what_was_not_undone_or_is_not_the_callers_is_refused(store: Store, ana: Actor, ben: Actor) -> None:
    made = await store.files.create_folder(in_run(ana, "run-1"), "/", "A")
    for wanted in ({"change_id": made.change_id}, {"run_id": "run-1"}, {}):
        with pytest.raises(StateConflictError):
            await store.undo.redo(ana, **wanted)  # pyright: ignore[reportArgumentType]
    await store.undo.undo(ana, run_id="run-1")
    for unknown in ({"change_id": made.change_id}, {"run_id": "run-1"}, {"change_id": 2**70}):
        with pytest.raises(NotFoundError):
            await store.undo.redo(ben, **unknown)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInputError):
        await store.undo.redo(ana, run_id="run-1", change_id=1)
    await store.undo.redo(ana)
    with pytest.raises(StateConflictError):
        await store.undo.redo(ana, change_id=made.change_id)


async def test_a_redo_needs_the_scopes_of_what_it_does_again(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    await store.files.trash(ana, item.id)
    await store.undo.undo(ana)
    with pytest.raises(MissingScopeError):
        await store.undo.redo(with_scopes(ana, Scope.READ))
    await store.undo.redo(with_scopes(ana, Scope.READ, Scope.WRITE, Scope.DELETE))
    assert (await store.files.get(ana, item.id)).trashed_at


async def test_a_repeated_redo_is_done_once(store: Store, ana: Actor) -> None:
    await store.files.create_folder(ana, "/", "A")
    await store.undo.undo(ana)
    keyed = in_run(ana, "run-2", "key")
    first = await store.undo.redo(keyed)
    again = await store.undo.redo(keyed)
    assert (again.replayed, again.change_id) == (True, first.change_id)


async def test_a_share_that_was_undone_is_given_again(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    await store.undo.undo(ana)
    effect = (await store.undo.redo(rehearsing(ana))).effect
    assert effect
    assert effect.gains_access == ("ben@example.com",)
    await store.undo.redo(ana)
    assert (await store.files.get(ben, item.id)).role == "viewer"


async def test_many_items_that_moved_at_once_move_again_except_those_that_somebody_took_away(
    store: Store, ana: Actor
) -> None:
    await store.folder(ana, "/Place")
    items = [await store.file(ana, f"/{number}.txt") for number in range(3)]
    moved = await store.files.move_many(ana, [item.id for item in items], "/Place")
    await store.undo.undo(ana)
    await store.files.rename(ana, items[1].id, "other.txt")
    redone = (await store.undo.redo(ana, change_id=moved.change_id)).value
    assert await store.names(ana, "/Place") == ["0.txt", "2.txt", "other.txt"]
    assert redone.skipped == ()
    await store.undo.undo(ana, change_id=moved.change_id)
    await store.files.trash(ana, items[0].id)
    redone = (await store.undo.redo(ana, change_id=moved.change_id)).value
    assert [left["item_id"] for left in redone.skipped] == [items[0].id]
    assert await store.names(ana, "/Place") == ["2.txt", "other.txt"]


async def test_a_content_that_is_kept_no_longer_is_named_as_the_reason(store: Store, ana: Actor) -> None:
    store.journal.limits = Limits(max_versions=2)
    item = await store.file(ana, "/a.txt", "one")
    change = await store.documents.write_text(ana, item.id, "two")
    await store.documents.write_text(ana, item.id, "three")
    await store.documents.write_text(ana, item.id, "two")
    undone = (await store.undo.undo(ana, change_id=change.change_id)).value
    assert undone.undone == ()
    assert "no longer kept" in undone.skipped[0]["reason"]
    assert await store.text(ana, item.id) == "two"


def a_link(ana: Actor, item_id: str, **terms: Any) -> LinkRow:
    given = {"role": int(Role.VIEWER), "password_hash": None, "expires_at": None, "max_downloads": None}
    return LinkRow(
        id=new_id(),
        node_id=item_id,
        downloads=0,
        created_at=datetime.now(UTC),
        created_by=ana.user_id,
        **{**given, **terms},
    )


async def on_link(store: Store, ana: Actor, act: Any) -> Outcome[User]:
    """Record a change of links, whatever the service for them does."""

    async def operation(recorder: Recorder) -> User:
        recorder.message = Message.of("seen.changed", item=Message.of("root"))
        await act(recorder)
        return User(ana.user_id, ana.principal.email, "", False, datetime.now(UTC))

    return await store.journal.change(ana, "links", {}, operation)


async def links(store: Store) -> list[LinkRow]:
    async with store.database.read() as session:
        return list(await session.scalars(select(LinkRow)))


async def test_making_changing_and_revoking_a_link_can_be_undone_and_done_again(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    expires = datetime.now(UTC) + timedelta(days=1)
    link = a_link(ana, item.id, expires_at=expires, password_hash="scrypt", max_downloads=3)

    async def make(recorder: Recorder) -> None:
        recorder.add(link)

    async def change(recorder: Recorder) -> None:
        row = await recorder.session.get_one(LinkRow, link.id)
        recorder.touch(row)
        row.max_downloads, row.password_hash = 9, None

    async def revoke(recorder: Recorder) -> None:
        await recorder.remove(await recorder.session.get_one(LinkRow, link.id))

    for act in (make, change, revoke):
        await on_link(store, ana, act)
    touched = (await store.journal.list_changes(ana, item=item.id)).items
    assert [entry.action for entry in touched] == ["links", "links", "links", "create_file"]

    await store.undo.undo(ana, change_id=touched[0].id)
    (row,) = await links(store)
    assert (row.id, row.max_downloads, row.password_hash, row.expires_at) == (link.id, 9, None, expires)
    await store.undo.undo(ana, change_id=touched[1].id)
    (row,) = await links(store)
    assert (row.max_downloads, row.password_hash) == (3, "scrypt")
    await store.undo.redo(ana)
    (row,) = await links(store)
    assert row.max_downloads == 9
    await store.undo.undo(ana, change_id=touched[1].id)
    await store.undo.undo(ana, change_id=touched[2].id)
    assert await links(store) == []
    await store.undo.redo(ana, change_id=touched[2].id)
    (row,) = await links(store)
    assert (row.id, row.max_downloads, row.expires_at) == (link.id, 3, expires)


async def test_downloads_are_no_change_of_a_link_but_other_terms_are(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    link = a_link(ana, item.id, max_downloads=3)

    async def make(recorder: Recorder) -> None:
        recorder.add(link)

    made = await on_link(store, ana, make)
    async with store.database.write() as session:
        (await session.get_one(LinkRow, link.id)).max_downloads = 4
    undone = (await store.undo.undo(ana, change_id=made.change_id)).value
    assert [left["item_id"] for left in undone.skipped] == [item.id]
    async with store.database.write() as session:
        row = await session.get_one(LinkRow, link.id)
        row.max_downloads, row.downloads = 3, 2
    assert (await store.undo.undo(ana, change_id=made.change_id)).value.skipped == ()
    assert await links(store) == []


async def test_a_revoked_link_that_would_have_expired_by_now_stays_revoked(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    link = a_link(ana, item.id, expires_at=datetime.now(UTC) - timedelta(days=1))
    async with store.database.write() as session:
        session.add(link)

    async def revoke(recorder: Recorder) -> None:
        await recorder.remove(await recorder.session.get_one(LinkRow, link.id))

    revoked = await on_link(store, ana, revoke)
    undone = (await store.undo.undo(ana, change_id=revoked.change_id)).value
    assert [left["reason"] for left in undone.skipped] == ["the link has expired since"]
    assert await links(store) == []


async def test_undoing_a_link_needs_a_key_that_shares(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")

    async def make(recorder: Recorder) -> None:
        recorder.add(a_link(ana, item.id))

    made = await on_link(store, ana, make)
    with pytest.raises(MissingScopeError):
        await store.undo.undo(with_scopes(ana, Scope.READ, Scope.WRITE), change_id=made.change_id)
