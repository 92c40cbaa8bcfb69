from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    InvalidNameError,
    MissingScopeError,
    NameConflictError,
    NotFoundError,
    StateConflictError,
)
from drive_server.services.tree.ancestors import MAX_DEPTH
from tests.drive_server.actors import with_scopes

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


async def test_a_new_folder_is_empty_and_found_by_id_and_by_path(store: Store, ana: Actor) -> None:
    made = (await store.files.create_folder(ana, "root", "Reports")).value
    assert (made.path, made.kind, made.role, made.child_count) == ("/Reports", "folder", "owner", 0)
    assert await store.files.get(ana, "/Reports") == await store.files.get(ana, made.id) == made
    assert (await store.files.get(ana, "/")).path == "/"


async def test_names_in_nfc_and_nfd_are_the_same_name(store: Store, ana: Actor) -> None:
    made = await store.folder(ana, "/Caf\u00e9")
    assert (await store.files.get(ana, "/Cafe\u0301")).id == made.id
    with pytest.raises(NameConflictError):
        await store.folder(ana, "/Cafe\u0301")


async def test_names_of_any_script_keep_their_case(store: Store, ana: Actor) -> None:
    for name in ("报告", "📄 plan", "תוכנית", "Reports", "reports"):
        assert (await store.folder(ana, f"/{name}")).name == name
    assert await store.names(ana) == ["Reports", "reports", "תוכנית", "报告", "📄 plan"]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "nul\0", " x", "x ", "\u202egnp.exe", "é" * 128, "\ud800"]
)
async def test_a_hostile_name_is_refused_and_nothing_changed(store: Store, ana: Actor, name: str) -> None:
    kept = await store.file(ana, "/plan.md")
    for attempt in (
        store.files.create_folder(ana, "/", name),
        store.files.rename(ana, kept.id, name),
        store.documents.create(ana, "/", name, "x"),
    ):
        with pytest.raises(InvalidNameError):
            await attempt
    assert await store.names(ana) == ["plan.md"]


@pytest.mark.parametrize(
    "ref", ["", "unknown", "/no", "//", "/../..", "/plan.md/x", "\0", "\ud800", "/\ud800", "x" * 10_000, "/" * 9_000]
)
async def test_unknown_malformed_and_foreign_refs_answer_the_same(
    store: Store, ana: Actor, ben: Actor, ref: str
) -> None:
    foreign = await store.file(ben, "/plan.md")
    for name in (ref, foreign.id):
        with pytest.raises(NotFoundError) as caught:
            await store.files.get(ana, name)
        assert caught.value.message == "There is no such item, or it is not shared with you."
        with pytest.raises(NotFoundError):
            await store.files.trash(ana, name)
        with pytest.raises(NotFoundError):
            await store.documents.write_text(ana, name, "x")


async def test_folders_come_first_and_pages_join_without_gaps(store: Store, ana: Actor) -> None:
    for number in range(5):
        await store.file(ana, f"/f{number}")
        await store.folder(ana, f"/d{number}")
    names, cursor = [], None
    while True:
        page = await store.files.list_folder(ana, "/", limit=3, cursor=cursor)
        names += [item.name for item in page.items]
        assert page.total == 10
        cursor = page.cursor
        if cursor is None:
            break
    assert names == [f"{kind}{number}" for kind in "df" for number in range(5)]


@pytest.mark.parametrize(
    "cursor", ["!", "x", "W10", "WyJhIl0", "e30", "é", "a" * 5000, "WzEyMzQ1Njc4OTAxMjM0NTY3ODkwLCJhIl0"]
)
async def test_a_bad_cursor_is_refused(store: Store, ana: Actor, cursor: str) -> None:
    with pytest.raises(InvalidInputError):
        await store.files.list_folder(ana, "/", cursor=cursor)
    with pytest.raises(InvalidInputError):
        await store.files.list_trash(ana, cursor=cursor)
    with pytest.raises(InvalidInputError):
        await store.journal.list_changes(ana, cursor=cursor)


async def test_a_bad_limit_is_refused(store: Store, ana: Actor) -> None:
    with pytest.raises(InvalidInputError):
        await store.files.list_folder(ana, "/", limit=0)


async def test_the_tree_is_cut_by_depth_and_by_count_and_says_so(store: Store, ana: Actor) -> None:
    for path in ("/a", "/a/b", "/a/b/c", "/d"):
        await store.folder(ana, path)
    tree = await store.files.tree(ana, "/", depth=2)
    assert [child.item.name for child in tree.children] == ["a", "d"]
    below = tree.children[0].children[0]
    assert (below.item.name, below.children, below.truncated) == ("b", (), True)
    assert not tree.truncated
    short = await store.files.tree(ana, "/", depth=5, limit=1)
    assert (len(short.children), short.truncated) == (1, True)


async def test_a_rename_keeps_the_id_and_changes_the_etag(store: Store, ana: Actor) -> None:
    before = await store.file(ana, "/plan.md")
    after = (await store.files.rename(ana, before.id, "Plan.md", if_match=before.etag)).value
    assert (after.id, after.name, after.path) == (before.id, "Plan.md", "/Plan.md")
    assert after.etag != before.etag


async def test_a_renamed_file_is_not_indexed_again(store: Store, ana: Actor) -> None:
    made = await store.file(ana, "/plan.md")
    store.wakes.clear()
    await store.files.rename(ana, made.id, "budget.md")
    assert store.wakes == []


async def test_a_file_whose_new_name_makes_it_another_format_is_read_again(store: Store, ana: Actor) -> None:
    made = await store.file(ana, "/plan.md")
    store.wakes.clear()
    await store.files.rename(ana, made.id, "plan.csv")
    assert len(store.wakes) == 1
    assert (await store.files.get(ana, made.id)).index_state == "pending"


async def test_a_rename_to_the_same_name_changes_nothing(store: Store, ana: Actor) -> None:
    before = await store.file(ana, "/plan.md")
    outcome = await store.files.rename(ana, before.id, "plan.md")
    assert (outcome.value, outcome.change_id) == (before, None)


async def test_a_taken_name_is_refused_with_a_free_one(store: Store, ana: Actor) -> None:
    await store.file(ana, "/plan.md")
    await store.file(ana, "/plan (2).md")
    other = await store.file(ana, "/other.md")
    with pytest.raises(NameConflictError) as caught:
        await store.files.rename(ana, other.id, "plan.md")
    assert caught.value.details["suggestion"] == "plan (3).md"


async def test_a_stale_etag_is_refused_and_says_what_changed(store: Store, ana: Actor, ben: Actor) -> None:
    folder = await store.folder(ana, "/Shared")
    seen = await store.file(ana, "/Shared/plan.md")
    await store.sharing.share(ana, folder.id, "ben@example.com", "editor")
    await store.files.rename(ben, seen.id, "plan2.md")
    await store.documents.write_text(ben, seen.id, "new")
    for attempt in (
        store.files.rename(ana, seen.id, "x", if_match=seen.etag),
        store.files.trash(ana, seen.id, if_match=seen.etag),
        store.files.move(ana, seen.id, "/", if_match=seen.etag),
        store.documents.write_text(replace(ana, if_match=seen.etag), seen.id, "x"),
    ):
        with pytest.raises(EtagMismatchError) as caught:
            await attempt
        details = caught.value.details
        assert details["etag"] == (await store.files.get(ana, seen.id)).etag
        assert details["changed_by"] == "ben@example.com"
        assert [change["summary"] for change in details["changes"]] == [
            "Replaced the content of 'plan2.md'.",
            "Renamed 'plan.md' to 'plan2.md'.",
        ]
    assert (await store.files.get(ana, seen.id)).name == "plan2.md"


@pytest.mark.parametrize("etag", ["", "*", "x", "-", "9" * 500, "aaaaaaaa-99999999999999999999", "é-1"])
async def test_a_made_up_etag_is_stale(store: Store, ana: Actor, etag: str) -> None:
    item = await store.file(ana, "/plan.md")
    with pytest.raises(EtagMismatchError):
        await store.files.trash(ana, item.id, if_match=etag)


async def test_a_folder_can_not_be_moved_into_itself_or_below_itself(store: Store, ana: Actor) -> None:
    outer, inner = await store.folder(ana, "/outer"), await store.folder(ana, "/outer/inner")
    for target in (outer, inner):
        with pytest.raises(StateConflictError):
            await store.files.move(ana, outer.id, target.id)
    with pytest.raises(InvalidInputError):
        await store.files.move(ana, outer.id, (await store.file(ana, "/f")).id)


async def test_the_root_stays_where_it_is(store: Store, ana: Actor) -> None:
    folder = await store.folder(ana, "/f")
    for attempt in (
        store.files.rename(ana, "root", "x"),
        store.files.move(ana, "root", folder.id),
        store.files.trash(ana, "/"),
    ):
        with pytest.raises(StateConflictError):
            await attempt


async def test_an_item_can_not_change_its_owner(store: Store, ana: Actor, ben: Actor) -> None:
    folder = await store.folder(ana, "/Shared")
    await store.sharing.share(ana, folder.id, "ben@example.com", "editor")
    own = await store.file(ben, "/mine.md")
    with pytest.raises(StateConflictError) as caught:
        await store.files.move(ben, own.id, folder.id)
    assert "different people" in caught.value.message
    given = await store.file(ben, "/Shared with me/Shared/new.md")
    assert given.owner == "ana@example.com"
    with pytest.raises(StateConflictError):
        await store.files.move(ben, given.id, "root")


async def test_who_edits_a_single_file_can_not_take_it_out_of_its_folder(store: Store, ana: Actor, ben: Actor) -> None:
    folder, plan = await store.folder(ana, "/f"), await store.file(ana, "/f/plan.md")
    await store.sharing.share(ana, plan.id, "ben@example.com", "editor")
    seen = await store.files.get(ben, plan.id)
    assert (seen.parent_id, seen.path) == (None, "/Shared with me/plan.md")
    with pytest.raises(ForbiddenError):
        await store.files.trash(ben, plan.id)
    with pytest.raises(NotFoundError):
        await store.files.move(ben, plan.id, folder.id)
    assert (await store.files.rename(ben, plan.id, "plan2.md")).value.name == "plan2.md"


async def test_folders_nest_only_so_deep(store: Store, ana: Actor) -> None:
    parent = "root"
    for _ in range(MAX_DEPTH):
        parent = (await store.files.create_folder(ana, parent, "d")).value.id
    assert (await store.files.get(ana, parent)).path == "/d" * MAX_DEPTH
    with pytest.raises(StateConflictError):
        await store.files.create_folder(ana, parent, "d")
    chain = await store.folder(ana, "/top")
    await store.folder(ana, "/top/below")
    almost = (await store.files.get(ana, "/d" * (MAX_DEPTH - 1))).id
    with pytest.raises(StateConflictError):
        await store.files.move(ana, chain.id, almost)


async def test_a_key_without_the_scope_is_refused_with_its_name(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/plan.md")
    reader, writer = with_scopes(ana, Scope.READ), with_scopes(ana, Scope.READ, Scope.WRITE)
    for attempt, scope in (
        (store.files.get(with_scopes(ana), item.id), "read"),
        (store.files.rename(reader, item.id, "x"), "write"),
        (store.files.move(reader, item.id, "/"), "write"),
        (store.files.restore(reader, item.id), "write"),
        (store.files.create_folder(reader, "/", "x"), "write"),
        (store.documents.create(reader, "/", "x", "x"), "write"),
        (store.documents.write_text(reader, item.id, "x"), "write"),
        (store.files.trash(writer, item.id), "delete"),
    ):
        with pytest.raises(MissingScopeError) as caught:
            await attempt
        assert caught.value.details == {"scope": scope}
