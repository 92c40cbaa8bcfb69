"""Counting of downloads by link: the bytes of a file once, in however many pieces they are fetched."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, NamedTuple

import anyio

MOST_DOWNLOADS: Final = 10_000
KEPT_SECONDS: Final = 24 * 3600.0
# Of what was sent when a connection broke, a part never arrived, and is fetched again.
SPARE_SHARE: Final = 10
# What is handed over counts as sent, whether it arrived or not: the less at a time, the less a broken connection costs.
PIECE_BYTES: Final = 64 * 1024


class Fetch(NamedTuple):
    """A part of a content that an address asks for by a link. Sizes in bytes; `is_part`: the request has a range."""

    link_id: str
    blob: str
    address: str
    size: int
    wanted: int
    is_part: bool

    @property
    def key(self) -> tuple[str, str, str]:
        """The link, the file and the address that the download belongs to."""
        return (self.link_id, self.blob, self.address)


@dataclass(slots=True)
class _Begun:
    at: float
    left: int = 0
    lock: anyio.Lock = field(default_factory=anyio.Lock)


class LinkDownloads:
    """Knows, in this process, how much of each download that was counted is still to be fetched.

    A request for a whole file is a new download. One for a part belongs to the download of that content which the
    same address has begun, as long as all its parts together are no more than the file and a tenth of it; what a
    broken connection left unsent is given back. After a day, or a restart, the next part counts as a new download.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._begun: OrderedDict[tuple[str, str, str], _Begun] = OrderedDict()

    def has_begun(self, link_id: str, address: str) -> bool:
        """Return whether the address has begun a download and not fetched all of it."""
        now = self._clock()
        return any(
            begun.left > 0 and now - begun.at < KEPT_SECONDS
            for (link, _, by), begun in self._begun.items()
            if (link, by) == (link_id, address)
        )

    @asynccontextmanager
    async def entered(self, fetch: Fetch) -> AsyncGenerator[bool]:
        """Take what is wanted out of a download that has begun: False if it is a new one, which has to be counted."""
        begun = self._find(fetch)
        async with begun.lock:
            if fetch.is_part and fetch.wanted <= begun.left:
                begun.left -= fetch.wanted
                yield True
                return
            yield False
            begun.at = self._clock()
            begun.left += fetch.size + fetch.size // SPARE_SHARE - fetch.wanted

    async def metered(self, fetch: Fetch, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the chunks on in small pieces, each counted before it is sent; give back those never handed over."""
        left = fetch.wanted
        try:
            async for chunk in chunks:
                for start in range(0, len(chunk), PIECE_BYTES):
                    piece = chunk[start : start + PIECE_BYTES]
                    left -= len(piece)
                    yield piece
        finally:
            if left and (begun := self._begun.get(fetch.key)):
                begun.left += left

    def _find(self, fetch: Fetch) -> _Begun:
        now = self._clock()
        begun = self._begun.get(fetch.key)
        if begun is None or now - begun.at >= KEPT_SECONDS:
            begun = self._begun[fetch.key] = _Begun(now)
            if len(self._begun) > MOST_DOWNLOADS:
                self._begun.popitem(last=False)
        self._begun.move_to_end(fetch.key)
        return begun
