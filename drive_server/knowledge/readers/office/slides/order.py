"""The reading order of the shapes on a slide.

The order in the file is that in which screen readers go, and is kept, unless a shape comes after one that stands below
it: then the shapes were drawn in any order, and are read by rows and columns (a recursive XY cut).
"""

from collections.abc import Callable, Sequence
from typing import Any

from drive_server.knowledge.readers.office.slides.names import OFF, A, P, placeholder

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in English Metric Units."""

_Shape = tuple[Box, Any]
_MAX_SHAPES = 500
_OVERLAP = 0.5
_TRANSFORMS = (f"{P}spPr/{A}xfrm", f"{P}grpSpPr/{A}xfrm", f"{P}xfrm")


class Layout:
    """The places of a layout and its master, for the shapes that have no place of their own.

    `words`: the layout's own shapes with text, which all of its slides show, and those of its master.
    """

    def __init__(self, *roots: Any) -> None:
        hides_master = bool(roots) and roots[0].get("showMasterSp") in OFF
        self.words: list[Any] = [
            shape
            for root in (roots[:1] if hides_master else roots)
            for shape in root.iterfind(f"{P}cSld/{P}spTree/{P}sp")
            if placeholder(shape) is None
        ]
        self._boxes: dict[tuple[str, str], Box] = {}
        for shape in (shape for root in roots for shape in root.iter(f"{P}sp")):
            found, box = placeholder(shape), own_box(shape)
            if found is not None and box:
                self._boxes.setdefault(("idx", found.get("idx", "0")), box)
                self._boxes.setdefault(("type", found.get("type", "obj")), box)

    def box(self, shape: Any) -> Box | None:
        """Return where a shape stands; None if neither it nor its layout says so."""
        found = placeholder(shape)
        own = own_box(shape)
        if own or found is None:
            return own
        by_index = self._boxes.get(("idx", found.get("idx", "0")))
        return by_index or self._boxes.get(("type", found.get("type", "obj")))


def own_box(shape: Any) -> Box | None:
    """Return the place that a shape itself has."""
    transform = next((one for path in _TRANSFORMS if (one := shape.find(path)) is not None), None)
    if transform is None:
        return None
    offset, extent = transform.find(f"{A}off"), transform.find(f"{A}ext")
    try:
        left, top = int(offset.get("x")), int(offset.get("y"))
        return left, top, left + int(extent.get("cx")), top + int(extent.get("cy"))
    except (AttributeError, TypeError, ValueError):
        return None


def in_reading_order(shapes: Sequence[Any], box: Callable[[Any], Box | None]) -> list[Any]:
    """Return the shapes as they are read; as they stand in the file if the place of one is unknown."""
    boxes = [box(shape) for shape in shapes]
    placed = [(one, shape) for one, shape in zip(boxes, shapes, strict=True) if one]
    if len(placed) < len(shapes) or len(shapes) > _MAX_SHAPES or not _is_out_of_order([one for one, _ in placed]):
        return list(shapes)
    return [shape for _, shape in _cut(placed)]


def _is_out_of_order(boxes: Sequence[Box]) -> bool:
    return any(_is_above(later, earlier) for number, later in enumerate(boxes) for earlier in boxes[:number])


def _is_above(one: Box, other: Box) -> bool:
    """Return whether a box stands wholly above another, in the same column."""
    overlap = min(one[2], other[2]) - max(one[0], other[0])
    width = min(one[2] - one[0], other[2] - other[0])
    return one[3] <= other[1] and width > 0 and overlap >= width * _OVERLAP


def _cut(shapes: list[_Shape]) -> list[_Shape]:
    """Divide shapes into rows where a line can be drawn between them, else into columns, again and again."""
    for axis in (1, 0):
        bands = _bands(shapes, axis)
        if len(bands) > 1:
            return [shape for band in bands for shape in _cut(band)]
    return sorted(shapes, key=lambda one: (one[0][1], one[0][0]))


def _bands(shapes: list[_Shape], axis: int) -> list[list[_Shape]]:
    bands: list[list[_Shape]] = []
    end = 0
    for shape in sorted(shapes, key=lambda one: one[0][axis]):
        if bands and shape[0][axis] < end:
            bands[-1].append(shape)
        else:
            bands.append([shape])
        end = max(end, shape[0][axis + 2]) if len(bands[-1]) > 1 else shape[0][axis + 2]
    return bands
