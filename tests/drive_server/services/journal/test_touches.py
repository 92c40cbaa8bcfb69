"""The items that a call would touch, by its dry run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from drive_server.services.journal import effects
from drive_server.storage.tables.sharing import LinkRow
from tests.drive_server.actors import rehearsing
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from typing import Any

    from drive_server.kernel.access import Actor
    from drive_server.models.changes import Outcome, Touch
    from tests.drive_server.store import Store


def touched(outcome: Outcome[Any]) -> dict[str, Touch]:
    assert outcome.effect is not None
    assert outcome.effect.touches is not None
    return {touch.path: touch for touch in outcome.effect.touches}


async def link_to(store: Store, actor: Actor, item_id: str) -> None:
    async with store.database.write() as session:
        made = {"role": 1, "created_at": datetime.now(UTC), "created_by": actor.user_id}
        session.add(LinkRow(node_id=item_id, **made))


async def test_a_move_tells_the_folders_before_and_after(store: Store, ana: Actor) -> None:
    old = await store.folder(ana, "/Old")
    deep = await store.folder(ana, "/Old/deep")
    new = await store.folder(ana, "/New")
    bill = await store.file(ana, "/Old/deep/bill.txt")
    root = (await store.files.get(ana, "root")).id

    found = touched(await store.files.move(rehearsing(ana), bill.id, new.id))

    touch = found["/New/bill.txt"]
    assert (touch.id, touch.mine, touch.items) == (bill.id, True, 1)
    assert touch.was_inside == (deep.id, old.id, root)
    assert touch.inside == (new.id, root)
    assert not touch.others
    assert not touch.gains


async def test_several_moves_tell_of_each_and_the_unmoved_is_not_among_them(store: Store, ana: Actor) -> None:
    folder = await store.folder(ana, "/To")
    there = await store.file(ana, "/To/there.txt")
    ids = [(await store.file(ana, f"/{name}.txt")).id for name in "abc"]
    found = touched(await store.files.move_many(rehearsing(ana), [*ids, there.id], folder.id))
    assert sorted(found) == ["/To/a.txt", "/To/b.txt", "/To/c.txt"]


async def test_a_folder_counts_what_is_below_it(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Old")
    await store.file(ana, "/Old/a.txt")
    await store.folder(ana, "/Old/deep")
    await store.file(ana, "/Old/deep/b.txt")
    await store.folder(ana, "/New")
    assert touched(await store.files.move(rehearsing(ana), "/Old", "/New"))["/New/Old"].items == 4
    assert touched(await store.files.rename(rehearsing(ana), "/Old", "Older"))["/Older"].items == 4


async def test_what_is_new_was_nowhere_before(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Notes")
    created = touched(await store.documents.create(rehearsing(ana), "/Notes", "new.txt", "text"))["/Notes/new.txt"]
    copied = touched(await store.files.copy(rehearsing(ana), "/Notes", "root", "Copy"))["/Copy"]
    assert created.was_inside is None
    assert copied.was_inside is None


async def test_new_contents_and_the_trash_touch_the_item_where_it_is(store: Store, ana: Actor) -> None:
    folder = await store.folder(ana, "/Notes")
    await store.file(ana, "/Notes/a.txt")
    written = touched(await store.documents.write_text(rehearsing(ana), "/Notes/a.txt", "other"))["/Notes/a.txt"]
    trashed = touched(await store.files.trash(rehearsing(ana), "/Notes/a.txt"))["/Notes/a.txt"]
    assert written.inside == trashed.inside == written.was_inside == trashed.was_inside
    assert written.inside[0] == folder.id


async def test_what_takes_the_place_of_another_touches_both(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/To")
    await store.file(ana, "/a.txt")
    await store.file(ana, "/To/a.txt", "other")
    outcome = await store.files.move(rehearsing(ana), "/a.txt", "/To", on_conflict="replace")
    assert outcome.effect is not None
    assert len(outcome.effect.touches or ()) == 2


@pytest.mark.parametrize("by", ["share", "link"])
async def test_what_comes_where_others_see_it_is_seen_by_more_people_than_before(
    store: Store, ana: Actor, by: str
) -> None:
    team = await store.folder(ana, "/Team")
    await store.folder(ana, "/Team/deep")
    await store.file(ana, "/mine.txt")
    await store.file(ana, "/Team/plan.txt")
    if by == "share":
        await store.sharing.share(ana, team.id, "ben@example.com", "viewer")
    else:
        await link_to(store, ana, team.id)

    comes = touched(await store.files.move(rehearsing(ana), "/mine.txt", "/Team/deep"))["/Team/deep/mine.txt"]
    stays = touched(await store.files.move(rehearsing(ana), "/Team/plan.txt", "/Team/deep"))["/Team/deep/plan.txt"]
    new = touched(await store.documents.create(rehearsing(ana), "/Team", "new.txt", "x"))["/Team/new.txt"]
    leaves = touched(await store.files.move(rehearsing(ana), "/Team/plan.txt", "root"))["/plan.txt"]

    assert (comes.others, comes.gains) == (True, True)
    assert (stays.others, stays.gains) == (True, False)
    assert (new.others, new.gains) == (True, True)
    assert (leaves.others, leaves.gains) == (False, False)


async def test_another_persons_item_is_not_mine_and_is_seen_by_others(store: Store, ana: Actor, ben: Actor) -> None:
    theirs = await store.folder(ben, "/Bens")
    plan = await store.file(ben, "/Bens/plan.txt")
    await store.sharing.share(ben, theirs.id, ana.principal.email, "editor")
    written = touched(await store.documents.write_text(rehearsing(ana), plan.id, "x"))
    new = touched(await store.documents.create(rehearsing(ana), theirs.id, "new.txt", "x"))
    for touch in (*written.values(), *new.values()):
        assert (touch.mine, touch.others) == (False, True)
        assert touch.inside == (theirs.id,)
    assert next(iter(new.values())).gains


async def test_more_than_can_be_told_is_not_told(store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "MAX_TOUCHED", 2)
    await store.folder(ana, "/To")
    ids = [(await store.file(ana, f"/{name}.txt")).id for name in "abc"]
    outcome = await store.files.move_many(rehearsing(ana), ids, "/To")
    assert outcome.effect is not None
    assert outcome.effect.touches is None


async def test_what_is_deleted_for_good_is_nowhere_any_more(store: Store, ana: Actor) -> None:
    await store.file(ana, "/a.txt")
    trashed = (await store.files.trash(ana, "/a.txt")).value
    outcome = await store.files.delete_for_good(rehearsing(ana), trashed.id)
    assert outcome.effect is not None
    assert outcome.effect.touches is None


async def test_a_dry_run_changes_nothing_by_looking(store: Store, ana: Actor) -> None:
    await store.file(ana, "/文件 📄.txt", "text")
    await store.files.rename(rehearsing(ana), "/文件 📄.txt", "other.txt")
    assert await store.names(ana) == ["文件 📄.txt"]


async def test_an_undo_of_a_run_that_renamed_what_it_had_moved_tells_of_both(store: Store, ana: Actor) -> None:
    item, old, new = await store.file(ana, "/a.txt"), await store.folder(ana, "/Old"), await store.folder(ana, "/New")
    await store.files.move(ana, item.id, old.id)
    await store.sharing.share(ana, old.id, "ben@example.com", "viewer")
    acting = in_run(ana, "run-1")
    await store.files.move(acting, item.id, new.id)
    await store.files.rename(acting, item.id, "b.txt")

    (touch,) = touched(await store.undo.undo(ana, run_id="run-1", preview=True)).values()

    root = (await store.files.get(ana, "root")).id
    assert (touch.path, touch.was_named, touch.was_inside) == ("/Old/a.txt", "b.txt", (new.id, root))
    assert touch.gains
