"""The functions of pdfium that a page calls by the hundred, with handles and places in memory as plain numbers.

ctypes takes these in half the time of its own pointers. The interpreter's lock is kept, as each call takes less time
than to give the lock away and to get it back; so `map` calls them one after the other without any Python in between.
"""

import ctypes
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Final

from pypdfium2 import raw

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""

_HANDLE: Final = ctypes.c_void_p
_AT_ONCE: Final = 512
_FLOAT_BYTES: Final = ctypes.sizeof(ctypes.c_float)
_DOUBLE_BYTES: Final = ctypes.sizeof(ctypes.c_double)
_FOUR: Final = struct.Struct("4f")
_TWO_DOUBLES: Final = struct.Struct("2d")
_TWO: Final = struct.Struct("2f")
_SIX: Final = struct.Struct("6f")
_BUFFER: Final = ctypes.c_char * (_AT_ONCE * _SIX.size)


def _plain(function: Any, result: Any, *arguments: Any) -> Callable[..., int]:
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


_loose_box: Final = _plain(raw.FPDFText_GetLooseCharBox, ctypes.c_int, _HANDLE, ctypes.c_int, _HANDLE)
_origin: Final = _plain(raw.FPDFText_GetCharOrigin, ctypes.c_int, _HANDLE, ctypes.c_int, _HANDLE, _HANDLE)
_index: Final = _plain(raw.FPDFText_GetCharIndexFromTextIndex, ctypes.c_int, _HANDLE, ctypes.c_int)
_object: Final = _plain(raw.FPDFPage_GetObject, _HANDLE, _HANDLE, ctypes.c_int)
_kind: Final = _plain(raw.FPDFPageObj_GetType, ctypes.c_int, _HANDLE)
_bounds: Final = _plain(raw.FPDFPageObj_GetBounds, ctypes.c_int, *[_HANDLE] * 5)
_matrix: Final = _plain(raw.FPDFPageObj_GetMatrix, ctypes.c_int, _HANDLE, _HANDLE)
_segment: Final = _plain(raw.FPDFPath_GetPathSegment, _HANDLE, _HANDLE, ctypes.c_int)
_point: Final = _plain(raw.FPDFPathSegment_GetPoint, ctypes.c_int, _HANDLE, _HANDLE, _HANDLE)
_segment_kind: Final = _plain(raw.FPDFPathSegment_GetType, ctypes.c_int, _HANDLE)
_segment_closes: Final = _plain(raw.FPDFPathSegment_GetClose, ctypes.c_int, _HANDLE)
count_segments: Final = _plain(raw.FPDFPath_CountSegments, ctypes.c_int, _HANDLE)


def handle(pointer: Any) -> int:
    """Return what pdfium calls a page or a text by, as a number."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def indices_of(text: int, offsets: Iterable[int]) -> list[int]:
    """Return the indices of characters by their offsets in the text of a page; -1 for those that have none."""
    return list(map(_index, repeat(text), offsets))


def character_boxes(text: int, indices: Sequence[int]) -> Iterator[Box]:
    """Yield the boxes of characters, their lines' heights included; zeros for those that have none."""
    for some in _portions(indices):
        buffer, places = _memory(_FOUR, _FLOAT_BYTES, 1)
        deque(map(_loose_box, repeat(text), some, *places), maxlen=0)
        for left, top, right, bottom in _FOUR.iter_unpack(buffer[: len(some) * _FOUR.size]):
            yield left, bottom, right, top


def origins(text: int, indices: Sequence[int]) -> Iterator[tuple[float, float]]:
    """Yield the points on the baseline at which characters begin; zeros for those that have none."""
    for some in _portions(indices):
        buffer, places = _memory(_TWO_DOUBLES, _DOUBLE_BYTES, 2)
        deque(map(_origin, repeat(text), some, *places), maxlen=0)
        yield from _TWO_DOUBLES.iter_unpack(buffer[: len(some) * _TWO_DOUBLES.size])


class PageObjects:
    """The handles of a page's objects, and their kinds; asked for once."""

    def __init__(self, page: Any) -> None:
        self._page = page

    @cached_property
    def _handles(self) -> list[int]:
        page = handle(self._page)
        return list(map(_object, repeat(page), range(raw.FPDFPage_CountObjects(self._page))))

    @cached_property
    def _kinds(self) -> list[int]:
        return list(map(_kind, self._handles))

    def of_kind(self, kind: int, most: int | None = None) -> list[int]:
        """Return the handles of a kind among the first objects, or among all of them."""
        kinds = self._kinds[:most]
        if kind not in kinds:
            return []
        return [one for one, other in zip(self._handles, kinds, strict=False) if other == kind]


def object_boxes(handles: Sequence[int]) -> Iterator[Box]:
    """Yield the boxes of objects; zeros for those that have none."""
    for some in _portions(handles):
        buffer, places = _memory(_FOUR, _FLOAT_BYTES, 4)
        deque(map(_bounds, some, *places), maxlen=0)
        yield from _FOUR.iter_unpack(buffer[: len(some) * _FOUR.size])


def matrices_of(handles: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """Yield the six numbers of the matrix of each object."""
    for some in _portions(handles):
        buffer, places = _memory(_SIX, _SIX.size, 1)
        deque(map(_matrix, some, *places), maxlen=0)
        yield from _SIX.iter_unpack(buffer[: len(some) * _SIX.size])


def segments_of(paths: Sequence[int], counts: Sequence[int]) -> Iterator[tuple[int, int, tuple[float, float]]]:
    """Yield the kind of each segment of each path, whether it closes its figure, and its point."""
    owners = [path for path, count in zip(paths, counts, strict=True) for _ in range(count)]
    segments = list(map(_segment, owners, chain.from_iterable(map(range, counts))))
    return zip(map(_segment_kind, segments), map(_segment_closes, segments), _points(segments), strict=True)


def _points(segments: Sequence[int]) -> Iterator[tuple[float, float]]:
    for some in _portions(segments):
        buffer, places = _memory(_TWO, _FLOAT_BYTES, 2)
        deque(map(_point, some, *places), maxlen=0)
        yield from _TWO.iter_unpack(buffer[: len(some) * _TWO.size])


def _portions(values: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


def _memory(record: struct.Struct, step: int, places: int) -> tuple[memoryview, list[range]]:
    """Return zeroed memory for records, and the addresses of the first few values of each."""
    buffer = _BUFFER()
    start = ctypes.addressof(buffer)
    end = start + _AT_ONCE * record.size
    return memoryview(buffer).cast("B"), [range(start + step * place, end, record.size) for place in range(places)]
