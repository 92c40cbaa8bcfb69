from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from drive_server.kernel.errors import InvalidInputError
from drive_server.knowledge.formats import GROUPS
from drive_server.services.search.filters import MAX_TYPES, SearchFilter
from drive_server.services.search.service import with_nothing_found
from drive_server.storage.tables.items import NodeRow

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BOB, ALICE = "bob@example.com", "alice@example.com"


async def make(drive: Drive, actor: Actor, name: str, parent: str = "root") -> Item:
    return (await drive.documents.create(actor, parent, name, "The plan of the year.")).value


async def changed_at(drive: Drive, item: Item, moment: datetime) -> None:
    async with drive.database.write() as session:
        await session.execute(update(NodeRow).where(NodeRow.id == item.id).values(modified_at=moment))


async def found(drive: Drive, actor: Actor, only: SearchFilter, folder: str | None = None) -> set[str]:
    """By name and by text alike: the filter is the same for both."""
    by_name = {hit.item.name for hit in (await drive.search.find(actor, "plan", only=only, folder=folder)).items}
    hits = (await drive.search.semantic(actor, "plan of the year", only=only, folder=folder)).items
    by_text = {hit.item.name for hit in hits}
    assert by_text == {name for name in by_name if not name.endswith(".png")}
    return by_name


@pytest.mark.parametrize(
    ("types", "names"),
    [
        ((), {"plan.md", "计划 plan.CSV", "plan.py", "plan.png", "plan.tar.gz.txt", "plan"}),
        (("text",), {"plan.md", "plan.tar.gz.txt", "plan"}),
        (("Spreadsheet",), {"计划 plan.CSV"}),
        ((".csv", "py"), {"计划 plan.CSV", "plan.py"}),
        (("image", "code"), {"plan.png", "plan.py"}),
        (("presentation",), set[str]()),
        ((".md%",), None),
        ((".unheard",), set[str]()),
    ],
)
async def test_types_are_groups_and_suffixes(
    drive: Drive, alice: Actor, types: tuple[str, ...], names: set[str] | None
) -> None:
    for name in ("plan.md", "计划 plan.CSV", "plan.py", "plan.tar.gz.txt"):
        await make(drive, alice, name)
    await drive.documents.create(alice, "root", "plan", "The plan of the year.", "text/plain")
    await drive.documents.create(alice, "root", "plan.png", "no picture", "image/png")
    await drive.files.create_folder(alice, "root", "plans")
    await drive.ingester.drain()
    if names is None:
        with pytest.raises(InvalidInputError):
            await found(drive, alice, SearchFilter(types))
        return
    expected = names if types else {*names, "plans"}
    hits = await drive.search.find(alice, "plan", only=SearchFilter(types))
    assert {hit.item.name for hit in hits.items} == expected


async def test_times_are_inclusive_at_their_beginning_and_exclusive_at_their_end(drive: Drive, alice: Actor) -> None:
    for days in range(3):
        await changed_at(drive, await make(drive, alice, f"plan {days}.md"), NOON + timedelta(days=days))
    await drive.ingester.drain()
    after, before = NOON + timedelta(days=1), NOON + timedelta(days=2)
    assert await found(drive, alice, SearchFilter(modified_after=after.isoformat())) == {"plan 1.md", "plan 2.md"}
    assert await found(drive, alice, SearchFilter(modified_before=before.isoformat())) == {"plan 0.md", "plan 1.md"}
    between = SearchFilter(modified_after="2026-03-02", modified_before="2026-03-03T13:00:00+08:00")
    assert await found(drive, alice, between) == {"plan 1.md"}


async def test_owners_are_the_person_others_and_one_of_them(drive: Drive, alice: Actor, bob: Actor) -> None:
    await make(drive, alice, "plan of mine.md")
    given = await make(drive, bob, "plan given.md")
    await make(drive, bob, "plan private.md")
    await drive.sharing.share(bob, given.id, ALICE, "viewer")
    await drive.ingester.drain()
    assert await found(drive, alice, SearchFilter(owner="me")) == {"plan of mine.md"}
    assert await found(drive, alice, SearchFilter(owner="shared")) == {"plan given.md"}
    assert await found(drive, alice, SearchFilter(owner="Bob@Example.com")) == {"plan given.md"}
    assert await found(drive, alice, SearchFilter(owner=ALICE)) == {"plan of mine.md"}


async def test_a_stranger_and_nobody_are_the_same_owner(drive: Drive, alice: Actor, bob: Actor) -> None:
    await make(drive, alice, "plan.md")
    await make(drive, bob, "plan.md")
    await drive.ingester.drain()
    stranger, nobody = [
        [
            await drive.search.find(alice, "plan", only=SearchFilter(owner=email)),
            await drive.search.semantic(alice, "plan", only=SearchFilter(owner=email)),
        ]
        for email in (BOB, "nobody@example.com")
    ]
    assert stranger == nobody
    assert not stranger[0].items


async def test_a_filter_holds_with_a_folder_and_where_files_are_too_many_to_name(
    drive: Drive, alice: Actor, bob: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = (await drive.files.create_folder(alice, "root", "F")).value
    for name in ("plan in.md", "plan in too.md", "plan in.csv"):
        await make(drive, alice, name, folder.id)
    for name in ("plan out.md", "plan out.csv"):
        await make(drive, alice, name)
    given = await make(drive, bob, "plan given.md")
    await drive.sharing.share(bob, given.id, ALICE, "viewer")
    await drive.ingester.drain()
    only = SearchFilter(("text",))
    for most in (2000, 1):
        monkeypatch.setattr("drive_server.services.search.scope.MAX_NAMED_FILES", most)
        assert await found(drive, alice, only, folder.id) == {"plan in.md", "plan in too.md"}
        assert await found(drive, alice, only) == {"plan in.md", "plan in too.md", "plan out.md", "plan given.md"}
        assert await found(drive, alice, SearchFilter(("text",), owner="shared")) == {"plan given.md"}


async def test_what_makes_no_sense_is_refused_with_what_would(drive: Drive, alice: Actor) -> None:
    senseless = [
        (SearchFilter(("documnt",)), "document"),
        (SearchFilter(("",)), "document"),
        (SearchFilter((".",)), "document"),
        (SearchFilter(("." + "x" * 100,)), "document"),
        (SearchFilter(("\x00",)), "document"),
        (SearchFilter(("pdf",) * (MAX_TYPES + 1)), "groups"),
        (SearchFilter(modified_after="yesterday"), "2026-11-05"),
        (SearchFilter(modified_before="x" * 1000), "2026-11-05"),
        (SearchFilter(modified_after="2026-03-02", modified_before="2026-03-02"), "earlier"),
        (SearchFilter(owner="bob"), "email"),
        (SearchFilter(owner=""), "email"),
        (SearchFilter(owner="\ud800@x.y"), "email"),
    ]
    for only, hint in senseless:
        for call in (drive.search.find(alice, "plan", only=only), drive.search.semantic(alice, "plan", only=only)):
            with pytest.raises(InvalidInputError) as caught:
                await call
            assert hint in caught.value.hint, only
    with pytest.raises(InvalidInputError, match="Folders have no type"):
        await drive.search.find(alice, "plan", kind="folder", only=SearchFilter(("pdf",)))


async def test_a_cursor_is_good_for_its_own_filter_only(drive: Drive, alice: Actor) -> None:
    for number in range(3):
        await make(drive, alice, f"plan {number}.md")
    page = await drive.search.find(alice, "plan", only=SearchFilter(("text",)), limit=1)
    second = await drive.search.find(alice, "plan", only=SearchFilter(("text",)), limit=1, cursor=page.cursor)
    assert [hit.item.name for hit in (*page.items, *second.items)] == ["plan 0.md", "plan 1.md"]
    for only in (SearchFilter(), SearchFilter(("code",)), SearchFilter(("text",), owner="me")):
        with pytest.raises(InvalidInputError):
            await drive.search.find(alice, "plan", only=only, limit=1, cursor=page.cursor)


async def test_every_group_is_asked_for_without_an_error(drive: Drive, alice: Actor) -> None:
    for group in GROUPS:
        assert (await drive.search.find(alice, "plan", only=SearchFilter((group,)))).items == ()


async def listed(drive: Drive, actor: Actor, only: SearchFilter, **rest: Any) -> list[str]:
    return [hit.item.name for hit in (await drive.search.find(actor, "", only=only, **rest)).items]


async def test_without_a_query_a_filter_lists_all_that_it_leaves_newest_first(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    of_2001 = SearchFilter(modified_after="2001-01-01", modified_before="2002-01-01")
    for month, name in ((3, "a.md"), (9, "旧.csv"), (6, "c.md")):
        await changed_at(drive, await make(drive, alice, name), datetime(2001, month, 1, tzinfo=UTC))
    await make(drive, alice, "today.md")
    await changed_at(drive, await make(drive, bob, "bobs.md"), datetime(2001, 1, 5, tzinfo=UTC))
    trashed = await make(drive, alice, "gone.md")
    await changed_at(drive, trashed, datetime(2001, 5, 1, tzinfo=UTC))
    await drive.files.trash(alice, trashed.id)

    assert await listed(drive, alice, of_2001) == ["旧.csv", "c.md", "a.md"]
    assert await listed(drive, alice, replace(of_2001, types=(".md",))) == ["c.md", "a.md"]
    assert await listed(drive, alice, SearchFilter(types=("spreadsheet",))) == ["旧.csv"]
    assert await listed(drive, alice, SearchFilter(), kind="file") == ["today.md", "旧.csv", "c.md", "a.md"]
    assert await listed(drive, alice, SearchFilter(owner="shared")) == []
    nothing = await drive.search.find(alice, " ", only=SearchFilter(owner="shared"))
    assert with_nothing_found(nothing, "").note == "Nothing in the drive fits these filters."
    assert with_nothing_found(nothing, "", "zh").note == "云盘中没有符合这些条件的内容。"


async def test_a_list_without_a_query_has_pages_on_which_no_item_comes_twice(drive: Drive, alice: Actor) -> None:
    for number in range(5):
        await make(drive, alice, f"{number}.md")
    names: list[str] = []
    cursor: str | None = None
    while not names or cursor:
        page = await drive.search.find(alice, "", kind="file", limit=2, cursor=cursor)
        names, cursor = [*names, *(hit.item.name for hit in page.items)], page.cursor
    assert names == ["4.md", "3.md", "2.md", "1.md", "0.md"]


async def test_a_search_without_a_query_and_without_a_filter_is_refused(drive: Drive, alice: Actor) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await drive.search.find(alice, "  ")
    assert "a date, a kind, a type, an owner or a folder" in refused.value.hint
    with pytest.raises(InvalidInputError):
        await drive.search.semantic(alice, "", only=SearchFilter(owner="me"))
