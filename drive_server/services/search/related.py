"""Files that are like a file: near to passages taken from all over its text."""

import re
from typing import TYPE_CHECKING

from drive_server.access import Actor
from drive_server.models import Hit, Page
from drive_server.services.tree.items import checked_limit

if TYPE_CHECKING:
    from drive_server.services.documents.service import DocumentService
    from drive_server.services.search.service import SearchService

MAX_READ_CHARACTERS = 1_000_000
EXCERPTS = 5
EXCERPT_CHARACTERS = 500
_BREAK = re.compile(r"[\s。！？；]")


class RelatedFiles:
    """Takes excerpts of a file's text, and asks the search for each of them."""

    def __init__(self, documents: "DocumentService", search: "SearchService") -> None:
        self._documents = documents
        self._search = search

    async def find(self, actor: Actor, ref: str, *, limit: int = 10) -> Page[Hit]:
        """Return other files, each once with its passage that fits best: those near to most excerpts come first.

        `note` and rights are as for `SearchService.find`. Raises `UnsupportedContentError` for a file without text, and
        what `DocumentService.read_text` raises for one that is not there.
        """
        size = checked_limit(limit)
        read = await self._documents.read_text(actor, ref, limit=MAX_READ_CHARACTERS)
        return await self._search.near(actor, excerpts(read.text), without=read.item.id, limit=size)


def excerpts(text: str) -> list[str]:
    """Return at most five parts of the text, 500 characters each at most: its beginning, and others evenly apart."""
    stride = max(EXCERPT_CHARACTERS, len(text) // EXCERPTS)
    parts = [_excerpt(text, start) for start in range(0, len(text), stride)][:EXCERPTS]
    return list(dict.fromkeys(part for part in parts if part))


def _excerpt(text: str, start: int) -> str:
    part = text[start : start + EXCERPT_CHARACTERS]
    word = _BREAK.search(part) if start else None
    return " ".join(part[word.end() if word else 0 :].replace("\0", " ").split())
