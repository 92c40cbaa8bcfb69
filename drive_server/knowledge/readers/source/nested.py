"""Elements of nested texts, such as JSON and XML: each piece under the names of its containers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from drive_server.kernel.text.characters import count_cjk
from drive_server.knowledge.text.elements import Element

MIN_NAMED = 100
"""The least characters of a container whose name heads its content; a smaller one is a piece like any other."""

MIN_NUMBERED = 250
"""The same for a container without a name: an item of an array."""

SCRAP = 100
"""The least characters before the first inner container that make a piece of their own."""

MAX_DEPTH = 200
_ENOUGH = 300  # characters of a piece, which the chunker packs with others but cuts only where lines end
_LONG_PROSE = 1_000


class BrokenNestError(Exception):
    """Brackets or tags do not match, or are nested too deep."""


@dataclass(slots=True)
class _Piece:
    start: int
    end: int


@dataclass(slots=True)
class _Container:
    """`mark` is where its own pieces begin in the list of all."""

    start: int
    name: str
    least: int
    mark: int


@dataclass(frozen=True, slots=True)
class _Opened:
    """The beginning of a container that is large enough to head its pieces; `None` in the list is the end of one."""

    name: str


class Nest:
    """Collects the containers and pieces of a text in order, and joins small ones at once to save memory."""

    def __init__(self) -> None:
        self._found: list[_Piece | _Opened | None] = []
        self._open: list[_Container] = []

    @property
    def depth(self) -> int:
        """The number of open containers."""
        return len(self._open)

    def open(self, start: int, end: int, name: str, least: int = MIN_NAMED) -> None:
        """Begin a container whose head is from `start` to `end`. Raises `BrokenNestError` if it is nested too deep."""
        if len(self._open) >= MAX_DEPTH:
            raise BrokenNestError
        self._open.append(_Container(start, name, least, len(self._found)))
        self._found += [_Opened(name), _Piece(start, end)]

    def add(self, start: int, end: int) -> None:
        """Add a piece that contains nothing."""
        last = self._found[-1] if self._found else None
        if isinstance(last, _Piece) and end - last.start <= _ENOUGH:
            last.end = end
        else:
            self._found.append(_Piece(start, end))

    def close(self, end: int) -> None:
        """End the innermost container. Raises `BrokenNestError` if there is none."""
        if not self._open:
            raise BrokenNestError
        container = self._open.pop()
        if end - container.start < container.least:
            del self._found[container.mark :]
            self.add(container.start, end)
        else:
            self._found.append(None)

    def elements(self, text: str) -> Iterator[Element]:
        """Yield the pieces. Long prose is cut into sentences later, all else where lines end."""
        path: list[str] = []
        start: int | None = None
        for found, following in zip_longest(self._found, self._found[1:]):
            if found is None:
                path.pop()
            elif isinstance(found, _Opened):
                path.append(found.name)
            else:
                begin = found.start if start is None else start
                is_scrap = isinstance(following, _Opened) and found.end - begin < SCRAP
                start = begin if is_scrap else None
                if not is_scrap:
                    yield _element(text, begin, found.end, path)


def _element(text: str, start: int, end: int, path: list[str]) -> Element:
    words = text[start:end]
    is_prose = len(words) + count_cjk(words) > _LONG_PROSE and "\n" not in words
    return Element("text" if is_prose else "code", words, start, end, path=tuple(filter(None, path)))
