"""Two processes on one PostgreSQL database: a change that is committed after one of a higher number is not missed."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.services.journal.feed import ChangeFeed, Recorded
from drive_server.services.journal.following import ChangeFollower
from drive_server.storage.journal_numbers import Numbers, read_numbers
from drive_server.storage.tables.journal import ChangeRow
from tests.databases import new_url
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.kernel.access import Actor


class Heard:
    """A listener that keeps the numbers of what it hears."""

    def __init__(self) -> None:
        self.ids: list[int] = []

    def is_listening(self) -> bool:
        return True

    async def hear(self, changes: list[Recorded], around: frozenset[str]) -> None:
        del around
        self.ids.extend(change.id for change in changes)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    url = new_url()
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(open_store(tmp_path, url)) for _ in range(2)]
        yield first, second


class SlowChange:
    """A change of a person that has its number, and is not committed until `commit`."""

    def __init__(self, store: Store, actor: Actor) -> None:
        self.store = store
        self.actor = actor
        self.id = 0
        self._writing = AsyncExitStack()

    async def begin(self) -> None:
        """Take the person's turn and a number."""
        self.session = session = await self._writing.enter_async_context(self.store.database.write(self.actor.user_id))
        row = ChangeRow(
            at=datetime.now(UTC),
            user_id=self.actor.user_id,
            method="in_process",
            tool="test",
            arguments_digest="",
            action="test",
            summary="test",
            entries=[],
            result={},
        )
        session.add(row)
        await session.flush()
        self.id = row.id

    async def commit(self) -> None:
        """End it."""
        await self._writing.aclose()

    async def fail(self) -> None:
        """Take it back."""
        error = ZeroDivisionError()
        with suppress(ZeroDivisionError):
            await self._writing.__aexit__(ZeroDivisionError, error, None)


async def listening(stores: tuple[Store, Store], changing: Actor) -> tuple[ChangeFeed, Heard, SlowChange]:
    """Return the second store's feed with a listener, and a change that has begun in the first store."""
    feed, heard = ChangeFeed(stores[1].database), Heard()
    feed.listeners.append(heard)
    await feed.start()
    slow = SlowChange(stores[0], changing)
    await slow.begin()
    return feed, heard, slow


async def test_the_feed_tells_a_change_that_commits_late_and_in_the_order_of_numbers(
    stores: tuple[Store, Store],
) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    feed, heard, slow = await listening(stores, ana)
    await stores[1].folder(ben, "/quick")
    quick = slow.id + 1

    await feed.catch_up()
    assert heard.ids == []
    await slow.commit()
    await feed.catch_up()
    assert heard.ids == [slow.id, quick]


async def test_a_feed_that_runs_tells_a_late_change_by_itself(stores: tuple[Store, Store]) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    feed, heard, slow = await listening(stores, ana)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(feed.run)
        await stores[1].folder(ben, "/quick")
        feed.wake()
        await slow.commit()
        with anyio.fail_after(30):
            while len(heard.ids) < 2:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert heard.ids == [slow.id, slow.id + 1]


async def test_a_change_that_ends_without_commit_holds_nothing_back(stores: tuple[Store, Store]) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    feed, heard, slow = await listening(stores, ana)
    await stores[1].folder(ben, "/quick")
    await slow.fail()
    await feed.catch_up()
    assert heard.ids == [slow.id + 1]


async def test_who_begins_to_follow_meanwhile_misses_no_change_that_commits_late(stores: tuple[Store, Store]) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    slow = SlowChange(stores[0], ana)
    await slow.begin()
    await stores[1].folder(ben, "/quick")
    feed, heard = ChangeFeed(stores[1].database), Heard()
    await feed.start()
    feed.listeners.append(heard)
    await slow.commit()
    await feed.catch_up()
    assert slow.id in heard.ids


async def test_a_folders_events_have_both_and_go_on_after_either(stores: tuple[Store, Store]) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    shared = await stores[0].folder(ben, "/shared")
    await stores[0].sharing.share(ben, shared.id, "ana@example.com", "editor")
    feed = ChangeFeed(stores[1].database)
    follower = ChangeFollower(stores[1].database, feed)
    watch = await follower.watch(ana, shared.id)
    slow = SlowChange(stores[0], ana)
    await slow.begin()
    inside = await stores[1].folder(ben, "/shared/quick")

    assert await watch.next(0.1) == []
    assert watch.last < slow.id
    await slow.commit()
    await feed.catch_up()
    (told,) = await watch.next(5)
    assert (told.id, told.item_ids) == (slow.id + 1, (inside.id,))


async def test_numbers_are_others_after_each_commit(stores: tuple[Store, Store]) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")

    async def now() -> Numbers:
        return await stores[1].database.look(read_numbers)

    seen = [await now()]
    slow = SlowChange(stores[0], ana)
    await slow.begin()
    await stores[1].folder(ben, "/quick")
    seen.append(await now())
    assert not seen[-1].are_settled
    await slow.commit()
    seen.append(await now())
    assert seen[-1].are_settled
    assert len({*seen}) == 3
