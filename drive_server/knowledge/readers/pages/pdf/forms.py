"""The values of a form beside their labels. Pure; units are points, y grows upwards."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from drive_server.knowledge.readers.pages.paragraphs import Line
from drive_server.knowledge.readers.pages.pdf.annotations import Field
from drive_server.knowledge.readers.pages.pdf.lines import Box

_ABOVE: Final = 2.5  # of the type's height: a label stands no further above its field
_BESIDE: Final = 40.0
_SLACK: Final = 4.0
_TYPE_HEIGHT: Final = 11.0


@dataclass(slots=True)
class _Place:
    """A line and the values that belong to it."""

    line: Line
    beside: list[Line]
    below: list[Line]


def with_values(lines: Sequence[Line], fields: Sequence[Field], turn: Callable[[Box], Box]) -> tuple[Line, ...]:
    """Return the lines with each value in its label's row or below it; without a label, with its name at the end."""
    places = [_Place(line, [], []) for line in lines]
    baselines = sorted((line.baseline, number) for number, line in enumerate(lines))
    loose: list[Line] = []
    for field in fields:
        box = _, bottom, _, top = turn(field.box)
        near = baselines[bisect_left(baselines, (bottom - _SLACK,)) : bisect_right(baselines, (top, len(lines)))]
        beside = [places[number] for number in sorted([number for _, number in near])]
        if not _is_printed(field, box, beside):
            _put(field, box, beside, places, loose)
    return tuple(line for place in places for line in _rows(place)) + tuple(loose)


def _put(field: Field, box: Box, beside: Sequence[_Place], places: Sequence[_Place], loose: list[Line]) -> None:
    """Put a value beside one of the lines in its row, else below one of all the lines, else among the loose ones."""
    left, bottom, right, top = box
    value = Line(field.value, left, right, bottom + _SLACK, min(top - bottom, _TYPE_HEIGHT), "row")
    if beside:
        min(beside, key=lambda place: _distance(field, box, place.line)).beside.append(value)
        return
    above = [place for place in places if _is_label_above(box, place.line)]
    if above and not field.is_box:
        label = min(above, key=lambda place: place.line.baseline)
        label.below.append(value._replace(height=label.line.height))
        return
    if field.is_box:
        text = f"{field.value} {field.name}"
    else:
        text = f"{field.name}: {field.value}" if field.name else field.value
    loose.append(value._replace(text=text.strip()))


def _distance(field: Field, box: Box, line: Line) -> float:
    """Return how far a label is from a field: labels of boxes mostly stand to the right, others to the left."""
    left, _, right, _ = box
    parts = line.pieces or (line,)
    before = min((left - part.right for part in parts if part.right <= left + _SLACK), default=1e6)
    after = min((part.left - right for part in parts if part.left >= right - _SLACK), default=1e6)
    within = 0.0 if line.left <= left and right <= line.right else 1e6
    if field.is_box:
        return min(after, before + _BESIDE, within)
    return min(before, after + _BESIDE, within)


def _is_label_above(box: Box, line: Line) -> bool:
    left, _, right, top = box
    is_near = 0 <= line.baseline - top <= _ABOVE * line.height
    return is_near and min(right, line.right) > max(left, line.left)


def _is_printed(field: Field, box: Box, beside: Sequence[_Place]) -> bool:
    """Return whether the page shows a value as text of its own, as one does whose form was flattened."""
    left, _, right, _ = box
    return any(
        field.value in place.line.text and place.line.left < right and place.line.right > left for place in beside
    )


def _rows(place: _Place) -> list[Line]:
    if not place.beside:
        return [place.line, *place.below]
    pieces = sorted((*(place.line.pieces or (place.line,)), *place.beside), key=lambda piece: piece.left)
    text = " ".join(piece.text for piece in pieces)
    row = place.line._replace(text=text, left=pieces[0].left, right=pieces[-1].right, kind="row", pieces=tuple(pieces))
    return [row, *place.below]
