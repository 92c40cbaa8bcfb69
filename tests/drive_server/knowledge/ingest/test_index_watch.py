from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import anyio

from drive_server.knowledge.ingest.ingester import IndexWatch
from drive_server.models.search import IndexStatus

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

PATIENCE = 30


async def add(drive: Drive, actor: Actor, name: str, text: str = "Nothing but noodles. 只有面条。") -> None:
    await drive.documents.create(actor, "root", name, text)


async def test_the_first_status_comes_at_once_and_the_same_one_is_no_news(drive: Drive, alice: Actor) -> None:
    watch = IndexWatch(drive.ingester, alice.user_id)

    assert await watch.next(PATIENCE) == IndexStatus()
    assert await watch.poll() is None
    assert await watch.next(0) is None


async def test_a_file_is_seen_until_it_can_be_searched(drive: Drive, alice: Actor) -> None:
    watch = IndexWatch(drive.ingester, alice.user_id)
    await watch.poll()
    await add(drive, alice, "面条.txt")

    seen: list[IndexStatus] = []
    with anyio.fail_after(PATIENCE):
        while not seen or seen[-1].unfinished:
            status = await watch.next(PATIENCE)
            assert status is not None
            seen.append(status)

    assert seen[-1].counts == {"ready": 1}
    assert all(earlier != later for earlier, later in pairwise(seen))


async def test_what_others_add_is_not_told(drive: Drive, alice: Actor, bob: Actor) -> None:
    watch = IndexWatch(drive.ingester, alice.user_id)
    await watch.poll()
    await add(drive, bob, "bobs.txt")
    await drive.ingester.drain()

    assert await watch.poll() is None
