"""Thumbnails of files: made once for a content and a size, in a reader's process, and cached in memory."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

import anyio

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.messages import Message
from drive_server.knowledge.formats import format_of
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.knowledge.readers.thumbnail import MEDIA_TYPE, Thumbnail, make_thumbnail, refuse_thumbnail
from drive_server.services.documents.service import DocumentService

SIZES: Final = (64, 128, 256, 512, 1024)
"""Pixels at the longer side."""
SECONDS: Final = 20.0
CACHED_BYTES: Final = 64_000_000
MIN_COST: Final = 200
MAX_BYTES: Final = 200_000_000
"""Of a larger file nothing is drawn: where contents are not on this disk, it would be fetched whole."""
SHOWN: Final = frozenset({"image", "pdf"})

_Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Picture:
    """A thumbnail that a file may have: of a content and a size, with the etag that it has then."""

    etag: str
    media_type: str
    blob: str
    size: int


class ThumbnailService:
    """Makes thumbnails of images and of PDF files, for everyone who may read the file.

    One at a time, so that a page of photographs does not hold up a person who opens a document. Failures are remembered
    too: a file that crashes its reader does so once.
    """

    def __init__(self, documents: DocumentService, texts: TextSource, *, cached_bytes: int = CACHED_BYTES) -> None:
        self._documents = documents
        self._texts = texts
        self._limit = cached_bytes
        self._size = 0
        self._cache: OrderedDict[_Key, Thumbnail] = OrderedDict()
        self._locks: WeakValueDictionary[_Key, anyio.Lock] = WeakValueDictionary()
        self._turn = anyio.Semaphore(1)

    async def find(self, actor: Actor, ref: str, size: int) -> Picture:
        """Return which thumbnail the file has. Raises `NotFoundError` for a kind of file that has none."""
        content = await self._documents.open_content(actor, ref)
        if not may_have_thumbnail(content.item.name, content.media_type, content.size):
            raise no_thumbnail()
        return Picture(f'"{content.blob}-{size}"', MEDIA_TYPE, content.blob, size)

    async def make(self, picture: Picture) -> bytes:
        """Return its bytes. Raises `NotFoundError` if the file is damaged or too large for one."""
        key = (picture.blob, picture.size)
        async with self._locks.setdefault(key, anyio.Lock()):
            made = self._cache.get(key)
            if made is None:
                made = await self._make(picture)
                self._add(key, made)
            self._cache.move_to_end(key)
        if made.state != "ready":
            raise no_thumbnail()
        return made.data

    async def _make(self, picture: Picture) -> Thumbnail:
        work = partial(make_thumbnail, picture.size)
        async with self._turn:
            return await self._texts.run(work, refuse_thumbnail, picture.blob, "", "", SECONDS)

    def _add(self, key: _Key, made: Thumbnail) -> None:
        self._cache[key] = made
        self._size += len(made.data) + MIN_COST
        while self._size > self._limit and len(self._cache) > 1:
            _, dropped = self._cache.popitem(last=False)
            self._size -= len(dropped.data) + MIN_COST


def may_have_thumbnail(name: str, media_type: str, size: int) -> bool:
    """Return whether a file is of a kind that has thumbnails; a damaged one has none all the same."""
    return size <= MAX_BYTES and format_of(name, media_type).group in SHOWN


def no_thumbnail() -> NotFoundError:
    """Return the error for a file without a thumbnail."""
    return NotFoundError(Message.of("no_thumbnail"))
