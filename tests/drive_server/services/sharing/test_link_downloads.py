from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.services.sharing.link_downloads import (
    KEPT_SECONDS,
    PIECE_BYTES,
    Fetch,
    MemoryDownloads,
)
from tests.fakes.clock import Seconds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SIZE = 1000


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def downloads(seconds: Seconds) -> MemoryDownloads:
    return MemoryDownloads(seconds)


def part(wanted: int, *, address: str = "10.0.0.1", blob: str = "b", is_part: bool = True) -> Fetch:
    return Fetch("link", blob, address, SIZE, wanted, is_part)


WHOLE = part(SIZE, is_part=False)


async def is_counted_already(downloads: MemoryDownloads, fetch: Fetch) -> bool:
    async with downloads.entered(fetch) as known:
        return known


async def chunks(*sizes: int) -> AsyncIterator[bytes]:
    for size in sizes:
        yield bytes(size)


async def test_a_whole_file_is_a_new_download_each_time(downloads: MemoryDownloads) -> None:
    assert not await is_counted_already(downloads, WHOLE)
    assert not await is_counted_already(downloads, WHOLE)


async def test_parts_are_one_download_until_they_are_more_than_the_file(downloads: MemoryDownloads) -> None:
    assert [await is_counted_already(downloads, part(250)) for _ in range(4)] == [False, True, True, True]
    assert await is_counted_already(downloads, part(100))
    assert not await is_counted_already(downloads, part(1))


async def test_what_a_broken_connection_left_can_be_fetched(downloads: MemoryDownloads) -> None:
    assert not await is_counted_already(downloads, WHOLE)
    sending = downloads.metered(WHOLE, chunks(300, 300, 400))
    assert [len(await anext(sending)), len(await anext(sending))] == [300, 300]
    await sending.aclose()  # pyright: ignore[reportAttributeAccessIssue] - a generator, of which one only sees the iterator

    assert await is_counted_already(downloads, part(500))
    assert not await is_counted_already(downloads, part(500))


async def test_who_breaks_off_while_taking_each_piece_does_not_get_the_file_for_nothing(
    downloads: MemoryDownloads,
) -> None:
    assert not await is_counted_already(downloads, WHOLE)
    first = downloads.metered(WHOLE, chunks(SIZE))
    assert len(await anext(first)) == SIZE
    await first.aclose()  # pyright: ignore[reportAttributeAccessIssue] - a generator, of which one only sees the iterator

    assert not await is_counted_already(downloads, part(SIZE))


async def test_a_large_chunk_is_handed_over_in_pieces_and_only_those_count(downloads: MemoryDownloads) -> None:
    size = 4 * PIECE_BYTES + 1
    whole = Fetch("link", "b", "10.0.0.1", size, size, is_part=False)
    assert not await is_counted_already(downloads, whole)
    sending = downloads.metered(whole, chunks(size))
    assert len(await anext(sending)) == PIECE_BYTES
    await sending.aclose()  # pyright: ignore[reportAttributeAccessIssue] - a generator, of which one only sees the iterator
    rest = whole._replace(wanted=size - PIECE_BYTES, is_part=True)

    assert await is_counted_already(downloads, rest)
    assert [len(piece) async for piece in downloads.metered(rest, chunks(rest.wanted))] == [PIECE_BYTES] * 3 + [1]
    assert not await is_counted_already(downloads, rest)


async def test_what_was_sent_is_not_given_back(downloads: MemoryDownloads) -> None:
    assert not await is_counted_already(downloads, WHOLE)
    assert sum([len(chunk) async for chunk in downloads.metered(WHOLE, chunks(500, 500))]) == SIZE
    assert not await is_counted_already(downloads, part(SIZE))


async def test_another_address_or_another_content_is_another_download(downloads: MemoryDownloads) -> None:
    assert not await is_counted_already(downloads, part(10))
    assert not await is_counted_already(downloads, part(10, address="10.0.0.2"))
    assert not await is_counted_already(downloads, part(10, blob="c"))
    assert await downloads.has_begun("link", "10.0.0.2")
    assert not await downloads.has_begun("link", "10.0.0.3")
    assert not await downloads.has_begun("other", "10.0.0.2")


async def test_a_download_that_was_refused_has_not_begun(downloads: MemoryDownloads) -> None:
    with pytest.raises(KeyError):
        async with downloads.entered(part(10)):
            raise KeyError
    assert not await downloads.has_begun("link", "10.0.0.1")
    assert not await is_counted_already(downloads, part(10))


async def test_after_a_day_it_is_a_new_one(downloads: MemoryDownloads, seconds: Seconds) -> None:
    assert not await is_counted_already(downloads, part(10))
    seconds.now += KEPT_SECONDS
    assert not await downloads.has_begun("link", "10.0.0.1")
    assert not await is_counted_already(downloads, part(10))


async def test_parts_that_come_at_once_are_counted_once(downloads: MemoryDownloads) -> None:
    known: list[bool] = []

    async def fetch() -> None:
        async with downloads.entered(part(200)) as is_known:
            await anyio.lowlevel.checkpoint()
            known.append(is_known)

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(fetch)

    assert sorted(known) == [False, True, True, True, True]
