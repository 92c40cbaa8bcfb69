"""Parts of a text by characters or by lines, cut to a limit."""

from collections.abc import Callable
from dataclasses import dataclass
from re import finditer
from typing import TypeVar, TypeVarTuple

import anyio

from drive_server.kernel.errors import InvalidInputError

SMALL = 1 << 14
"""Bytes or characters that are worked on where they are: the slowest text of that size takes some milliseconds."""

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: offsets in characters from 0, `end` exclusive; lines from 1, both inclusive."""

    start: int
    end: int
    first_line: int
    last_line: int
    total_lines: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """The part that a caller asks for, by characters or by lines; `limit` is in characters."""

    start: int | None
    end: int | None
    first_line: int | None
    last_line: int | None
    limit: int

    def check(self) -> None:
        """Raise `InvalidInputError` for a range that makes no sense in any text."""
        by_characters = self.start is not None or self.end is not None
        by_lines = self.first_line is not None or self.last_line is not None
        if by_characters and by_lines:
            raise _refused("Ask for characters or for lines, not both.")
        if (self.start or 0) < 0 or (self.end is not None and self.end < (self.start or 0)):
            raise _refused("The range of characters is not one.")
        first = 1 if self.first_line is None else self.first_line
        if first < 1 or (self.last_line is not None and self.last_line < first):
            raise _refused("The range of lines is not one.")
        if self.limit < 1:
            raise _refused("The limit must be at least 1.")


def cut(text: str, wanted: Wanted) -> Span:
    """Return where the wanted part is in the text; ends past the text are cut. Blocks."""
    starts = [0, *(match.end() for match in finditer("\n", text))]
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    total = len(starts) if text else 0
    if wanted.first_line is not None or wanted.last_line is not None:
        start, end = _line_range(text, starts, wanted)
    else:
        start, end = wanted.start or 0, len(text) if wanted.end is None else wanted.end
    start = min(start, len(text))
    end = max(start, min(end, len(text), start + wanted.limit))
    first = text.count("\n", 0, start) + 1
    last = first + text.count("\n", start, max(start, end - 1))
    return Span(start, end, min(first, max(total, 1)), min(last, max(total, 1)), total)


async def run_in_thread(size: int, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
    """Return the result of the work, done in a thread unless it is so little that a thread would take longer."""
    if size <= SMALL:
        return work(*arguments)
    return await anyio.to_thread.run_sync(work, *arguments, abandon_on_cancel=True)


def _line_range(text: str, starts: list[int], wanted: Wanted) -> tuple[int, int]:
    first = (wanted.first_line or 1) - 1
    start = starts[first] if first < len(starts) else len(text)
    after = wanted.last_line
    end = starts[after] if after is not None and after < len(starts) else len(text)
    return start, end


def _refused(problem: str) -> InvalidInputError:
    return InvalidInputError(problem, hint="Offsets count characters from 0, lines count from 1.")
