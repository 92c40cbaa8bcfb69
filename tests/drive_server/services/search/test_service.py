from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import ForbiddenError, InvalidInputError, MissingScopeError, NotFoundError
from drive_server.knowledge.index.health import IndexHealth
from drive_server.knowledge.index.index import IndexHit
from drive_server.services.search.service import SearchService
from drive_server.storage.tables.index import IndexEntryRow
from tests.drive_server.actors import with_scopes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.base import Page
    from drive_server.models.items import Item
    from drive_server.models.search import Hit

LEAVE = "# Parental leave\n\nEvery parent may take 16 weeks of paid leave after the birth of a child.\n"
LEAVE_ZH = "# 员工手册\n\n员工在孩子出生后可以享受十六周的带薪育儿假。\n"
BOB = "bob@example.com"


@dataclass
class ScriptedIndex:
    """An index that answers with `hits`, whoever may see them."""

    hits: list[IndexHit] = field(default_factory=list[IndexHit])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    health: IndexHealth = field(default_factory=IndexHealth)

    async def search(self, query: str, **filters: Any) -> list[IndexHit]:
        self.asked.append({"query": query, **filters})
        return self.hits[: filters["limit"]]


class KnowledgeIndexWithDiary:
    """The drive's own index, which notes what it is asked."""

    def __init__(self, drive: Drive) -> None:
        self._index = drive.search._index  # pyright: ignore[reportPrivateUsage] - there is no other way to it
        self.asked: list[dict[str, Any]] = []
        self.health = IndexHealth()

    async def search(self, query: str, **filters: Any) -> list[IndexHit]:
        self.asked.append({"query": query, **filters})
        return await self._index.search(query, **filters)


@pytest.fixture
def index() -> ScriptedIndex:
    return ScriptedIndex()


@pytest.fixture
def search(drive: Drive, index: ScriptedIndex) -> SearchService:
    return SearchService(drive.database, index)  # type: ignore[arg-type] # the part of the index that search uses


def passage(item: Item, text: str = "passage", score: float = 1.0, version: int | None = None) -> IndexHit:
    return IndexHit(
        file_id=item.id,
        version=item.version if version is None else version,
        score=score,
        text=text,
        start=10,
        end=10 + len(text),
        heading="Heading",
        page=3,
    )


async def make(drive: Drive, actor: Actor, name: str, text: str = "text", parent: str = "root") -> Item:
    return (await drive.documents.create(actor, parent, name, text)).value


async def make_folder(drive: Drive, actor: Actor, name: str, parent: str = "root") -> Item:
    return (await drive.files.create_folder(actor, parent, name)).value


async def set_state(drive: Drive, item: Item, state: str) -> None:
    """Say that the index has come to another state for the file, without waking it."""
    async with drive.database.write() as session:
        await session.execute(update(IndexEntryRow).where(IndexEntryRow.file_id == item.id).values(state=state))


def names(page: Page[Hit]) -> list[str]:
    return [hit.item.name for hit in page.items]


async def test_words_in_a_text_are_found_in_english_and_chinese(drive: Drive, alice: Actor) -> None:
    await make(drive, alice, "handbook.md", LEAVE)
    await make(drive, alice, "手册.md", LEAVE_ZH)
    await drive.ingester.drain()
    for query, name in (("paid leave", "handbook.md"), ("育儿假", "手册.md")):
        found = await drive.search.find(alice, query)
        assert names(found) == [name]
        assert (found.note, found.cursor) == ("", None)
    hit = (await drive.search.find(alice, "birth")).items[0]
    read = await drive.documents.read_text(alice, hit.item.id, start=hit.start, end=hit.end)
    assert hit.text in read.text


async def test_passages_are_found_by_meaning_or_at_least_by_words(drive: Drive, alice: Actor) -> None:
    await make(drive, alice, "handbook.md", LEAVE)
    await make(drive, alice, "手册.md", LEAVE_ZH)
    await make(drive, alice, "other.md", "The canteen serves soup.")
    await drive.ingester.drain()
    assert names(await drive.search.semantic(alice, "parental leave weeks"))[0] == "handbook.md"
    assert names(await drive.search.semantic(alice, "带薪育儿假"))[0] == "手册.md"


async def test_a_new_content_replaces_the_old_one(drive: Drive, alice: Actor) -> None:
    item = await make(drive, alice, "notes.md", "The password is swordfish.")
    await drive.ingester.drain()
    assert names(await drive.search.find(alice, "swordfish")) == ["notes.md"]
    await drive.documents.write_text(alice, item.id, "Nothing to see.")
    assert names(await drive.search.find(alice, "swordfish")) == []
    await drive.ingester.drain()
    assert names(await drive.search.find(alice, "swordfish")) == []
    assert names(await drive.search.find(alice, "nothing")) == ["notes.md"]


async def test_names_come_before_texts_and_each_item_comes_once(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor
) -> None:
    named = await make(drive, alice, "plan.md")
    other = await make(drive, alice, "other.md")
    index.hits = [passage(other, score=99.0), passage(named), passage(other, "again")]
    found = await search.find(alice, "plan")
    assert [(hit.item.name, hit.text) for hit in found.items] == [("plan.md", "plan.md"), ("other.md", "passage")]
    scores = [hit.score for hit in found.items]
    assert scores == sorted(scores, reverse=True)
    assert index.asked[0]["mode"] == "text"


async def test_a_passage_says_where_it_is(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor
) -> None:
    item = await make(drive, alice, "a.md")
    text = "x " * 2000 + "needle" + " y" * 2000
    index.hits = [passage(item, text)]
    hit = (await search.find(alice, "needle")).items[0]
    assert "needle" in hit.text
    assert len(hit.text) <= 500
    assert text[hit.start - 10 : hit.end - 10] == hit.text
    whole = (await search.semantic(alice, "needle")).items[0]
    assert (whole.text, whole.start, whole.end, whole.heading, whole.page) == (text, 10, 10 + len(text), "Heading", 3)
    assert index.asked[-1]["mode"] == "hybrid"


async def test_whatever_the_index_answers_nobody_sees_what_they_may_not(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor, bob: Actor
) -> None:
    secret = await make(drive, bob, "secret.md")
    trashed = await make(drive, alice, "trashed.md")
    stale = await make(drive, alice, "stale.md")
    mine = await make(drive, alice, "mine.md")
    await drive.files.trash(alice, trashed.id)
    ghost = mine.model_copy(update={"id": "0" * 32})
    index.hits = [passage(secret), passage(trashed), passage(stale, version=7), passage(ghost), passage(mine)]
    for found in (await search.find(alice, "anything"), await search.semantic(alice, "anything")):
        assert names(found) == ["mine.md"]


async def test_rights_hold_at_once(drive: Drive, alice: Actor, bob: Actor) -> None:
    folder = await make_folder(drive, bob, "Team")
    await make(drive, bob, "handbook.md", LEAVE, folder.id)
    await drive.ingester.drain()

    async def seen() -> list[str]:
        by_name = await drive.search.find(alice, "handbook")
        by_text = await drive.search.find(alice, "birth")
        by_meaning = await drive.search.semantic(alice, "parental leave")
        assert names(by_name) == names(by_text) == names(by_meaning)
        return names(by_name)

    assert await seen() == []
    await drive.sharing.share(bob, folder.id, "alice@example.com", "viewer")
    assert await seen() == ["handbook.md"]
    await drive.files.trash(bob, folder.id)
    assert await seen() == []
    await drive.files.restore(bob, folder.id)
    await drive.ingester.drain()
    assert await seen() == ["handbook.md"]
    await drive.sharing.revoke(bob, folder.id, "alice@example.com")
    assert await seen() == []


async def test_a_hit_is_shown_as_the_caller_sees_the_item(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor, bob: Actor
) -> None:
    item = await make(drive, alice, "plan.md")
    await drive.sharing.share(alice, item.id, BOB, "viewer")
    index.hits = [passage(item)]
    hit = (await search.semantic(bob, "anything")).items[0]
    assert (hit.item.path, hit.item.role) == ("/Shared with me/plan.md", "viewer")
    assert index.asked[0]["owner_ids"] == (bob.user_id,)
    assert index.asked[0]["file_ids"] == (item.id,)


async def test_a_search_in_a_folder_stays_below_it(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor
) -> None:
    folder = await make_folder(drive, alice, "Reports")
    below = await make_folder(drive, alice, "plan of 2026", folder.id)
    inside = await make(drive, alice, "plan.md", parent=below.id)
    outside = await make(drive, alice, "plan outside.md")
    index.hits = [passage(outside), passage(inside)]
    assert names(await search.find(alice, "plan", folder=folder.id)) == ["plan.md", "plan of 2026"]
    assert names(await search.semantic(alice, "plan", folder="/Reports")) == ["plan.md"]
    assert index.asked[-1]["file_ids"] == (inside.id,)
    assert index.asked[-1]["owner_ids"] == ()


async def test_an_empty_folder_does_not_ask_the_index(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor
) -> None:
    folder = await make_folder(drive, alice, "Empty")
    index.hits = [passage(await make(drive, alice, "plan.md"))]
    assert names(await search.semantic(alice, "plan", folder=folder.id)) == []
    assert index.asked == []


async def test_a_folder_with_too_many_files_to_name_is_filtered_after_the_index(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drive_server.services.search.scope.MAX_NAMED_FILES", 1)
    folder = await make_folder(drive, alice, "Reports")
    inside = [await make(drive, alice, f"{number}.md", parent=folder.id) for number in range(2)]
    outside = await make(drive, alice, "outside.md")
    index.hits = [passage(outside), *(passage(item) for item in inside)]
    assert names(await search.semantic(alice, "anything", folder=folder.id)) == ["0.md", "1.md"]
    assert (index.asked[-1]["owner_ids"], index.asked[-1]["file_ids"]) == ((alice.user_id,), ())


async def test_of_other_peoples_files_the_index_is_never_asked_for_more_than_those_shared(
    drive: Drive,
    search: SearchService,
    index: ScriptedIndex,
    alice: Actor,
    bob: Actor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("drive_server.services.search.scope.MAX_NAMED_FILES", 1)
    monkeypatch.setattr("drive_server.services.search.scope.MAX_FOREIGN_FILES", 2)
    folder = await make_folder(drive, bob, "Team")
    given = [await make(drive, bob, f"{number}.md", parent=folder.id) for number in range(3)]
    await make(drive, bob, "private.md")
    await drive.sharing.share(bob, folder.id, "alice@example.com", "viewer")
    index.hits = [passage(item) for item in given]
    for place, owners in ((None, (alice.user_id,)), (folder.id, ())):
        found = await search.semantic(alice, "anything", folder=place)
        assert set(index.asked[-1]["file_ids"]) == {given[1].id, given[2].id}
        assert index.asked[-1]["owner_ids"] == owners
        assert "the text of the 2 that were changed last was searched" in found.note
    assert names(await search.find(alice, "0.md")) == ["0.md", "1.md", "2.md"]


async def test_the_limit_is_filled_though_most_of_what_the_index_answers_is_hidden(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor, bob: Actor
) -> None:
    hidden = await make(drive, bob, "hidden.md")
    mine = [await make(drive, alice, f"{number}.md") for number in range(3)]
    index.hits = [*[passage(hidden)] * 100, *(passage(item) for item in mine)]
    assert names(await search.semantic(alice, "anything", limit=2)) == ["0.md", "1.md"]
    assert names(await search.find(alice, "anything", limit=3)) == ["0.md", "1.md", "2.md"]
    limits = [asked["limit"] for asked in index.asked]
    assert max(limits) > 100


async def test_pages_go_on_from_names_to_texts_without_gaps_or_repeats(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor
) -> None:
    for number in range(3):
        await make(drive, alice, f"plan {number}.md")
    texts = [await make(drive, alice, f"{number}.md") for number in range(4)]
    index.hits = [passage(item, score=1 / (place + 1)) for place, item in enumerate(texts)]
    seen: list[str] = []
    scores: list[float] = []
    cursor = None
    for _ in range(4):
        page = await search.find(alice, "plan", limit=2, cursor=cursor)
        seen += names(page)
        scores += [hit.score for hit in page.items]
        cursor = page.cursor
    assert seen == ["plan 0.md", "plan 1.md", "plan 2.md", "0.md", "1.md", "2.md", "3.md"]
    assert cursor is None
    assert scores == sorted(scores, reverse=True)


class MeddlingIndex(ScriptedIndex):
    """An index that does `meddle` while it answers."""

    meddle: Callable[[], Awaitable[Any]] | None = None

    async def search(self, query: str, **filters: Any) -> list[IndexHit]:
        found = await super().search(query, **filters)
        if self.meddle is not None:
            await self.meddle()
        return found


async def test_what_is_revoked_while_the_index_answers_is_made_up_for(drive: Drive, alice: Actor, bob: Actor) -> None:
    index = MeddlingIndex()
    search = SearchService(drive.database, index)  # type: ignore[arg-type] # the part of the index that search uses
    folder = await make_folder(drive, bob, "Team")
    given = [await make(drive, bob, f"plan {number}.md", parent=folder.id) for number in range(2)]
    mine = [await make(drive, alice, f"{number}.md") for number in range(3)]
    index.hits = [passage(item) for item in (*given, *mine)]
    for call in (search.find, search.semantic):
        await drive.sharing.share(bob, folder.id, "alice@example.com", "viewer")
        index.meddle = lambda: drive.sharing.revoke(bob, folder.id, "alice@example.com")
        found = await call(alice, "plan", limit=3)
        assert names(found) == ["0.md", "1.md", "2.md"]
        assert found.cursor is None
        index.meddle = None


async def test_after_a_revoke_the_next_page_is_as_if_the_files_had_never_been(
    drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor, bob: Actor
) -> None:
    folder = await make_folder(drive, bob, "Team")
    given = [await make(drive, bob, f"plan {number}.md", parent=folder.id) for number in range(4)]
    mine = [await make(drive, alice, f"{number}.md") for number in range(3)]
    await drive.sharing.share(bob, folder.id, "alice@example.com", "viewer")
    await drive.ingester.drain()
    await set_state(drive, given[3], "pending")
    index.hits = [passage(item) for item in (*given, *mine)]
    first = await search.find(alice, "plan", limit=2)
    assert names(first) == ["plan 0.md", "plan 1.md"]
    assert first.note

    await drive.sharing.revoke(bob, folder.id, "alice@example.com")
    second = await search.find(alice, "plan", limit=2, cursor=first.cursor)
    third = await search.find(alice, "plan", limit=2, cursor=second.cursor)

    assert (names(second), names(third)) == (["0.md", "1.md"], ["2.md"])
    assert (second.note, third.note, third.cursor) == ("", "", None)
    assert index.asked[-1]["file_ids"] == ()


async def test_what_others_have_changes_neither_the_answer_nor_how_the_index_is_asked(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    index = KnowledgeIndexWithDiary(drive)
    search = SearchService(drive.database, index)  # type: ignore[arg-type] # the part of the index that search uses
    for number in range(3):
        await make(drive, alice, f"{number}.md", f"The merger of {number} companies and a {'lunch ' * number} break.")
    await drive.ingester.drain()

    async def answers() -> list[Any]:
        index.asked.clear()
        pages: list[Any] = []
        for query in ("merger", "merger lunch", "acquisition of zebras", "plan"):
            page = await search.find(alice, query, limit=2)
            pages += [page, await search.find(alice, query, limit=2, cursor=page.cursor) if page.cursor else None]
            pages.append(await search.semantic(alice, query, limit=2))
        return [pages, list(index.asked)]

    before = await answers()
    await make_folder(drive, bob, "plan merger")
    for number in range(30):
        await make(drive, bob, f"plan {number}.md", "The merger of zebras. " * (number + 1))
    assert await answers() == before
    await drive.ingester.drain()
    assert await answers() == before


async def test_nobody_searches_by_a_link(drive: Drive, alice: Actor) -> None:
    visitor = replace(alice, principal=replace(alice.principal, email="", method="link", link_id="0" * 32))
    for call in (drive.search.find(visitor, "plan"), drive.search.semantic(visitor, "plan")):
        with pytest.raises(ForbiddenError):
            await call


async def test_a_kind_can_be_asked_for(drive: Drive, search: SearchService, index: ScriptedIndex, alice: Actor) -> None:
    await make_folder(drive, alice, "plans")
    named = await make(drive, alice, "plan.md")
    index.hits = [passage(named)]
    assert names(await search.find(alice, "plan", kind="folder")) == ["plans"]
    assert index.asked == []
    assert names(await search.find(alice, "plan", kind="file")) == ["plan.md"]


async def test_what_is_not_indexed_yet_is_told_and_found_by_name(
    drive: Drive, search: SearchService, alice: Actor, bob: Actor
) -> None:
    items = [await make(drive, alice, name) for name in ("plan.md", "b.md")]
    await drive.ingester.drain()
    await set_state(drive, items[0], "pending")
    found = await search.find(alice, "plan")
    assert names(found) == ["plan.md"]
    assert found.note == "1 file is not indexed yet, so its text was not searched."
    chinese = await search.find(alice, "plan", language="zh")
    assert chinese.note == "还有 1 个文件尚未建立索引，未搜索其中的内容。"
    await set_state(drive, items[1], "indexing")
    assert (await search.semantic(alice, "plan")).note.startswith("2 files are not indexed yet")
    assert (await search.find(bob, "plan")).note == ""
    await set_state(drive, items[0], "unsupported")
    assert (await search.find(alice, "plan")).note.startswith("1 file is")


async def test_a_query_without_words_or_beyond_the_limit_is_refused(drive: Drive, alice: Actor) -> None:
    for query in ("", " ", "\t\n", "\u3000", "\x00", "a\x00b", "\ud800", "x" * 1001, "好" * 100_000):
        for call in (drive.search.find(alice, query), drive.search.semantic(alice, query)):
            with pytest.raises(InvalidInputError):
                await call


async def test_any_other_query_is_answered(drive: Drive, alice: Actor) -> None:
    await make(drive, alice, "handbook.md", LEAVE)
    await drive.ingester.drain()
    plain = ["x" * 1000, "a " * 500, "AND OR NOT", "🚀", "مرحبا", "😀" * 500]
    for query in [*plain, '"', "*", "a:b^2~1", "(", "'; --", "%", "\\", "+-/", "[[[", "{}", "NEAR(a b)", "leave^"]:
        assert len((await drive.search.find(alice, query)).items) <= 1
        assert len((await drive.search.semantic(alice, query)).items) <= 1


async def test_senseless_arguments_are_refused(drive: Drive, alice: Actor) -> None:
    senseless: list[dict[str, Any]] = [
        *({"limit": limit} for limit in (0, -1)),
        *({"kind": kind} for kind in ("link", "", "FILE")),
        *({"cursor": cursor} for cursor in ("", "WyJhIl0", "\ud800", "😀")),
    ]
    for arguments in senseless:
        with pytest.raises(InvalidInputError):
            await drive.search.find(alice, "plan", **arguments)


async def test_a_folder_of_somebody_else_does_not_exist(drive: Drive, alice: Actor, bob: Actor) -> None:
    folder = await make_folder(drive, bob, "Private")
    answers: list[str] = []
    for ref in (folder.id, "0" * 32, "/no/such", "\x00"):
        for call in (drive.search.find(alice, "plan", folder=ref), drive.search.semantic(alice, "plan", folder=ref)):
            with pytest.raises(NotFoundError) as caught:
                await call
            answers.append(caught.value.message)
    assert len(set(answers)) == 1


async def test_a_file_is_no_place_to_search_in(drive: Drive, alice: Actor) -> None:
    item = await make(drive, alice, "plan.md")
    with pytest.raises(InvalidInputError):
        await drive.search.find(alice, "plan", folder=item.id)


async def test_search_needs_the_scope_read(drive: Drive, alice: Actor) -> None:
    blind = with_scopes(alice, Scope.WRITE, Scope.SHARE, Scope.DELETE)
    for call in (drive.search.find(blind, "plan"), drive.search.semantic(blind, "plan")):
        with pytest.raises(MissingScopeError):
            await call
