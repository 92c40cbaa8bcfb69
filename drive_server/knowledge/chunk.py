"""Passages for the index: whole sentences, packed up to a size, never across a heading.

These sizes measured best on public collections: 800 to 1,000 characters, about 400 of Chinese; without
overlap. A Chinese character counts for two and a half here, so that one limit serves both.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from drive_server.kernel.text.characters import count_cjk
from drive_server.kernel.text.sentences import sentence_spans
from drive_server.knowledge.text.elements import MAX_INDEXED_CHARACTERS, Element, Extraction
from drive_server.knowledge.text.place import SourceRange

MAX_SIZE = 1_000
ENOUGH = 250
CJK_WEIGHT = 1.5
MAX_HEADING = 200
HEADING_SEPARATOR = " › "
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage. `start` and `end` are offsets into the extraction's text, of which `text` is that part.

    `heading` is the titles above it, outermost first; `page` the one it begins on; `ordinal` counts from 0. `place` is
    as `SourceRange` writes it: `page=2-3`, `slide=3`, `sheet=Budget!A2:D15`, `part=4`, `line=10-20`; empty if there are
    only offsets. `words` are those of `indexed_words`, empty until they are computed.
    """

    ordinal: int
    text: str
    start: int
    end: int
    heading: str
    page: int | None
    place: str = ""
    words: str = field(default="", compare=False, repr=False)

    def __reduce__(self) -> tuple[type["Chunk"], tuple[Any, ...]]:
        """Be pickled by position, as `Element` is."""
        span = (self.start, self.end, self.heading, self.page, self.place)
        return Chunk, (self.ordinal, self.text, *span, self.words)

    @property
    def search_text(self) -> str:
        """Return the text to embed and search: the passage under its headings, with JSON's escapes resolved."""
        text = f"{self.heading}\n{self.text}" if self.heading and self.heading != self.text else self.text
        return _ESCAPED.sub(_unescaped, text) if "\\u" in text else text


def chunk(extraction: Extraction) -> list[Chunk]:
    """Return the passages of a text in order; none for a text without any."""
    text = extraction.text
    packer = _Packer()
    for element in extraction.elements:
        if element.start >= MAX_INDEXED_CHARACTERS:
            break
        packer.begin(element)
        for start, end in _pieces(text, element):
            packer.add(start, end, _size(text, start, end))
            if element.kind == "table" and start == element.start and end < element.end:
                packer.repeat_header(text[start:end])
        packer.finish(element)
    lines = _lines_of(text, packer.passages) if extraction.exact else repeat(None)
    return [
        Chunk(
            ordinal,
            text[passage.start : passage.end],
            passage.start,
            passage.end,
            passage.heading,
            passage.page,
            str(place or ""),
        )
        for ordinal, (passage, line) in enumerate(zip(packer.passages, lines, strict=False))
        for place in [passage.place or line]
    ]


@dataclass(slots=True)
class _Passage:
    start: int
    end: int
    size: float
    heading: str
    page: int | None
    place: SourceRange | None


class _Packer:
    """Packs pieces into passages: a heading begins one, and a paragraph ends one that is large enough by then."""

    def __init__(self) -> None:
        self.passages: list[_Passage] = []
        self._headings: list[tuple[int, str]] = []
        self._path: tuple[str, ...] = ()
        self._page: int | None = None
        self._place: SourceRange | None = None
        self._header = ""
        self._open = False
        self._only_titles = False

    def begin(self, element: Element) -> None:
        """Begin an element, whose pieces follow."""
        self._page = element.page
        self._place = element.place or (SourceRange("page", element.page, element.page) if element.page else None)
        self._header = ""
        if element.path is not None:
            self._go_to(element.path)
        if element.kind != "title":
            return
        self._headings = [(level, title) for level, title in self._headings if level < element.level]
        self._headings.append((element.level, " ".join(element.text.split())))
        if self._only_titles and self._open:
            self.passages[-1].heading = self._heading()
        else:
            self._open = False

    def add(self, start: int, end: int, size: float) -> None:
        """Add a piece to the open passage, or begin another one."""
        last = self.passages[-1] if self._open else None
        if last and last.size + (start - last.end) + size <= MAX_SIZE:
            last.size += start - last.end + size
            last.end = end
            last.place = last.place.until(self._place) if last.place and self._place else last.place or self._place
        else:
            self.passages.append(_Passage(start, end, size, self._heading(), self._page, self._place))
            self._open = True

    def repeat_header(self, header: str) -> None:
        """Repeat the first row of a table as a heading of the passages that begin within it."""
        self._header = " ".join(header.split())

    def finish(self, element: Element) -> None:
        """Close the passage after a paragraph, if it has enough; lists, tables and code flow on."""
        self._only_titles = element.kind == "title"
        if element.kind == "text" and self.passages and self.passages[-1].size >= ENOUGH:
            self._open = False

    def _go_to(self, path: tuple[str, ...]) -> None:
        """Use this path as headings, or its innermost names if it is too long."""
        if path != self._path:
            self._path = path
            size = count = 0
            while count < len(path) and size <= MAX_HEADING - len(path[-1 - count]):
                size += len(path[-1 - count]) + len(HEADING_SEPARATOR)
                count += 1
            self._headings = list(enumerate(path[len(path) - count :], start=1))
            self._open = False

    def _heading(self) -> str:
        titles = [title for _, title in self._headings]
        return HEADING_SEPARATOR.join([*titles, self._header] if self._header else titles)[:MAX_HEADING]


def _pieces(text: str, element: Element) -> Iterator[tuple[int, int]]:
    """Yield the parts that must stay whole: the element, or its sentences if it is too large."""
    if _size(text, element.start, element.end) <= MAX_SIZE:
        yield element.start, element.end
        return
    spans = (
        _lines(text, element) if element.kind in ("table", "code") else sentence_spans(text, element.start, element.end)
    )
    for start, end in spans:
        yield from _cut(text, start, end)


def _lines(text: str, element: Element) -> Iterator[tuple[int, int]]:
    start = element.start
    while start < element.end:
        found = text.find("\n", start, element.end)
        end = element.end if found < 0 else found
        if text[start:end].strip():
            yield start, end
        start = end + 1


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a span that is too large at line ends, else at blanks, else anywhere."""
    while _size(text, start, end) > MAX_SIZE:
        stop = start + int(MAX_SIZE / (1 + CJK_WEIGHT * count_cjk(text[start : start + MAX_SIZE]) / MAX_SIZE))
        found = max(text.rfind("\n", start + 1, stop), text.rfind(" ", start + MAX_SIZE // 2, stop))
        stop = found if found > 0 else stop
        yield start, stop
        start = stop
    if text[start:end].strip():
        yield start, end


def _lines_of(text: str, passages: Sequence[_Passage]) -> Iterator[SourceRange]:
    """Yield the lines of each passage of a text that is the file itself, counted as editors do."""
    position, line = 0, 1
    for passage in passages:
        line += text.count("\n", position, passage.start)
        last = line + text.count("\n", passage.start, passage.end)
        yield SourceRange("line", line, last)
        position, line = passage.end, last


def _size(text: str, start: int, end: int) -> float:
    if end - start > MAX_SIZE:
        return end - start
    return end - start + CJK_WEIGHT * count_cjk(text[start:end])


def _unescaped(match: re.Match[str]) -> str:
    """Return the characters of a run of escapes, which are UTF-16 units in JSON and most languages."""
    return bytes.fromhex(match[0].replace("\\u", "")).decode("utf-16-be", errors="replace")
