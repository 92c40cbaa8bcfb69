"""Markdown that comes in pieces, cut where it can be shown: between its blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
ITEM: Final = re.compile(r"\s*([-*+]|\d{1,9}[.)]) ")
"""The beginning of an item of a list."""


class MarkdownBlocks:
    """Collects a text, and hands over the blocks that can't change any more."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._begun = ""
        self._fence = ""
        self._after_blank = False

    def feed(self, text: str) -> Iterator[str]:
        """Take the next piece of the text, and yield the blocks that are whole now."""
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            if self._after_blank and line.strip() and not self._goes_on(line):
                yield self._taken()
            self._note_fence(line)
            self._after_blank = not self._fence and not line.strip()
            self._lines.append(line)

    def rest(self) -> str:
        """Return all that is left, as the text ends here."""
        self._lines.append(self._begun)
        self._begun = self._fence = ""
        self._after_blank = False
        return self._taken().strip("\n")

    def _goes_on(self, line: str) -> bool:
        """Return whether a line after a blank one may belong to the block before, which only lists go on with."""
        first = next((before for before in self._lines if before.strip()), "")
        return not first or bool(ITEM.match(first) and (line[0].isspace() or ITEM.match(line)))

    def _note_fence(self, line: str) -> None:
        found = FENCE.match(line)
        if self._fence:
            mark = line.strip()
            if found and set(mark) == {self._fence[0]} and len(mark) >= len(self._fence):
                self._fence = ""
        elif found:
            self._fence = found[1]

    def _taken(self) -> str:
        block = "\n".join(self._lines)
        self._lines = []
        return block
