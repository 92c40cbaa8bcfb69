"""Sentences of a document with where they stand: headings, list items and table rows told from running text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 600
_HEADING: Final = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<marked>.+?)\s*#*|[=\-_*]{3,}|(?:```|~~~).*)\s*$")
_BULLET: Final = re.compile(r"^\s*(?:[-*+•·]|\d{1,3}[.)、]|[(（]\d{1,3}[)）])\s+")
_ENTRY: Final = re.compile(r"^\s*\||^[^|.!?。]*\s\|\s|^[^,.!?。]+(?:,[^,\s][^,]*)+$|^\s*[^.!?。:：\n]{1,30}[:：]\s*\S")
"""A row of a table, or a name and its value: a line of its own."""
_RULE: Final = re.compile(r"^[\s|:+-]+$")
_END: Final = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[^\sa-z])|[。！？；…]+[\"'”’」』）】]*")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|cf|al|Fig|No|Nos|Vol|pp|Inc|Ltd|Co|approx)|\b[A-Z])$"
)
_MARKUP: Final = re.compile(r"\*\*|__|`|^\s*>\s?")


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


def first_heading(text: str) -> str:
    """Return the text's first heading, empty if it begins with none."""
    first = next((line for line in text.splitlines()[:10] if line.strip()), "")
    match = _HEADING.match(first)
    return _plain(match["marked"]) if match and match["marked"] else ""


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split())


def read_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order. Headings are not sentences; a list item or a table row is one."""
    found: list[Sentence] = []
    for start, end, heading, paragraph in _units(text):
        for first, last in _split(text, start, end):
            plain = _plain(_BULLET.sub("", text[first:last]).strip("| "))
            if any(char.isalnum() for char in plain):
                line = text.count("\n", 0, first) + 1
                lines = line + text.count("\n", first, last)
                found.append(Sentence(plain[:LONGEST], first, last, line, lines, heading, paragraph))
    return found


def _units(text: str) -> Iterator[tuple[int, int, str, int]]:
    """Yield runs of lines that read on: a heading ends one, a list item and an entry are one each."""
    heading, at, begin, paragraph = "", 0, -1, 1
    for line in text.splitlines(keepends=True):
        marked = _HEADING.match(line)
        ends = not line.strip() or marked or _BULLET.match(line) or _ENTRY.match(line)
        if begin >= 0 and ends:
            yield begin, at, heading, paragraph
            begin = -1
        if marked:
            heading = _plain(marked["marked"]) if marked["marked"] else heading
        elif begin < 0 and line.strip() and not _RULE.match(line):
            begin = at
        paragraph += not line.strip()
        at += len(line)
    if begin >= 0:
        yield begin, at, heading, paragraph


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    cuts = [
        match.end()
        for match in _END.finditer(text, start, end)
        if not (match[0].startswith(".") and _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start()]))
    ]
    for first, last in zip([start, *cuts], [*cuts, end], strict=True):
        part = text[first:last]
        yield first + len(part) - len(part.lstrip()), first + len(part.rstrip())
