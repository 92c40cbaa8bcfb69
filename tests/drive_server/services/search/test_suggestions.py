from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import MissingScopeError
from drive_server.services.search import suggestions as module
from drive_server.services.search.suggestions import SuggestionService
from tests.drive_server.actors import with_scopes

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Kind
    from tests.drive_server.store import Store


@pytest.fixture
def suggestions(store: Store) -> SuggestionService:
    return SuggestionService(store.database)


async def values(suggestions: SuggestionService, actor: Actor, typed: str, kind: Kind = "file") -> list[str]:
    return list((await suggestions.items(actor, typed, kind)).values)


async def test_names_are_found_by_their_beginning_first_then_by_what_is_in_them(
    store: Store, ana: Actor, suggestions: SuggestionService
) -> None:
    await store.folder(ana, "/Planning")
    for name in ("/plan.md", "/Planning/my plan.md", "/计划 📎.md", "/other.md"):
        await store.file(ana, name)

    assert await values(suggestions, ana, "PLAN") == ["/plan.md", "/Planning/my plan.md"]
    assert await values(suggestions, ana, "计划") == ["/计划 📎.md"]
    assert await values(suggestions, ana, "plan", "folder") == ["/Planning"]
    assert await values(suggestions, ana, "nothing like it") == []


async def test_paths_go_on_from_what_is_typed(store: Store, ana: Actor, suggestions: SuggestionService) -> None:
    await store.folder(ana, "/Reports")
    await store.folder(ana, "/Reports/2026")
    for name in ("/Reports/plan.md", "/Reports/2026/plan.md", "/Reports/2026/budget.md", "/r.md"):
        await store.file(ana, name)

    assert await values(suggestions, ana, "/Reports/pl") == ["/Reports/plan.md"]
    assert await values(suggestions, ana, "/rep") == [
        "/Reports/plan.md",
        "/Reports/2026/budget.md",
        "/Reports/2026/plan.md",
    ]
    assert await values(suggestions, ana, "Reports/2026/B") == ["/Reports/2026/budget.md"]
    assert await values(suggestions, ana, "/Reports/", "folder") == ["/Reports/2026"]
    assert await values(suggestions, ana, "/No/such/") == []


async def test_nothing_typed_suggests_what_was_changed_last(
    store: Store, ana: Actor, suggestions: SuggestionService
) -> None:
    for letter in "ab":
        await store.file(ana, f"/{letter}.md")

    assert await values(suggestions, ana, "") == ["/b.md", "/a.md"]


async def test_an_id_is_completed_to_itself(store: Store, ana: Actor, suggestions: SuggestionService) -> None:
    item = await store.file(ana, "/a.md")

    assert await values(suggestions, ana, item.id) == ["/a.md"]
    assert await values(suggestions, ana, item.id, "folder") == []


async def test_rights_hold_at_once(store: Store, ana: Actor, ben: Actor, suggestions: SuggestionService) -> None:
    await store.folder(ana, "/Private")
    await store.file(ana, "/Private/plan.md")
    assert await values(suggestions, ben, "plan") == []
    await store.sharing.share(ana, "/Private", "ben@example.com", "viewer")
    shared = await values(suggestions, ben, "plan")
    by_path = await values(suggestions, ben, "/shared with")
    await store.sharing.revoke(ana, "/Private", "ben@example.com")

    assert shared == by_path == ["/Shared with me/Private/plan.md"]
    assert (await store.files.list_folder(ben, "/")).items == ()
    assert await values(suggestions, ben, "plan") == await values(suggestions, ben, "/shared with") == []
    with pytest.raises(MissingScopeError):
        await suggestions.items(with_scopes(ana, Scope.WRITE), "plan", "file")


async def test_every_value_can_be_used_as_it_is(
    store: Store, ana: Actor, ben: Actor, suggestions: SuggestionService
) -> None:
    carl = await store.person("carl@example.com")
    for giver in (ana, carl):
        await store.file(giver, "/plan.md")
        await store.sharing.share(giver, "/plan.md", "ben@example.com", "viewer")
    await store.file(ana, "/only plan.md")
    await store.sharing.share(ana, "/only plan.md", "ben@example.com", "viewer")

    for is_hidden in (False, True):
        if is_hidden:
            await store.folder(ben, "/Shared with me")
        found = await values(suggestions, ben, "plan")
        assert len({(await store.files.get(ben, value)).id for value in found}) == 3


async def test_the_trash_is_not_suggested(store: Store, ana: Actor, suggestions: SuggestionService) -> None:
    item = await store.file(ana, "/plan.md")
    await store.files.trash(ana, item.id)

    for typed in ("", "plan", "/pl", item.id):
        assert await values(suggestions, ana, typed) == []


@pytest.mark.parametrize(
    "typed", ["\0", "/\0", "\ud800", "/\ud800", "%", "_", "\\", "x" * 100_000, "/" * 5000, "../.."]
)
async def test_nonsense_suggests_nothing(store: Store, ana: Actor, suggestions: SuggestionService, typed: str) -> None:
    await store.file(ana, "/plan.md")

    assert await values(suggestions, ana, typed) == []


async def test_at_most_a_hundred_are_suggested_and_the_rest_is_counted(
    store: Store, ana: Actor, suggestions: SuggestionService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SUGGESTIONS", 3)
    for number in range(5):
        await store.file(ana, f"/plan {number}.md")

    for typed, total in (("plan", 5), ("/plan", 5), ("", None)):
        found = await suggestions.items(ana, typed, "file")
        assert (len(found.values), found.total, found.has_more) == (3, total, True)


async def test_people_are_those_one_shares_with(
    store: Store, ana: Actor, ben: Actor, suggestions: SuggestionService
) -> None:
    await store.person("stranger@example.com")
    await store.file(ana, "/a.md")
    for email in ("ben@example.com", "zoe.ben@example.com"):
        await store.sharing.share(ana, "/a.md", email, "viewer")

    assert (await suggestions.people(ana, "ben")).values == ("ben@example.com", "zoe.ben@example.com")
    assert (await suggestions.people(ana, "")).total == 2
    assert (await suggestions.people(ana, "stranger")).values == ()
    assert (await suggestions.people(ben, "")).values == ("ana@example.com",)
