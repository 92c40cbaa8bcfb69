from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
)
from drive_server.services.documents.edits import Edit
from tests.drive_server.actors import rehearsing, with_scopes
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.changes import UndoResult
    from tests.drive_server.store import Store


def reasons(result: UndoResult) -> list[str]:
    return [str(left["reason"]) for left in result.skipped]


async def test_a_rename_a_move_and_a_new_content_are_taken_back_together(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Old")
    item = await store.file(ana, "/Old/plan.md", "one")
    acting = in_run(ana, "run-1")
    await store.files.create_folder(acting, "/", "New")
    await store.files.move(acting, item.id, "/New")
    await store.files.rename(acting, item.id, "plan2.md")
    await store.documents.write_text(acting, item.id, "two")
    await store.documents.write_text(acting, item.id, "three")
    undone = (await store.undo.undo(ana, run_id="run-1")).value
    assert (len(undone.undone), undone.skipped) == (5, ())
    now = await store.files.get(ana, item.id)
    assert (now.path, now.version, await store.text(ana, item.id)) == ("/Old/plan.md", 4, "one")
    assert await store.names(ana) == ["Old"]


async def test_an_undo_can_be_undone_and_that_again(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    acting = in_run(ana, "run-1")
    await store.documents.write_text(acting, item.id, "two")
    await store.files.rename(acting, item.id, "b.txt")
    wanted: dict[str, Any] = {"run_id": "run-1"}
    for name, text in (("a.txt", "one"), ("b.txt", "two"), ("a.txt", "one"), ("b.txt", "two")):
        outcome = await store.undo.undo(ana, **wanted)
        wanted = {"change_id": outcome.change_id}
        assert outcome.value.skipped == ()
        assert ((await store.files.get(ana, item.id)).name, await store.text(ana, item.id)) == (name, text)
    changes = (await store.journal.list_changes(ana, run_id="run-1")).items
    assert all(change.undone_by is None for change in changes)


async def test_without_a_name_an_undo_is_of_what_the_key_did_itself_last_and_of_no_undo(
    store: Store, ana: Actor
) -> None:
    await store.files.create_folder(ana, "/", "Mine")
    await store.files.create_folder(in_run(ana, "run-1"), "/", "Of the assistant")
    other = replace(ana, principal=replace(ana.principal, method="api_key", key_name="phone"))
    await store.files.create_folder(other, "/", "Of the phone")
    await store.undo.undo(ana)
    assert await store.names(ana) == ["Of the assistant", "Of the phone"]
    with pytest.raises(StateConflictError, match="nothing to undo"):
        await store.undo.undo(ana)
    assert await store.names(ana) == ["Of the assistant", "Of the phone"]


async def test_an_undo_without_a_name_looks_behind_all_calls_that_changed_nothing(store: Store, ana: Actor) -> None:
    item = await store.folder(ana, "/a")
    for number in range(51):
        await store.files.rename(replace(ana, idempotency_key=f"call {number}"), item.id, "a")
    await store.undo.undo(ana)
    assert await store.names(ana) == []


async def test_an_undo_is_recorded_and_marks_what_it_took_back(store: Store, ana: Actor) -> None:
    made = await store.files.create_folder(ana, "/", "f")
    outcome = await store.undo.undo(ana, change_id=made.change_id)
    assert outcome.value.change_id == outcome.change_id
    undo, create = (await store.journal.list_changes(ana)).items
    assert (undo.action, undo.undoes, create.undone_by) == ("undo", create.id, undo.id)
    assert undo.summary == "Took back 1 change: Created the folder 'f' in the root folder."
    with pytest.raises(StateConflictError) as caught:
        await store.undo.undo(ana, change_id=made.change_id)
    assert caught.value.details == {"undone_by": undo.id}


async def test_a_preview_says_what_an_undo_would_do_and_does_nothing(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one\n")
    await store.documents.write_text(ana, item.id, "two\n")
    reader = with_scopes(ana, Scope.READ)
    outcome = await store.undo.undo(reader, preview=True)
    assert (outcome.value.preview, outcome.value.change_id, len(outcome.value.undone)) == (True, None, 1)
    assert outcome.effect
    assert outcome.effect.diff == "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-two\n+one\n"
    assert outcome.effect.summary == "Take back 1 change: Replaced the content of 'a.txt'."
    assert await store.text(ana, item.id) == "two\n"


async def test_an_approved_undo_is_refused_if_it_would_do_something_else_by_now(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/a")
    shown = await store.undo.undo(rehearsing(ana))
    assert shown.effect
    await store.folder(ana, "/b")
    with pytest.raises(EtagMismatchError):
        await store.undo.undo(replace(ana, if_match=shown.effect.etag))
    assert await store.names(ana) == ["a", "b"]
    again = await store.undo.undo(rehearsing(ana))
    assert again.effect
    await store.undo.undo(replace(ana, if_match=again.effect.etag))
    assert await store.names(ana) == ["a"]


async def test_what_a_person_changed_since_stays_and_the_rest_is_taken_back(
    store: Store, ana: Actor, ben: Actor
) -> None:
    folder = await store.folder(ana, "/Team")
    await store.sharing.share(ana, folder.id, "ben@example.com", "editor")
    first, second = await store.file(ana, "/Team/a.txt", "a1"), await store.file(ana, "/Team/b.txt", "b1")
    acting = in_run(ana, "run-1")
    await store.documents.write_text(acting, first.id, "a2")
    await store.documents.write_text(acting, second.id, "b2")
    await store.documents.write_text(ben, first.id, "ben's")
    undone = (await store.undo.undo(ana, run_id="run-1")).value
    assert [change.summary for change in undone.undone] == ["Replaced the content of 'b.txt'."]
    assert reasons(undone)[0].startswith("changed since by ben@example.com at ")
    assert undone.skipped[0]["item_id"] == first.id
    assert (await store.text(ana, first.id), await store.text(ana, second.id)) == ("ben's", "b1")


async def test_a_rename_is_taken_back_although_the_content_changed_since(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    renamed = await store.files.rename(ana, item.id, "b.txt")
    await store.documents.write_text(ana, item.id, "two")
    assert (await store.undo.undo(ana, change_id=renamed.change_id)).value.skipped == ()
    assert (await store.files.get(ana, item.id)).name == "a.txt"
    assert await store.text(ana, item.id) == "two"


async def test_a_created_file_goes_to_the_trash_unless_it_was_changed(store: Store, ana: Actor) -> None:
    first, second = await store.documents.create(ana, "/", "a", "x"), await store.documents.create(ana, "/", "b", "x")
    await store.documents.write_text(ana, second.value.id, "y")
    await store.undo.undo(ana, change_id=first.change_id)
    kept = (await store.undo.undo(ana, change_id=second.change_id)).value
    assert (kept.undone, kept.change_id) == ((), None)
    assert reasons(kept)[0].startswith("changed since by ana@example.com")
    assert await store.names(ana) == ["b"]
    assert [item.name for item in (await store.files.list_trash(ana)).items] == ["a"]


async def test_a_created_folder_stays_if_something_was_put_in_it(store: Store, ana: Actor) -> None:
    made = await store.files.create_folder(ana, "/", "f")
    await store.file(ana, "/f/a.txt")
    kept = (await store.undo.undo(ana, change_id=made.change_id)).value
    assert reasons(kept) == ["it holds items that were put there since"]
    assert await store.names(ana) == ["f"]


async def test_a_whole_tree_that_a_run_made_goes_to_the_trash_and_comes_back(store: Store, ana: Actor) -> None:
    acting = in_run(ana, "run-1")
    await store.folder(acting, "/a")
    await store.folder(acting, "/a/b")
    await store.file(acting, "/a/b/c.txt")
    undone = await store.undo.undo(ana, run_id="run-1")
    assert await store.names(ana) == []
    await store.undo.undo(ana, change_id=undone.change_id)
    assert (await store.files.get(ana, "/a/b/c.txt")).trashed_at is None


async def test_trash_and_restore_are_taken_back(store: Store, ana: Actor) -> None:
    for path in ("/Old", "/Other"):
        await store.folder(ana, path)
    item = await store.file(ana, "/Old/a.txt")
    await store.files.trash(ana, "/Old")
    await store.undo.undo(ana)
    assert (await store.files.get(ana, item.id)).path == "/Old/a.txt"
    await store.files.trash(ana, item.id)
    restored = await store.files.restore(ana, item.id, to_parent="/Other")
    await store.undo.undo(ana, change_id=restored.change_id)
    trashed = await store.files.get(ana, item.id)
    assert trashed.trashed_at
    assert (await store.files.restore(ana, item.id)).value.path == "/Old/a.txt"


async def test_names_that_a_run_swapped_are_swapped_back_and_forth(store: Store, ana: Actor) -> None:
    first, second = await store.file(ana, "/a"), await store.file(ana, "/b")
    acting = in_run(ana, "run-1")
    for item, name in ((first, "t"), (second, "a"), (first, "b")):
        await store.files.rename(acting, item.id, name)
    wanted: dict[str, Any] = {"run_id": "run-1"}
    for expected in (("a", "b"), ("b", "a"), ("a", "b")):
        outcome = await store.undo.undo(ana, **wanted)
        wanted = {"change_id": outcome.change_id}
        assert outcome.value.skipped == ()
        found = ((await store.files.get(ana, first.id)).name, (await store.files.get(ana, second.id)).name)
        assert found == expected


async def test_an_item_that_moved_twice_within_a_change_is_left_once(store: Store, ana: Actor) -> None:
    first, second = await store.file(ana, "/a"), await store.file(ana, "/b")
    acting = in_run(ana, "run-1")
    for item, name in ((first, "t"), (second, "a"), (first, "b")):
        await store.files.rename(acting, item.id, name)
    swapped_back = await store.undo.undo(ana, run_id="run-1")
    await store.files.rename(ana, first.id, "z")
    outcome = await store.undo.undo(ana, change_id=swapped_back.change_id)
    assert [left["item_id"] for left in outcome.value.skipped] == [first.id]
    assert (await store.files.get(ana, second.id)).name == "a"


async def test_what_can_not_go_back_says_why(store: Store, ana: Actor) -> None:
    folder, item = await store.folder(ana, "/Old"), await store.file(ana, "/Old/a.txt")
    moved = await store.files.move(ana, item.id, "/")
    taken = await store.file(ana, "/Old/a.txt")
    assert "in the folder already" in reasons((await store.undo.undo(ana, change_id=moved.change_id)).value)[0]
    await store.files.trash(ana, taken.id)
    await store.files.trash(ana, folder.id)
    assert reasons((await store.undo.undo(ana, change_id=moved.change_id)).value) == ["'Old' is in the trash."]
    assert (await store.files.get(ana, item.id)).path == "/a.txt"


async def test_shares_are_taken_back(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt")

    async def role() -> str | None:
        try:
            return (await store.files.get(ben, item.id)).role
        except NotFoundError:
            return None

    shared = await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    raised = await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    kept = (await store.undo.undo(ana, change_id=shared.change_id)).value
    assert reasons(kept)[0].startswith("changed since by ana@example.com")
    await store.undo.undo(ana, change_id=raised.change_id)
    assert await role() == "viewer"
    revoked = await store.sharing.revoke(ana, item.id, "ben@example.com")
    back = await store.undo.undo(rehearsing(ana), change_id=revoked.change_id)
    assert back.effect
    assert (back.effect.gains_access, await role()) == (("ben@example.com",), None)
    await store.undo.undo(ana, change_id=revoked.change_id)
    assert await role() == "viewer"
    await store.undo.undo(ana, change_id=shared.change_id)
    assert await role() is None


async def test_who_lost_the_role_can_not_undo_any_more(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    written = await store.documents.write_text(ben, item.id, "two")
    await store.sharing.revoke(ana, item.id, "ben@example.com")
    kept = (await store.undo.undo(ben, change_id=written.change_id)).value
    assert reasons(kept) == ["your role on it no longer allows this"]
    assert await store.text(ana, item.id) == "two"


async def test_other_peoples_changes_are_as_unknown_as_those_that_do_not_exist(
    store: Store, ana: Actor, ben: Actor
) -> None:
    made = await store.files.create_folder(in_run(ana, "run-1"), "/", "f")
    for change_id in (made.change_id, 10_000, -1, 0, 10**30):
        with pytest.raises(NotFoundError):
            await store.undo.undo(ben, change_id=change_id)
    for run_id in ("run-1", "unknown", "", "x" * 10_000):
        with pytest.raises(NotFoundError):
            await store.undo.undo(ben, run_id=run_id)
    with pytest.raises(InvalidInputError):
        await store.undo.undo(ben, run_id="\ud800")
    with pytest.raises(StateConflictError):
        await store.undo.undo(ben)
    with pytest.raises(InvalidInputError):
        await store.undo.undo(ana, run_id="run-1", change_id=made.change_id)


async def test_an_undo_needs_the_scopes_of_what_it_does(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    shared = await store.sharing.share(ana, item.id, "ben@example.com", "viewer")
    await store.files.trash(ana, item.id)
    restored = await store.files.restore(ana, item.id)
    writer = with_scopes(ana, Scope.READ, Scope.WRITE)
    for change_id, scope in ((shared.change_id, "share"), (restored.change_id, "delete")):
        with pytest.raises(MissingScopeError) as caught:
            await store.undo.undo(writer, change_id=change_id)
        assert caught.value.details == {"scope": scope}
    with pytest.raises(MissingScopeError):
        await store.undo.undo(with_scopes(ana, Scope.READ), change_id=shared.change_id)


async def test_a_run_that_took_back_its_own_change_ends_where_it_began(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    acting = in_run(ana, "run-1")
    patched = await store.documents.patch(acting, item.id, [Edit("one", "two")])
    await store.undo.undo(acting, change_id=patched.change_id)
    await store.undo.undo(ana, run_id="run-1")
    assert await store.text(ana, item.id) == "one"


async def test_only_the_change_named_is_taken_back(store: Store, ana: Actor) -> None:
    acting = in_run(ana, "run-1")
    first = await store.files.create_folder(acting, "/", "a")
    await store.files.create_folder(acting, "/", "b")
    await store.undo.undo(ana, change_id=first.change_id)
    assert await store.names(ana) == ["b"]


async def test_who_lost_an_item_is_not_told_whether_it_still_exists(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt", "one")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    written = await store.documents.write_text(ben, item.id, "two")
    await store.sharing.revoke(ana, item.id, "ben@example.com")
    lost = (await store.undo.undo(ben, change_id=written.change_id, preview=True)).value
    await store.files.trash(ana, item.id)
    await store.files.delete_for_good(ana, item.id)
    gone = (await store.undo.undo(ben, change_id=written.change_id, preview=True)).value
    assert reasons(lost) == reasons(gone) == ["your role on it no longer allows this"]


async def test_an_undo_takes_nothing_out_of_a_folder_that_is_no_longer_open(
    store: Store, ana: Actor, ben: Actor
) -> None:
    await store.folder(ana, "/From")
    folder = await store.folder(ana, "/To")
    for path in ("/From", "/To"):
        await store.sharing.share(ana, path, "ben@example.com", "editor")
    made = await store.files.create_folder(ben, folder.id, "made")
    moved = await store.files.move(ben, (await store.file(ana, "/From/a.txt")).id, folder.id)
    await store.sharing.revoke(ana, folder.id, "ben@example.com")
    for item_id in (made.value.id, moved.value.id):
        await store.sharing.share(ana, item_id, "ben@example.com", "editor")
    for change_id in (made.change_id, moved.change_id):
        result = (await store.undo.undo(ben, change_id=change_id)).value
        assert (result.undone, reasons(result)) == ((), ["the folder it was in is no longer open to you"])
    assert await store.names(ana, folder.id) == ["made", "a.txt"]


async def test_who_was_given_a_single_item_takes_its_rename_back(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    renamed = await store.files.rename(ben, item.id, "b.txt")
    assert (await store.undo.undo(ben, change_id=renamed.change_id)).value.skipped == ()
    assert await store.names(ana) == ["a.txt"]


async def test_what_goes_to_the_trash_by_an_undo_needs_the_scope_for_that(store: Store, ana: Actor) -> None:
    made = await store.files.create_folder(ana, "/", "made")
    with pytest.raises(MissingScopeError) as caught:
        await store.undo.undo(with_scopes(ana, Scope.READ, Scope.WRITE), change_id=made.change_id)
    assert caught.value.details == {"scope": "delete"}
