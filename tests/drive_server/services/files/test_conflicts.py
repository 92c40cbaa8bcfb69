from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NameConflictError,
    NotFoundError,
    StateConflictError,
)
from drive_server.services.files import moving
from tests.drive_server.actors import rehearsing, with_scopes
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from drive_server.kernel.access import Actor
    from drive_server.models.changes import Outcome
    from drive_server.models.items import Item, OnConflict
    from tests.drive_server.store import Store

    Arrival = Callable[[Store, Actor, OnConflict], Awaitable[Outcome[Item]]]


async def by_rename(store: Store, ana: Actor, on_conflict: OnConflict) -> Outcome[Item]:
    return await store.files.rename(ana, "/Place/b.txt", "a.txt", on_conflict=on_conflict)


async def by_move(store: Store, ana: Actor, on_conflict: OnConflict) -> Outcome[Item]:
    return await store.files.move(ana, "/a.txt", "/Place", on_conflict=on_conflict)


async def by_copy(store: Store, ana: Actor, on_conflict: OnConflict) -> Outcome[Item]:
    return await store.files.copy(ana, "/a.txt", "/Place", on_conflict=on_conflict)


async def by_restore(store: Store, ana: Actor, on_conflict: OnConflict) -> Outcome[Item]:
    trashed = (await store.files.list_trash(ana)).items[0]
    return await store.files.restore(ana, trashed.id, to_parent="/Place", on_conflict=on_conflict)


ARRIVALS: list[Any] = [by_rename, by_move, by_copy, by_restore]


@pytest.fixture
async def there(store: Store, ana: Actor) -> Item:
    """The file /Place/a.txt, whose name is taken; other files wait to be renamed, moved, copied or restored to it."""
    await store.folder(ana, "/Place")
    trashed = await store.file(ana, "/a.txt", "new")
    await store.files.trash(ana, trashed.id)
    await store.file(ana, "/a.txt", "new")
    await store.file(ana, "/Place/b.txt", "new")
    return await store.file(ana, "/Place/a.txt", "old")


@pytest.mark.parametrize("arrive", ARRIVALS)
async def test_by_default_a_taken_name_is_refused_with_a_free_one(
    store: Store, ana: Actor, there: Item, arrive: Arrival
) -> None:
    with pytest.raises(NameConflictError) as caught:
        await arrive(store, ana, "fail")
    assert caught.value.details["existing_id"] == there.id
    assert caught.value.details["suggestion"] == "a (2).txt"
    assert await store.text(ana, "/Place/a.txt") == "old"


@pytest.mark.parametrize("arrive", ARRIVALS)
async def test_with_rename_it_takes_the_next_free_name(store: Store, ana: Actor, there: Item, arrive: Arrival) -> None:
    assert (await arrive(store, ana, "rename")).value.path == "/Place/a (2).txt"
    assert await store.text(ana, there.id) == "old"


@pytest.mark.parametrize("arrive", ARRIVALS)
async def test_with_replace_what_was_there_goes_to_the_trash_and_an_undo_brings_both_back(
    store: Store, ana: Actor, there: Item, arrive: Arrival
) -> None:
    before = await store.names(ana), await store.names(ana, "/Place")
    came = (await arrive(store, ana, "replace")).value
    assert (came.path, await store.text(ana, "/Place/a.txt")) == ("/Place/a.txt", "new")
    assert (await store.files.get(ana, there.id)).trashed_at
    undone = (await store.undo.undo(ana)).value
    assert undone.skipped == ()
    assert (await store.names(ana), await store.names(ana, "/Place")) == before
    assert (await store.files.get(ana, "/Place/a.txt")).id == there.id
    redone = (await store.undo.redo(ana)).value
    assert redone.skipped == ()
    assert await store.text(ana, "/Place/a.txt") == "new"


@pytest.mark.parametrize("arrive", ARRIVALS)
async def test_replacing_needs_a_key_that_may_delete(store: Store, ana: Actor, there: Item, arrive: Arrival) -> None:
    with pytest.raises(MissingScopeError):
        await arrive(store, with_scopes(ana, Scope.READ, Scope.WRITE), "replace")
    assert (await store.files.get(ana, "/Place/a.txt")).id == there.id


@pytest.mark.parametrize("arrive", ARRIVALS)
async def test_the_effect_names_what_would_be_replaced(store: Store, ana: Actor, there: Item, arrive: Arrival) -> None:
    effect = (await arrive(store, rehearsing(ana), "replace")).effect
    assert effect
    assert "in place of the file of that name, which goes to the trash" in effect.summary
    assert [item.get("what") for item in effect.items] == [None, "goes to the trash"]
    assert (effect.items[1]["id"], effect.count) == (there.id, 2)


@pytest.mark.parametrize("arrive", ARRIVALS)
async def test_what_was_approved_to_be_replaced_is_what_is_replaced(
    store: Store, ana: Actor, there: Item, arrive: Arrival
) -> None:
    effect = (await arrive(store, rehearsing(ana), "replace")).effect
    assert effect
    approved = replace(ana, if_match=effect.etag)
    await store.documents.write_text(ana, there.id, "changed meanwhile")
    with pytest.raises(EtagMismatchError):
        await arrive(store, approved, "replace")
    effect = (await arrive(store, rehearsing(ana), "replace")).effect
    assert effect
    assert (await arrive(store, replace(ana, if_match=effect.etag), "replace")).value.path == "/Place/a.txt"


async def test_what_was_approved_when_the_name_was_free_replaces_nothing_that_came_since(
    store: Store, ana: Actor
) -> None:
    await store.folder(ana, "/Place")
    await store.file(ana, "/a.txt", "new")
    effect = (await by_move(store, rehearsing(ana), "replace")).effect
    assert effect
    await store.file(ana, "/Place/a.txt", "came since")
    with pytest.raises(EtagMismatchError):
        await by_move(store, replace(ana, if_match=effect.etag), "replace")
    assert await store.text(ana, "/Place/a.txt") == "came since"


async def test_a_file_takes_the_place_of_no_folder_and_a_folder_that_of_no_file(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Place")
    await store.folder(ana, "/Place/x")
    await store.file(ana, "/x")
    with pytest.raises(NameConflictError, match="is a folder; a file can't take its place"):
        await store.files.move(ana, "/x", "/Place", on_conflict="replace")
    with pytest.raises(NameConflictError, match="is a file; a folder can't take its place"):
        await store.files.move(ana, "/Place/x", "/", on_conflict="replace")


async def test_a_folder_takes_the_place_of_a_folder_as_a_whole(store: Store, ana: Actor) -> None:
    for path in ("/Place", "/Place/x", "/x"):
        await store.folder(ana, path)
    await store.file(ana, "/Place/x/old.txt")
    await store.file(ana, "/x/new.txt")
    effect = (await store.files.move(rehearsing(ana), "/x", "/Place", on_conflict="replace")).effect
    assert effect
    assert effect.count == 3
    await store.files.move(ana, "/x", "/Place", on_conflict="replace")
    assert await store.names(ana, "/Place/x") == ["new.txt"]
    await store.undo.undo(ana)
    assert await store.names(ana, "/Place/x") == ["old.txt"]
    assert await store.names(ana, "/x") == ["new.txt"]


async def test_nothing_takes_the_place_of_the_folder_it_comes_from(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/x")
    await store.folder(ana, "/x/x")
    for act in (store.files.move, store.files.copy):
        with pytest.raises(NameConflictError, match="part of what this is about"):
            await act(ana, "/x/x", "/", on_conflict="replace")
    with pytest.raises(NameConflictError, match="part of what this is about"):
        await store.files.copy(ana, "/x/x", "/x", on_conflict="replace")


async def test_a_folder_is_made_under_the_next_free_name_but_replaces_nothing(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/x")
    with pytest.raises(NameConflictError):
        await store.files.create_folder(ana, "/", "x")
    assert (await store.files.create_folder(ana, "/", "x", on_conflict="rename")).value.name == "x (2)"
    with pytest.raises(InvalidInputError):
        await store.files.create_folder(ana, "/", "x", on_conflict="replace")


@pytest.mark.parametrize("arrive", ARRIVALS)
@pytest.mark.usefixtures("there")
async def test_an_unknown_choice_is_refused(store: Store, ana: Actor, arrive: Any) -> None:
    with pytest.raises(InvalidInputError):
        await arrive(store, ana, "overwrite")


async def test_an_item_that_has_the_name_already_keeps_it_whatever_the_choice(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    choices: list[OnConflict] = ["fail", "rename", "replace"]
    for choice in choices:
        assert (await store.files.rename(ana, item.id, "a.txt", on_conflict=choice)).value.name == "a.txt"
        assert (await store.files.move(ana, item.id, "/", on_conflict=choice)).value.name == "a.txt"


async def test_a_numbered_name_stays_when_it_still_is_the_next_free_one(store: Store, ana: Actor) -> None:
    await store.file(ana, "/a.txt")
    item = await store.file(ana, "/a (2).txt")
    assert (await store.files.rename(ana, item.id, "a.txt", on_conflict="rename")).value.name == "a (2).txt"


async def test_who_was_given_one_item_puts_it_in_the_place_of_no_other(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    await store.file(ana, "/b.txt")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    with pytest.raises(ForbiddenError):
        await store.files.rename(ben, item.id, "b.txt", on_conflict="replace")


@pytest.mark.parametrize("name", ["\u202btxt.exe", "a\u2215b", "a\u200bb", "𝓪\u00a0b"])
async def test_a_misleading_name_is_escaped_wherever_it_is_told(store: Store, ana: Actor, name: str) -> None:
    if "\u202b" in name:
        name = name.replace("\u202b", "\u200f")
    await store.folder(ana, "/Place")
    await store.file(ana, f"/Place/{name}")
    await store.file(ana, f"/{name}")
    with pytest.raises(NameConflictError) as caught:
        await store.files.move(ana, f"/{name}", "/Place")
    effect = (await store.files.move(rehearsing(ana), f"/{name}", "/Place", on_conflict="replace")).effect
    assert effect
    await store.files.copy(ana, f"/{name}", "/Place", on_conflict="replace")
    change = (await store.journal.list_changes(ana)).items[0]
    told = [caught.value.message, caught.value.hint, effect.summary, change.summary]
    told += [str(item[key]) for item in effect.items for key in ("name", "path")]
    assert all(name not in text and "\\u{" in text for text in told)


async def test_many_items_move_at_once_and_come_back_at_once(store: Store, ana: Actor) -> None:
    items = [await store.file(ana, f"/{number}.txt") for number in range(3)]
    await store.folder(ana, "/Place")
    outcome = await store.files.move_many(ana, [item.id for item in items], "/Place")
    assert [item.path for item in outcome.value.items] == [f"/Place/{number}.txt" for number in range(3)]
    assert (outcome.value.folder.path, outcome.value.unchanged) == ("/Place", 0)
    for item in items:
        changes = (await store.journal.list_changes(ana, item=item.id)).items
        assert changes[0].summary == "Moved 3 items to 'Place'."
    await store.undo.undo(ana)
    assert await store.names(ana) == ["Place", "0.txt", "1.txt", "2.txt"]


async def test_named_twice_moves_once_and_what_lies_in_another_stays_in_it(store: Store, ana: Actor) -> None:
    for path in ("/Place", "/Folder", "/Folder/in"):
        await store.folder(ana, path)
    inner = await store.file(ana, "/Folder/in/a.txt")
    here = await store.file(ana, "/Place/here.txt")
    refs = ["/Folder", inner.id, (await store.files.get(ana, "/Folder")).id, "/Folder/in", here.id]
    moved = (await store.files.move_many(ana, refs, "/Place")).value
    assert [item.path for item in moved.items] == ["/Place/Folder", "/Place/here.txt"]
    assert moved.unchanged == 1
    assert (await store.files.get(ana, inner.id)).path == "/Place/Folder/in/a.txt"


async def test_if_one_can_not_be_moved_none_is(store: Store, ana: Actor, ben: Actor) -> None:
    await store.folder(ana, "/Place")
    one = await store.file(ana, "/a.txt")
    await store.file(ana, "/Place/b.txt")
    other = await store.file(ana, "/b.txt")
    with pytest.raises(NameConflictError):
        await store.files.move_many(ana, [one.id, other.id], "/Place")
    secret = await store.file(ben, "/secret.txt")
    with pytest.raises(NotFoundError):
        await store.files.move_many(ana, [one.id, secret.id], "/Place")
    with pytest.raises(StateConflictError):
        await store.files.move_many(ana, [one.id, "/Place"], "/Place")
    assert await store.names(ana) == ["Place", "a.txt", "b.txt"]
    assert (await store.journal.list_changes(ana)).items[0].action == "create_file"


async def test_two_of_one_name_are_numbered_and_never_replace_each_other(store: Store, ana: Actor) -> None:
    for path in ("/Place", "/One", "/Two"):
        await store.folder(ana, path)
    await store.file(ana, "/One/a.txt", "one")
    await store.file(ana, "/Two/a.txt", "two")
    refs = ["/One/a.txt", "/Two/a.txt"]
    for choice in ("fail", "replace"):
        with pytest.raises(NameConflictError):
            await store.files.move_many(ana, refs, "/Place", on_conflict=choice)  # pyright: ignore[reportArgumentType]
    await store.files.move_many(ana, refs, "/Place", on_conflict="rename")
    assert await store.names(ana, "/Place") == ["a (2).txt", "a.txt"]


async def test_an_approved_move_of_many_is_done_only_as_it_was_shown(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Place")
    item = await store.file(ana, "/a.txt")
    await store.file(ana, "/Place/a.txt", "old")
    effect = (await store.files.move_many(rehearsing(ana), [item.id], "/Place", on_conflict="replace")).effect
    assert effect
    assert effect.etag
    assert len(effect.etag) <= 128
    approved = replace(ana, if_match=effect.etag)
    await store.documents.write_text(ana, "/Place/a.txt", "changed meanwhile")
    with pytest.raises(EtagMismatchError):
        await store.files.move_many(approved, [item.id], "/Place", on_conflict="replace")
    await store.files.rename(ana, item.id, "c.txt")
    with pytest.raises(EtagMismatchError):
        await store.files.move_many(approved, [item.id], "/Place")


@pytest.mark.parametrize("number", [0, moving.MAX_MOVED_AT_ONCE + 1])
async def test_none_or_too_many_at_once_are_refused(store: Store, ana: Actor, number: int) -> None:
    await store.folder(ana, "/Place")
    with pytest.raises(InvalidInputError):
        await store.files.move_many(ana, ["/a.txt"] * number, "/Place")


async def test_progress_of_a_move_rises_to_the_total(store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "ITEMS_AT_ONCE", 2)
    await store.folder(ana, "/Place")
    items = [await store.file(ana, f"/{number}.txt") for number in range(3)]
    told: list[tuple[int, int]] = []

    async def progress(done: int, total: int) -> None:
        told.append((done, total))

    await store.files.move_many(ana, [item.id for item in items], "/Place", progress=progress)
    assert told == [(0, 3), (2, 3), (3, 3)]


async def test_a_repeated_move_of_many_moves_once(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Place")
    item = await store.file(ana, "/a.txt")
    keyed = in_run(ana, "run-1", "key")
    first = await store.files.move_many(keyed, [item.id], "/Place")
    again = await store.files.move_many(keyed, [item.id], "/Place")
    assert (again.replayed, again.value) == (True, first.value)


async def test_who_was_given_a_single_item_learns_nothing_of_its_neighbours_but_the_name(
    store: Store, ana: Actor, ben: Actor
) -> None:
    item = await store.file(ana, "/a.txt")
    await store.file(ana, "/b.txt")
    await store.sharing.share(ana, item.id, "ben@example.com", "editor")
    with pytest.raises(NameConflictError) as caught:
        await store.files.rename(ben, item.id, "b.txt")
    assert caught.value.details == {"name": "b.txt", "suggestion": "b (2).txt"}
