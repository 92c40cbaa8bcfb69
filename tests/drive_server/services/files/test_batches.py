"""Many items renamed and organized at once: all of them or none, in one change that one undo takes back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import update

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    InvalidInputError,
    InvalidNameError,
    MissingScopeError,
    NameConflictError,
    NotFoundError,
    StateConflictError,
)
from drive_server.kernel.messages import render
from drive_server.services.files.batches import MAX_AT_ONCE, Organizing, Renaming, Selection
from drive_server.storage.tables.items import NodeRow
from tests.drive_server.actors import rehearsing, with_scopes
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Rearranged
    from tests.drive_server.store import Store

DAY = "2026-03-07 12:00:00.000000"


async def rename(store: Store, actor: Actor, selection: Selection | None = None, **kwargs: Any) -> Rearranged:
    options = {key: kwargs.pop(key) for key in ("on_conflict", "preview") if key in kwargs}
    return (await store.batches.rename(actor, selection or Selection(), Renaming(**kwargs), **options)).value


async def organize(store: Store, actor: Actor, selection: Selection, pattern: str, **kwargs: Any) -> Rearranged:
    options = {key: kwargs.pop(key) for key in ("on_conflict", "preview") if key in kwargs}
    return (await store.batches.organize(actor, selection, Organizing(pattern, **kwargs), **options)).value


async def dated(store: Store, path_id: str, when: str = DAY) -> None:
    async with store.database.write() as session:
        moment = datetime.fromisoformat(when).replace(tzinfo=UTC)
        await session.execute(update(NodeRow).where(NodeRow.id == path_id).values(modified_at=moment))


HERE = Selection(folder="/")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("{date} {name}", ["2026-03-07 a b.TXT", "2026-03-07 c.txt"]),
        ("Note {number:3}", ["Note 001.TXT", "Note 002.txt"]),
        ("{year}{month}{day}-{number}.{ext}", ["20260307-1.TXT", "20260307-2.txt"]),
        ("{type} {number}", ["Text 1.TXT", "Text 2.txt"]),
        ("笔记{number:2}", ["笔记01.TXT", "笔记02.txt"]),
    ],
)
async def test_a_pattern_names_each_file_and_its_ending_stays(
    store: Store, ana: Actor, pattern: str, expected: list[str]
) -> None:
    for name in ("a b.TXT", "c.txt"):
        await dated(store, (await store.file(ana, f"/{name}")).id)
    await store.folder(ana, "/Folder")
    renamed = await rename(store, ana, HERE, pattern=pattern)
    assert [item.name for item in renamed.items] == expected
    assert await store.names(ana) == ["Folder", *sorted(expected)]


async def test_numbers_follow_the_numbers_in_names_or_the_order_that_was_given(store: Store, ana: Actor) -> None:
    for number in (10, 2, 1):
        await store.file(ana, f"/p{number}.md")
    renamed = await rename(store, ana, HERE, pattern="x{number}", start=5)
    assert [(item.was, item.path) for item in renamed.items] == [
        ("/p1.md", "/x5.md"),
        ("/p2.md", "/x6.md"),
        ("/p10.md", "/x7.md"),
    ]
    again = await rename(store, ana, Selection(items=("/x7.md", "/x5.md")), pattern="y{number}")
    assert [item.path for item in again.items] == ["/y1.md", "/y2.md"]


@pytest.mark.parametrize(
    ("find", "replacement", "name"),
    [("_", " ", "a b.md"), ("m", "n", "a_b.md"), (".md", ".txt", "a_b.txt"), ("a_", "", "b.md"), ("zz", "", "a_b.md")],
)
async def test_a_text_is_replaced_in_names_and_in_endings_only_with_a_dot(
    store: Store, ana: Actor, find: str, replacement: str, name: str
) -> None:
    await store.file(ana, "/a_b.md")
    await rename(store, ana, HERE, find=find, replacement=replacement)
    assert await store.names(ana) == [name]


async def test_only_what_fits_is_renamed(store: Store, ana: Actor) -> None:
    for name in ("IMG_1.jpg", "IMG_2.JPG", "note.md"):
        await store.file(ana, f"/{name}")
    await rename(store, ana, Selection(folder="/", match="img_*.jpg"), pattern="Trip {number}")
    assert await store.names(ana) == ["Trip 1.jpg", "Trip 2.JPG", "note.md"]
    with pytest.raises(InvalidInputError):
        await rename(store, ana, Selection(folder="/", match="*.pdf"), pattern="x")


async def test_names_go_round_in_a_circle_and_come_back_by_one_undo_and_again_by_one_redo(
    store: Store, ana: Actor
) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        await store.file(ana, f"/{name}", name)
    names = (("/a.txt", "b.txt"), ("/b.txt", "c.txt"), ("/c.txt", "a.txt"))
    await rename(store, ana, names=names)
    turned = {name: await store.text(ana, f"/{name}") for name in await store.names(ana)}
    assert turned == {"b.txt": "a.txt", "c.txt": "b.txt", "a.txt": "c.txt"}
    change = (await store.journal.list_changes(ana)).items[0]
    assert (change.action, change.summary) == ("rename_many", "Renamed 3 items.")
    undone = (await store.undo.undo(ana)).value
    assert undone.skipped == ()
    assert all([await store.text(ana, f"/{name}") == name for name in ("a.txt", "b.txt", "c.txt")])
    await store.undo.redo(ana)
    assert {name: await store.text(ana, f"/{name}") for name in await store.names(ana)} == turned


@pytest.mark.parametrize("is_longer", [False, True])
async def test_an_undo_of_a_circle_that_can_not_be_closed_leaves_no_item_under_a_name_that_nobody_gave(
    store: Store, ana: Actor, is_longer: bool
) -> None:
    names = ["a.txt", "b.txt", "c.txt"][: 3 if is_longer else 2]
    ids = {name: (await store.file(ana, f"/{name}", name)).id for name in names}
    await rename(store, ana, names=list(zip(ids.values(), [*names[1:], names[0]], strict=True)))
    circle = (await store.journal.list_changes(ana)).items[0].id
    await store.files.rename(ana, ids[names[-1]], "away.txt")
    await store.file(ana, "/a.txt", "new")
    undone = (await store.undo.undo(ana, change_id=circle)).value
    held = {name: await store.text(ana, f"/{name}") for name in await store.names(ana)}
    circles = {"b.txt": "a.txt"} if not is_longer else {"b.txt": "b.txt", "b (2).txt": "a.txt"}
    assert held == {"a.txt": "new", "away.txt": names[-1], **circles}
    assert {left["item_id"] for left in undone.skipped} == {ids["a.txt"], ids[names[-1]]}
    assert len(undone.undone) == is_longer


async def test_a_chain_of_names_moves_up_whatever_its_order(store: Store, ana: Actor) -> None:
    for number in range(4):
        await store.file(ana, f"/{number}.md", str(number))
    await rename(store, ana, HERE, pattern="{number}")
    assert [await store.text(ana, f"/{number}.md") for number in range(1, 5)] == ["0", "1", "2", "3"]


async def test_all_names_that_are_taken_are_named_before_anything_is_done(store: Store, ana: Actor) -> None:
    for name in ("a.txt", "b.txt", "taken.txt"):
        await store.file(ana, f"/{name}")
    names = (("/a.txt", "taken.txt"), ("/b.txt", "c.txt"))
    with pytest.raises(NameConflictError, match=r"'taken\.txt'|taken\.txt") as caught:
        await rename(store, ana, names=names)
    assert render(caught.value.reason, "zh") == "有 1 个名称已被占用或重复：taken.txt。没有做任何更改。"
    with pytest.raises(NameConflictError):
        await rename(store, ana, names=(("/a.txt", "same.txt"), ("/b.txt", "same.txt")))
    assert await store.names(ana) == ["a.txt", "b.txt", "taken.txt"]
    assert (await store.journal.list_changes(ana)).items[0].action == "create_file"
    await rename(store, ana, Selection(items=("/a.txt", "/b.txt")), pattern="taken", on_conflict="rename")
    assert await store.names(ana) == ["taken (2).txt", "taken (3).txt", "taken.txt"]


async def test_one_that_is_not_there_keeps_all_as_they_are(store: Store, ana: Actor, ben: Actor) -> None:
    await store.file(ana, "/a.txt")
    secret = await store.file(ben, "/secret.txt")
    for ref in (secret.id, "/nope"):
        with pytest.raises(NotFoundError):
            await rename(store, ana, names=(("/a.txt", "b.txt"), (ref, "c.txt")))
    with pytest.raises(InvalidNameError):
        await rename(store, ana, names=(("/a.txt", "b/c.txt"),))
    with pytest.raises(StateConflictError):
        await rename(store, ana, names=(("/a.txt", "b.txt"), ("root", "c")))
    assert await store.names(ana) == ["a.txt"]


@pytest.mark.parametrize(
    ("selection", "renaming"),
    [
        (HERE, {}),
        (HERE, {"pattern": "x", "find": "y"}),
        (HERE, {"names": (("/a.txt", "b"),)}),
        (Selection(), {"pattern": "x"}),
        (Selection(items=("/a.txt",), folder="/"), {"pattern": "x"}),
        (HERE, {"pattern": "{nme} x"}),
        (HERE, {"pattern": "x {name"}),
        (HERE, {"pattern": "x" * 501}),
        (Selection(items=("/a.txt",) * (MAX_AT_ONCE + 1)), {"pattern": "x"}),
        (Selection(), {"names": (("/a.txt", "b"), ("/a.txt", "c"))}),
    ],
)
async def test_what_does_not_say_which_names_is_refused(
    store: Store, ana: Actor, selection: Selection, renaming: dict[str, Any]
) -> None:
    await store.file(ana, "/a.txt")
    with pytest.raises(InvalidInputError):
        await rename(store, ana, selection, **renaming)
    assert await store.names(ana) == ["a.txt"]


async def test_files_are_organized_by_date_and_one_undo_takes_all_of_it_back(store: Store, ana: Actor) -> None:
    for name, day in (("a.md", "2025-12-31 23:00"), ("b.md", DAY), ("c.md", DAY)):
        await dated(store, (await store.file(ana, f"/{name}")).id, day)
    organized = await organize(store, ana, HERE, "{year}/{month}")
    assert [item.path for item in organized.items] == ["/2025/12/a.md", "/2026/03/b.md", "/2026/03/c.md"]
    assert organized.folders == ("/2025", "/2025/12", "/2026", "/2026/03")
    change = (await store.journal.list_changes(ana)).items[0]
    assert change.summary == "Moved 3 items into folders in the root folder, of which 4 are new."
    assert (await store.undo.undo(ana)).value.skipped == ()
    assert await store.names(ana) == ["a.md", "b.md", "c.md"]
    await store.undo.redo(ana)
    assert await store.names(ana) == ["2025", "2026"]


async def test_days_are_those_of_the_zone(store: Store, ana: Actor) -> None:
    item = await store.file(ana, "/photo.jpg")
    await dated(store, item.id, "2026-02-28 17:30:00.000000")
    zone = ZoneInfo("Asia/Shanghai")
    await rename(store, ana, names=(), pattern="{date} {name}", zone=zone, selection=HERE)
    assert await store.names(ana) == ["2026-03-01 photo.jpg"]
    await dated(store, item.id, "2026-02-28 17:30:00.000000")
    moved = await organize(store, ana, HERE, "{year}/{month}", zone=zone)
    assert moved.folders == ("/2026", "/2026/03")


async def test_files_are_organized_by_type_in_either_language_and_folders_that_are_there_are_used(
    store: Store, ana: Actor
) -> None:
    await store.folder(ana, "/图片")
    for name in ("a.png", "b.md", "c.pdf"):
        await store.file(ana, f"/{name}")
    organized = await organize(store, ana, HERE, "{type}", language="zh")
    assert [item.path for item in organized.items] == ["/图片/a.png", "/文本/b.md", "/PDF 文档/c.pdf"]
    assert organized.folders == ("/文本", "/PDF 文档")
    again = await organize(store, ana, Selection(items=("/图片/a.png",)), "{type}", into="/", language="zh")
    assert again.changed == 0


async def test_some_go_into_one_folder_by_their_names(store: Store, ana: Actor) -> None:
    for name in ("Invoice 1.md", "invoice 2.md", "x.md"):
        await store.file(ana, f"/{name}")
    await organize(store, ana, Selection(folder="/", match="*invoice*"), "Bills/{ext}")
    assert await store.names(ana) == ["Bills", "x.md"]
    assert await store.names(ana, "/Bills/md") == ["Invoice 1.md", "invoice 2.md"]


async def test_what_can_not_be_organized_leaves_no_folder_behind(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/In")
    await store.folder(ana, "/In/Text")
    await store.file(ana, "/In/a.md")
    await store.file(ana, "/In/Text/a.md")
    await store.file(ana, "/In/Other")
    with pytest.raises(NameConflictError):
        await organize(store, ana, Selection(folder="/In", match="a*"), "{type}")
    with pytest.raises(NameConflictError):
        await organize(store, ana, Selection(folder="/In", match="a*"), "Other/x")
    for pattern in ("{name}", "/", "a/" * 9, "{number}", "../x"):
        with pytest.raises(InvalidInputError):
            await organize(store, ana, Selection(folder="/In"), pattern)
    with pytest.raises(InvalidInputError):
        await organize(store, ana, Selection(items=("/In/a.md", "/In/Text/a.md")), "x")
    assert await store.names(ana, "/In") == ["Text", "Other", "a.md"]
    done = await organize(store, ana, Selection(folder="/In", match="a*"), "{type}", on_conflict="rename")
    assert done.items[0].path == "/In/Text/a (2).md"


async def test_a_preview_tells_of_all_items_and_changes_nothing(store: Store, ana: Actor) -> None:
    for number in range(120):
        await store.file(ana, f"/{number}.md")
    reader = with_scopes(ana, Scope.READ)
    shown = await store.batches.rename(reader, HERE, Renaming(pattern="n{number:3}"), preview=True)
    assert (shown.value.preview, shown.value.changed, shown.change_id) == (True, 120, None)
    assert shown.effect
    assert len(shown.effect.items) == 120
    assert (shown.effect.items[0]["path"], shown.effect.items[0]["what"]) == ("/0.md", "becomes 'n001.md'")
    assert shown.effect.items[0]["messages"]["what"]["zh"] == "改名为“n001.md”"
    organized = await store.batches.organize(reader, HERE, Organizing("{type}"), preview=True)
    assert organized.effect
    assert [item.get("what") for item in organized.effect.items[:2]] == ["is made", "goes to /Text/0.md"]
    assert "120.md" not in await store.names(ana)
    assert "Text" not in await store.names(ana)
    with pytest.raises(MissingScopeError):
        await rename(store, reader, HERE, pattern="n{number}")


async def test_what_was_approved_is_done_only_as_it_was_shown(store: Store, ana: Actor) -> None:
    await store.file(ana, "/a.md")
    effect = (await store.batches.rename(rehearsing(ana), HERE, Renaming(pattern="x{number}"))).effect
    assert effect
    approved = replace(ana, if_match=effect.etag)
    await store.file(ana, "/0.md")
    with pytest.raises(EtagMismatchError):
        await rename(store, approved, HERE, pattern="x{number}")
    await rename(store, approved, Selection(items=("/a.md",)), pattern="x{number}")
    assert await store.names(ana) == ["0.md", "x1.md"]


async def test_a_repeated_call_with_its_key_changes_nothing_again(store: Store, ana: Actor) -> None:
    await store.file(ana, "/a.md")
    keyed = in_run(ana, "run-1", "key")
    first = await store.batches.rename(keyed, HERE, Renaming(pattern="x {name}"))
    again = await store.batches.rename(keyed, HERE, Renaming(pattern="x {name}"))
    assert (again.replayed, again.value) == (True, first.value)


async def test_words_of_others_in_a_name_stay_theirs(store: Store, ana: Actor, ben: Actor) -> None:
    await store.folder(ana, "/Both")
    await store.sharing.share(ana, "/Both", "ben@example.com", "editor")
    item = await store.file(ben, "/Shared with me/Both/do this.md")
    await rename(store, ana, Selection(folder="/Both"), pattern="{name} {number}")
    async with store.database.read() as session:
        assert (await session.get_one(NodeRow, item.id)).named_by == ben.user_id
    await rename(store, ana, names=((item.id, "mine.md"),))
    async with store.database.read() as session:
        assert (await session.get_one(NodeRow, item.id)).named_by == ana.user_id
