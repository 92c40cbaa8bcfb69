from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import InvalidCursorError, MissingScopeError
from drive_server.services.files import recent as module
from drive_server.services.files.recent import Recents
from tests.drive_server.actors import with_scopes

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


class Clock:
    """A clock that is ahead of all times in the store, and moves on at each call."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC) + timedelta(hours=1)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def recents(store: Store) -> Recents:
    return Recents(store.database, Clock())


async def names(recents: Recents, actor: Actor, size: int = 100) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = await recents.page(actor, size, cursor)
        found += [item.name for item in page.items]
        cursor = page.cursor
        if cursor is None:
            return found


async def test_what_was_changed_last_comes_first(store: Store, ana: Actor, recents: Recents) -> None:
    for letter in "abc":
        await store.file(ana, f"/{letter}.md")
    await store.documents.write_text(ana, "/a.md", "new")
    await store.folder(ana, "/Folder")

    assert await names(recents, ana) == ["a.md", "c.md", "b.md"]


async def test_what_was_read_counts_too_and_is_kept(store: Store, ana: Actor, ben: Actor, recents: Recents) -> None:
    items = {letter: await store.file(ana, f"/{letter}.md") for letter in "abc"}
    recents.note_read(ana, items["a"].id)
    recents.note_read(ben, items["b"].id)
    at_once = await names(recents, ana)
    await recents.flush()
    await recents.flush()

    assert at_once == await names(recents, ana) == ["a.md", "c.md", "b.md"]
    assert await names(Recents(store.database), ana) == ["a.md", "c.md", "b.md"]
    assert await names(recents, ben) == []


async def test_what_others_share_counts_and_what_they_take_back_does_not(
    store: Store, ana: Actor, ben: Actor, recents: Recents
) -> None:
    await store.file(ben, "/mine.md")
    await store.folder(ana, "/Shared")
    item = await store.file(ana, "/Shared/theirs.md")
    await store.sharing.share(ana, "/Shared", "ben@example.com", "viewer")
    recents.note_read(ben, item.id)
    shared = await names(recents, ben)
    await store.sharing.revoke(ana, "/Shared", "ben@example.com")

    assert shared == ["theirs.md", "mine.md"]
    assert await names(recents, ben) == ["mine.md"]


async def test_the_trash_is_not_recent(store: Store, ana: Actor, recents: Recents) -> None:
    for letter in "ab":
        item = await store.file(ana, f"/{letter}.md")
        recents.note_read(ana, item.id)
    await store.files.trash(ana, "/a.md")

    assert await names(recents, ana) == ["b.md"]


async def test_pages_keep_the_order_of_the_first_while_others_write_and_read(
    store: Store, ana: Actor, recents: Recents
) -> None:
    for number in range(10):
        await store.file(ana, f"/{number}.md")
    first = await recents.page(ana, 3)
    await store.documents.write_text(ana, "/0.md", "new")
    await store.documents.write_text(ana, "/9.md", "new")
    await store.files.rename(ana, "/5.md", "five.md")
    await store.file(ana, "/new.md")
    recents.note_read(ana, (await store.files.get(ana, "/1.md")).id)
    second = await recents.page(ana, 3, first.cursor)
    third = await recents.page(ana, 5, second.cursor)

    found = [item.name for page in (first, second, third) for item in page.items]
    assert found == ["9.md", "8.md", "7.md", "6.md", "five.md", "4.md", "3.md", "2.md", "1.md", "0.md"]
    assert third.cursor is None


async def test_only_so_much_is_recent_and_remembered(
    store: Store, ana: Actor, recents: Recents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_RECENT", 3)
    for letter in "abcde":
        recents.note_read(ana, (await store.file(ana, f"/{letter}.md")).id)
    await recents.flush()

    assert await names(recents, ana, 2) == ["e.md", "d.md", "c.md"]
    monkeypatch.setattr(module, "MAX_RECENT", 1000)
    for letter in "abcde":
        await store.files.trash(ana, f"/{letter}.md")
        await store.files.restore(ana, (await store.files.list_trash(ana)).items[0].id)
    assert (await names(recents, ana))[:3] == ["e.md", "d.md", "c.md"]


async def test_a_cursor_is_good_for_its_person_and_needs_the_scope(
    store: Store, ana: Actor, ben: Actor, recents: Recents
) -> None:
    for letter in "ab":
        await store.file(ana, f"/{letter}.md")
    cursor = (await recents.page(ana, 1)).cursor

    with pytest.raises(InvalidCursorError):
        await recents.page(ben, 1, cursor)
    with pytest.raises(InvalidCursorError):
        await recents.page(ana, 1, "x")
    with pytest.raises(MissingScopeError):
        await recents.page(with_scopes(ana, Scope.WRITE), 1)
