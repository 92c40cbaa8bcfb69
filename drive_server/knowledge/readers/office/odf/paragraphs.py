"""The words in a paragraph of OpenDocument (section 6.1.2), with the texts for the frames and controls in it."""

from typing import Any, Final

from drive_server.knowledge.readers.office.odf.frames import Frames
from drive_server.knowledge.readers.office.odf.names import APART, CONTROL, FRAME, NOT_READ, TABLE, TEXT

_BLANKS: Final = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_MAX_BLANKS: Final = 100
_MAX_REPEATED: Final = 100
_NOTE = f"{TEXT}note"
_CELLS: Final = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")


def words_of(paragraph: Any, frames: Frames) -> str:
    """Return the words of a paragraph without those of the text boxes, notes and comments in it."""
    pieces: list[str] = [paragraph.text or ""]
    waiting: list[Any] = list(reversed(paragraph))
    while waiting:
        element = waiting.pop()
        if isinstance(element, str):
            pieces.append(element)
            continue
        waiting.append(element.tail or "")
        if (own := _own_text(element, frames)) is not None:
            pieces.append(own)
        else:
            waiting.extend(reversed(element))
            pieces.append(element.text or "")
    return "".join(pieces).strip()


def _own_text(element: Any, frames: Frames) -> str | None:
    """Return the text that an element stands for; None if it is the text within it."""
    tag = element.tag
    if not isinstance(tag, str) or tag in NOT_READ or tag in APART or tag == _NOTE:
        return ""
    if tag == f"{TEXT}s":
        count = element.get(f"{TEXT}c", "1")
        return " " * min(_MAX_BLANKS, int(count) if count.isdecimal() else 1)
    if tag == f"{TEXT}ruby":
        return _with_reading(element)
    if tag == FRAME:
        return frames.text(element)
    return frames.control(element) if tag == CONTROL else _BLANKS.get(tag)


def _with_reading(element: Any) -> str:
    base, reading = (
        "".join(one.itertext())
        for one in (element.find(f"{TEXT}ruby-{name}") for name in ("base", "text"))
        if one is not None
    )
    return f"{base}({reading})" if reading.strip() else base


def table_text(table: Any, frames: Frames) -> str:
    """Return the rows of a table; a cell that another one covers is blank."""
    lines: list[str] = []
    for row in table.iter(f"{TABLE}table-row"):
        if next(row.iterancestors(f"{TABLE}table")) is not table:
            continue
        cells = _cells(row, frames)
        if any(cells):
            lines += [" | ".join(cells)] * _repeated(row, "number-rows-repeated")
    return "\n".join(lines)


def _cells(row: Any, frames: Frames) -> list[str]:
    cells: list[str] = []
    blank = 0
    for cell in row.iterchildren(*_CELLS):
        words = _cell(cell, frames) if cell.tag == _CELLS[0] else ""
        count = _repeated(cell, "number-columns-repeated")
        if not words:
            blank += count
            continue
        cells += [""] * blank + [words] * count
        blank = 0
    return cells + [""] * (blank if blank < _MAX_REPEATED else 0)


def _repeated(element: Any, name: str) -> int:
    count = element.get(f"{TABLE}{name}", "1")
    return min(_MAX_REPEATED, max(1, int(count))) if count.isdecimal() else 1


def _cell(cell: Any, frames: Frames) -> str:
    paragraphs = (one for one in cell.iter(f"{TEXT}p", f"{TEXT}h") if not _is_of_a_comment(one))
    return " ".join(" ".join(words_of(one, frames) for one in paragraphs).split())


def _is_of_a_comment(paragraph: Any) -> bool:
    return next(paragraph.iterancestors(APART[-1]), None) is not None
