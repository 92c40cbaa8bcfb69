"""Sentences of a document with where they stand: headings, list items and table rows told from running text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BLANK = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<marked>.+?)\s*#*|(?P<rule>[=\-_*]{3,}))\s*$")
_BULLET = re.compile(r"^\s*(?:[-*+•·]|\d{1,3}[.)、]|[(（]\d{1,3}[)）])\s+")
_TABLE_RULE = re.compile(r"^[\s|:+-]+$")
_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[^\sa-z])|[。！？；…]+[\"'”’」』）】]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|cf|al|Fig|No|Nos|Vol|pp|Inc|Ltd|Co|approx)|\b[A-Z])$"
)
_MARKUP = re.compile(r"\*\*|__|`|^\s*>\s?")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
LONGEST: Final = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. `start` and `end` are offsets, `line` counts from 1, `heading` is what it is under."""

    text: str
    start: int
    end: int
    line: int
    last_line: int
    heading: str
    paragraph: int


def read_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order. Headings are not sentences; a list item or a table row is one."""
    return list(_Reader(text).sentences())


def first_heading(text: str) -> str:
    """Return the text's first heading, empty if it begins with none."""
    for line in text.splitlines()[:10]:
        match = _HEADING.match(line)
        if match and match["marked"]:
            return _plain(match["marked"])
        if line.strip():
            return ""
    return ""


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split())


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._heading = ""
        self._paragraph = 0

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences block by block."""
        for start, end in self._blocks():
            self._paragraph += 1
            for first, last in self._units(start, end):
                yield from self._split(first, last)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        start = 0
        for blank in _BLANK.finditer(self._text):
            yield start, blank.start()
            start = blank.end()
        yield start, len(self._text)

    def _units(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield runs of lines that read on: a heading ends one, a list item and a table row are one each."""
        begin: int | None = None
        at = start
        for line in self._text[start:end].splitlines(keepends=True):
            following = at + len(line)
            if self._is_heading(line):
                if begin is not None:
                    yield begin, at
                begin = None
            elif _BULLET.match(line) or line.lstrip().startswith("|") or begin is None:
                if begin is not None:
                    yield begin, at
                begin = None if _TABLE_RULE.match(line) else at
            at = following
        if begin is not None:
            yield begin, at

    def _is_heading(self, line: str) -> bool:
        if _FENCE.match(line):
            return True
        match = _HEADING.match(line)
        if match and match["marked"]:
            self._heading = _plain(match["marked"])
        return match is not None

    def _split(self, start: int, end: int) -> Iterator[Sentence]:
        begin = start
        for match in _END.finditer(self._text, start, end):
            if match[0].startswith(".") and _ABBREVIATION.search(self._text[max(0, match.start() - 8) : match.start()]):
                continue
            yield from self._sentence(begin, match.end())
            begin = match.end()
        yield from self._sentence(begin, end)

    def _sentence(self, start: int, end: int) -> Iterator[Sentence]:
        raw = self._text[start:end]
        start += len(raw) - len(raw.lstrip())
        end = start + len(raw.strip())
        plain = _plain(_BULLET.sub("", self._text[start:end]).strip("| "))
        if not any(char.isalnum() for char in plain):
            return
        line = self._text.count("\n", 0, start) + 1
        last = line + self._text.count("\n", start, end)
        yield Sentence(plain[:LONGEST], start, end, line, last, self._heading, self._paragraph)
