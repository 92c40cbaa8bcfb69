"""The functions of pdfium that a page calls by the hundred, with as little of ctypes around each call as there can be.

pdfium tells of one character or one object a call, and most of a call's time is that of ctypes: 0.4 microseconds where
it converts each argument to a declared type, 0.15 where handles and places in memory are converted once and integers
of 32 bits go as they are. The interpreter's lock is kept, as each call takes less time than to give the lock away and
to get it back; so `map` calls them one after the other without any Python in between. Not for two threads at once.
`python -m benchmarks.search.pages` prints how many pages a second this makes.
"""

import ctypes
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress, repeat
from typing import Any, Final, NamedTuple

from pypdfium2 import raw

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""

Ends = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]
"""The left and right ends of the first characters of pairs, and of the second ones."""

Handle = Any
"""The address of something of pdfium, as ctypes passes it on."""

_AT_ONCE: Final = 512
_FEW_LOST: Final = 0.01
_as_argument: Final = ctypes.c_void_p.from_param


class _Results:
    """Memory that calls write records of numbers to."""

    def __init__(self, kind: type[ctypes.c_float | ctypes.c_double], numbers: int, pointers: int) -> None:
        """`pointers`: 1 if a call writes a record at once, else one for each of its numbers."""
        self._numbers, self._bytes = numbers, numbers * ctypes.sizeof(kind)
        self._memory = (kind * (numbers * _AT_ONCE))()
        self._values: Any = memoryview(self._memory).cast("B").cast("f" if kind is ctypes.c_float else "d")
        start = ctypes.addressof(self._memory)
        starts = [
            range(start + ctypes.sizeof(kind) * number, start + _AT_ONCE * self._bytes, self._bytes)
            for number in range(pointers)
        ]
        self._places = [list(map(_as_argument, one)) for one in starts]

    def of(self, function: Callable[..., object], items: Sequence[Any], *owner: Handle) -> Iterator[list[float]]:
        """Call the function for each item, and yield the numbers of some hundred records; zeros for one without any."""
        for begin in range(0, len(items), _AT_ONCE):
            some = items[begin : begin + _AT_ONCE]
            yield self._written(function, some, owner).tolist()

    def columns_of(
        self, function: Callable[..., object], items: Sequence[Any], *owner: Handle, columns: Sequence[slice]
    ) -> list[list[float]]:
        """Call the function for each item, and return those of the numbers that each slice takes."""
        found: list[list[float]] = [[] for _ in columns]
        for begin in range(0, len(items), _AT_ONCE):
            values = self._written(function, items[begin : begin + _AT_ONCE], owner)
            for numbers, some in zip(found, columns, strict=True):
                numbers.extend(values[some].tolist())
        return found

    def _written(self, function: Callable[..., object], items: Sequence[Any], owner: Sequence[Handle]) -> Any:
        ctypes.memset(self._memory, 0, len(items) * self._bytes)
        deque(map(function, *map(repeat, owner), items, *self._places), maxlen=0)
        return self._values[: len(items) * self._numbers]


_RECTANGLES: Final = _Results(ctypes.c_float, 4, 1)
_BOUNDS: Final = _Results(ctypes.c_float, 4, 4)
_MATRICES: Final = _Results(ctypes.c_float, 6, 1)
_PAIR: Final = [slice(number, None, 8) for number in (0, 2, 4, 6)]
_LEFT_RIGHT: Final = [slice(number, None, 4) for number in (0, 2)]
_POINTS: Final = _Results(ctypes.c_float, 2, 2)
_ORIGINS: Final = _Results(ctypes.c_double, 2, 2)


def _bare(function: Any, result: Any = ctypes.c_int) -> Callable[..., Any]:
    """Return a function that takes its arguments as they are."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result)(address)


_loose_box: Final = _bare(raw.FPDFText_GetLooseCharBox, None)
_origin: Final = _bare(raw.FPDFText_GetCharOrigin, None)
_index: Final = _bare(raw.FPDFText_GetCharIndexFromTextIndex)
_offset: Final = _bare(raw.FPDFText_GetTextIndexFromCharIndex)
_is_unknown: Final = _bare(raw.FPDFText_HasUnicodeMapError)
_object: Final = _bare(raw.FPDFPage_GetObject, ctypes.c_void_p)
_kind: Final = _bare(raw.FPDFPageObj_GetType)
_bounds: Final = _bare(raw.FPDFPageObj_GetBounds, None)
_matrix: Final = _bare(raw.FPDFPageObj_GetMatrix, None)
_segment: Final = _bare(raw.FPDFPath_GetPathSegment, ctypes.c_void_p)
_point: Final = _bare(raw.FPDFPathSegment_GetPoint, None)
_segment_kind: Final = _bare(raw.FPDFPathSegment_GetType)
_annotation: Final = _bare(raw.FPDFPage_GetAnnot, ctypes.c_void_p)
_annotation_kind: Final = _bare(raw.FPDFAnnot_GetSubtype)
_flags: Final = _bare(raw.FPDFAnnot_GetFlags)
_field_kind: Final = _bare(raw.FPDFAnnot_GetFormFieldType)
_field_value: Final = _bare(raw.FPDFAnnot_GetFormFieldValue, ctypes.c_ulong)
_close_annotation: Final = _bare(raw.FPDFPage_CloseAnnot, None)
closes_figure: Final = _bare(raw.FPDFPathSegment_GetClose)
count_segments: Final = _bare(raw.FPDFPath_CountSegments)


def handle(pointer: Any) -> Handle:
    """Return the address of a page or of a text."""
    return _as_argument(ctypes.cast(pointer, ctypes.c_void_p).value)


def indices_of(text: Handle, offsets: Iterable[int]) -> list[int]:
    """Return the indices of characters by their offsets in the text of a page; -1 for those that have none."""
    return list(map(_index, repeat(text), offsets))


def count_unknown(text: Handle, characters: int) -> int:
    """Return how many characters have no text; if many, with all others of which pdfium only knows their codes."""
    lost = [offset < 0 for offset in map(_offset, repeat(text), range(characters))]
    if sum(lost) <= _FEW_LOST * characters:
        return sum(lost)
    unknown = map(_is_unknown, repeat(text), range(characters))
    return sum(is_lost or code == 1 for is_lost, code in zip(lost, unknown, strict=True))


def character_boxes(text: Handle, indices: Sequence[int]) -> Iterator[Box]:
    """Return the boxes of characters, their lines' heights included; zeros for those that have none."""
    found = _RECTANGLES.of(_loose_box, indices, text)
    return chain.from_iterable(zip(some[::4], some[3::4], some[2::4], some[1::4], strict=True) for some in found)


def ends_of_pairs(text: Handle, indices: Sequence[int]) -> Ends:
    """Return where the characters of each pair begin and end from left to right; zeros for those that have no box."""
    before, right, left, after = _RECTANGLES.columns_of(_loose_box, indices, text, columns=_PAIR)
    return before, right, left, after


def origins(text: Handle, indices: Sequence[int]) -> Iterator[tuple[float, float]]:
    """Return the points on the baseline at which characters begin; zeros for those that have none."""
    return _records(_ORIGINS.of(_origin, indices, text), 2)


def _records(found: Iterable[list[float]], numbers: int) -> Iterator[Any]:
    return chain.from_iterable(zip(*[iter(some)] * numbers, strict=True) for some in found)


class PageObjects:
    """The handles of a page's objects, and their kinds; asked for once."""

    def __init__(self, page: Any) -> None:
        self._page = page

    @cached_property
    def _handles(self) -> list[Handle]:
        numbers = range(raw.FPDFPage_CountObjects(self._page))
        return list(map(_as_argument, map(_object, repeat(handle(self._page)), numbers)))

    @cached_property
    def _kinds(self) -> list[int]:
        return list(map(_kind, self._handles))

    def of_kind(self, kind: int, most: int | None = None) -> list[Handle]:
        """Return the handles of a kind among the first objects, or among all of them."""
        kinds = self._kinds[:most]
        if kind not in kinds:
            return []
        return list(compress(self._handles, map(kind.__eq__, kinds)))


def object_boxes(handles: Sequence[Handle]) -> Iterator[Box]:
    """Return the boxes of objects; zeros for those that have none."""
    return _records(_BOUNDS.of(_bounds, handles), 4)


def ends_of_objects(handles: Sequence[Handle]) -> tuple[Sequence[float], Sequence[float]]:
    """Return where objects begin and end from left to right; zeros for those that have no box."""
    lefts, rights = _BOUNDS.columns_of(_bounds, handles, columns=_LEFT_RIGHT)
    return lefts, rights


def matrices_of(handles: Sequence[Handle]) -> Iterator[tuple[float, ...]]:
    """Return the six numbers of the matrix of each object."""
    return _records(_MATRICES.of(_matrix, handles), 6)


class PageAnnotations:
    """The handles of a page's annotations, with their kinds and flags. They are to be closed."""

    def __init__(self, page: Any, count: int) -> None:
        self.handles: list[Handle] = list(map(_as_argument, map(_annotation, repeat(handle(page)), range(count))))
        self.kinds: list[int] = list(map(_annotation_kind, self.handles))
        self.flags: list[int] = list(map(_flags, self.handles))

    def close(self) -> None:
        """Give the memory of the annotations back."""
        deque(map(_close_annotation, self.handles), maxlen=0)


def kinds_of_fields(forms: Handle, annotations: Sequence[Handle]) -> list[int]:
    """Return the kinds of the fields of forms that annotations show."""
    return list(map(_field_kind, repeat(forms), annotations))


def lengths_of_values(forms: Handle, annotations: Sequence[Handle]) -> list[int]:
    """Return how many bytes the values of fields take, in UTF-16 with an end of two bytes."""
    return list(map(_field_value, repeat(forms), annotations, repeat(None), repeat(0)))


class Segments(NamedTuple):
    """The handles, kinds and points of some segments of paths."""

    handles: list[Handle]
    kinds: list[int]
    points: list[tuple[float, float]]


def segments_of(paths: Sequence[Handle], numbers: Sequence[range]) -> Segments:
    """Return the segments of each path that have these numbers, one path after the other."""
    owners = chain.from_iterable(map(repeat, paths, map(len, numbers)))
    segments = list(map(_as_argument, map(_segment, owners, chain.from_iterable(numbers))))
    return Segments(segments, list(map(_segment_kind, segments)), list(_records(_POINTS.of(_point, segments), 2)))
