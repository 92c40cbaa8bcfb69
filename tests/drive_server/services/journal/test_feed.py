from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.services.journal import feed as module
from drive_server.services.journal.feed import ChangeFeed, Recorded, audience_of, places_of

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


class Heard:
    """Listens, and fails when told to."""

    def __init__(self) -> None:
        self.changes: list[Recorded] = []
        self.is_wanted = True
        self.fails = False
        self._came = anyio.Event()

    def is_listening(self) -> bool:
        return self.is_wanted

    async def hear(self, changes: list[Recorded], around: frozenset[str]) -> None:
        del around
        self.changes += changes
        self._came.set()
        if self.fails:
            raise RuntimeError("the listener is broken")

    async def until(self, count: int) -> None:
        with anyio.fail_after(20):
            while len(self.changes) < count:
                self._came = anyio.Event()
                await self._came.wait()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def feed(store: Store, heard: Heard) -> ChangeFeed:
    feed = ChangeFeed(store.database)
    feed.listeners.append(heard)
    await feed.start()
    return feed


async def test_a_change_is_told_by_what_it_touched(store: Store, ana: Actor, feed: ChangeFeed, heard: Heard) -> None:
    folder = await store.folder(ana, "/A")
    item = await store.file(ana, "/A/a.md")
    await store.files.rename(ana, item.id, "b.md")
    await store.files.move(ana, item.id, "/")
    await store.sharing.share(ana, folder.id, "ben@example.com", "viewer")
    root = await store.files.get(ana, "/")
    await feed.catch_up()
    await feed.catch_up()
    made, created, renamed, moved, shared = heard.changes

    assert [change.id for change in heard.changes] == sorted({change.id for change in heard.changes})
    assert (made.items, made.folders, made.people) == ({folder.id}, {root.id}, {ana.user_id})
    assert (created.items, created.folders, created.roots) == ({item.id}, {folder.id}, set())
    assert (renamed.items, renamed.roots) == ({item.id}, {item.id})
    assert (moved.folders, moved.roots) == ({folder.id, root.id}, {item.id})
    assert (shared.items, shared.roots, shared.people) == ({folder.id}, {folder.id}, {"ben@example.com"})


async def test_many_changes_are_told_in_order_and_two_that_look_at_once_tell_each_once(
    store: Store, ana: Actor, feed: ChangeFeed, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_AT_ONCE", 3)
    for number in range(10):
        await store.folder(ana, f"/{number}")
    async with anyio.create_task_group() as group:
        group.start_soon(feed.catch_up)
        group.start_soon(feed.catch_up)

    numbers = [change.id for change in heard.changes]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 10


async def test_what_passes_while_nobody_listens_is_not_told_later(
    store: Store, ana: Actor, feed: ChangeFeed, heard: Heard
) -> None:
    heard.is_wanted = False
    await store.folder(ana, "/A")
    await feed.catch_up()
    heard.is_wanted = True
    later = await store.folder(ana, "/B")
    await feed.catch_up()

    assert [change.items for change in heard.changes] == [{later.id}]


async def test_changes_of_another_process_are_noticed_without_being_woken(
    store: Store, ana: Actor, feed: ChangeFeed, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    async with anyio.create_task_group() as group:
        group.start_soon(feed.run)
        await store.folder(ana, "/A")
        await heard.until(1)
        group.cancel_scope.cancel()


async def test_a_listener_that_fails_is_logged_and_told_the_next_change(
    store: Store, ana: Actor, feed: ChangeFeed, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    heard.fails = True
    async with anyio.create_task_group() as group:
        group.start_soon(feed.run)
        for number in range(2):
            await store.folder(ana, f"/{number}")
            feed.wake()
            await heard.until(number + 1)
        group.cancel_scope.cancel()

    assert len(heard.changes) == 2
    assert "Changes could not be delivered." in caplog.text


async def test_what_is_deleted_for_good_is_a_change_of_all_that_was_in_it(
    store: Store, ana: Actor, feed: ChangeFeed, heard: Heard
) -> None:
    folder = await store.folder(ana, "/A")
    item = await store.file(ana, "/A/a.md")
    await store.files.trash(ana, folder.id)
    await store.files.delete_for_good(ana, folder.id)
    await feed.catch_up()

    assert {folder.id, item.id} <= heard.changes[-1].items


async def test_people_around_a_change_are_those_who_see_or_saw_it(
    store: Store, ana: Actor, ben: Actor, feed: ChangeFeed, heard: Heard
) -> None:
    await store.folder(ana, "/A")
    await store.sharing.share(ana, "/A", "ben@example.com", "viewer")
    await store.file(ana, "/A/a.md")
    await store.file(ana, "/b.md")
    await feed.catch_up()
    async with store.database.read() as session:
        around = [await audience_of(session, [change]) for change in heard.changes[2:]]
    await store.sharing.revoke(ana, "/A", "ben@example.com")
    await feed.catch_up()
    async with store.database.read() as session:
        revoked = await audience_of(session, heard.changes[-1:])

    assert around == [{ana.user_id, "ben@example.com"}, {ana.user_id}]
    assert revoked == {ana.user_id, "ben@example.com"}
    assert ben.user_id not in revoked


async def test_no_change_is_a_change_of_what_it_has_nothing_to_do_with(
    store: Store, ana: Actor, feed: ChangeFeed, heard: Heard
) -> None:
    inside = await store.folder(ana, "/A")
    item = await store.file(ana, "/A/a.md")
    other = await store.file(ana, "/b.md")
    await store.documents.write_text(ana, item.id, "two")
    await feed.catch_up()
    async with store.database.read() as session:
        places = await places_of(session, heard.changes[-1:], {inside.id, item.id, other.id, "unknown"})

    assert places.keys() == {inside.id, item.id}
