"""The paragraphs and tables of one part of a Word document, in order, with their numbers."""

from collections.abc import Iterator
from typing import Any, Final

from drive_server.knowledge.readers.office.word.names import (
    BOX,
    CELL,
    HOLDERS,
    PARAGRAPH,
    ROW,
    TABLE,
    W,
    held,
    number,
    value,
)
from drive_server.knowledge.readers.office.word.numbering import Numbering
from drive_server.knowledge.readers.office.word.objects import Objects
from drive_server.knowledge.readers.office.word.runs import words_of
from drive_server.knowledge.readers.office.word.styles import PLAIN, Styles, outline_level
from drive_server.knowledge.text.elements import ElementKind, Part

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATIVES, _CHOICE, _FALLBACK = (f"{_COMPATIBILITY}{name}" for name in ("AlternateContent", "Choice", "Fallback"))
_INCLUDED = f"{W}altChunk"
_MAX_COLUMNS: Final = 63
_IN_TABLES: Final = frozenset((TABLE, ROW, CELL))


class Blocks:
    """The reader of one part: `objects` are its own, styles and numbers the document's."""

    def __init__(self, styles: Styles, numbering: Numbering, objects: Objects) -> None:
        self._styles = styles
        self._numbering = numbering
        self._objects = objects

    def parts(self, body: Any) -> Iterator[Part]:
        """Yield the paragraphs and tables of an element, which may hold them in content controls."""
        waiting: list[Any] = list(reversed(body)) if body is not None else []
        while waiting:
            element = waiting.pop()
            if element.tag == PARAGRAPH:
                yield self._paragraph(element)
            elif element.tag == TABLE:
                yield Part("table", self._table(element))
            elif element.tag == _INCLUDED:
                yield from self._objects.included(element)
            elif element.tag in HOLDERS:
                waiting.extend(reversed(element))
            yield from self._objects.take_parts()

    def _paragraph(self, element: Any) -> Part:
        level, is_list, label = self._properties(element)
        text = words_of(element, self._objects)
        kind: ElementKind = "title" if level else "list_item" if is_list else "text"
        return Part(kind, f"{label}{text}" if text else "", level=level)

    def _properties(self, element: Any) -> tuple[int, bool, str]:
        """Return a paragraph's level as a heading, whether it is in a list, and its number, which is counted."""
        properties = element.find(f"{W}pPr")
        if properties is None:
            return 0, False, ""
        name = value(properties.find(f"{W}pStyle"))
        style = self._styles.get(name) if name else PLAIN
        own = properties.find(f"{W}numPr")
        list_id = style.list_id if own is None else value(own.find(f"{W}numId"), style.list_id)
        level = style.level or outline_level(element)
        is_list = list_id not in ("", "0") or (style.is_list and list_id != "0")
        return level, is_list, self._label(element, list_id, name)

    def _label(self, element: Any, list_id: str, style: str) -> str:
        if not list_id or _is_gone(element):
            return ""
        level = element.find(f"{W}pPr/{W}numPr/{W}ilvl")
        default = self._styles.get(style).list_level if style else 0
        own = element.find(f"{W}pPr/{W}numPr/{W}numId")
        usual = default if own is not None else self._numbering.level_of(list_id, style, default)
        return self._numbering.label(list_id, number(level, usual))

    def _table(self, table: Any) -> str:
        rows = (self._row(row) for row in held(table, ROW) if row.find(f"{W}trPr/{W}del") is None)
        return "\n".join(" | ".join(row) for row in rows if any(row))

    def _row(self, row: Any) -> list[str]:
        """Return a cell for each column: blank ones where a cell is over several columns, or goes on from above."""
        cells = [""] * _columns(row.find(f"{W}trPr/{W}gridBefore"), 0)
        for cell in held(row, CELL):
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and value(merged, "continue") == "continue"
            span = _columns(cell.find(f"{W}tcPr/{W}gridSpan"), 1)
            cells += ["" if goes_on else self._cell(cell), *[""] * (span - 1)]
        return cells + [""] * _columns(row.find(f"{W}trPr/{W}gridAfter"), 0)

    def _cell(self, cell: Any) -> str:
        """Return the words of a cell, those of a table within it among them."""
        texts: list[str] = []
        waiting = list(reversed(cell))
        while waiting:
            element = waiting.pop()
            if element.tag == PARAGRAPH:
                label = self._properties(element)[2]
                texts.append(f"{label}{words_of(element, self._objects)}")
            elif element.tag == _INCLUDED:
                texts += (part.text for part in self._objects.included(element))
            elif element.tag in HOLDERS or element.tag in _IN_TABLES:
                waiting.extend(reversed(element))
        return " ".join(" ".join(texts).split())


def _columns(element: Any, default: int) -> int:
    return min(_MAX_COLUMNS, max(default, number(element, default)))


def _is_gone(paragraph: Any) -> bool:
    """Return whether a tracked change takes a paragraph away: its mark is deleted or moved, and all that is in it."""
    marks = paragraph.find(f"{W}pPr/{W}rPr")
    if marks is None or (marks.find(f"{W}del") is None and marks.find(f"{W}moveFrom") is None):
        return False
    return paragraph.find(f"{W}r") is None


def prepare(root: Any) -> Any:
    """Drop fallback copies, and set text boxes after their paragraphs."""
    for element in list(root.iter(_FALLBACK)):
        if element.getparent().find(_CHOICE) is not None:
            element.getparent().remove(element)
    for element in list(root.iter(_ALTERNATIVES)):
        _unwrap(element)
    for box in list(root.iter(BOX)):
        paragraph = next(box.iterancestors(PARAGRAPH), None)
        if paragraph is not None:
            for child in reversed(box):
                paragraph.addnext(child)
    return root


def _unwrap(alternatives: Any) -> None:
    """Put the first choice in the place of the element that has the choices, around paragraphs too."""
    parent = alternatives.getparent()
    chosen = next(alternatives.iterchildren(_CHOICE, _FALLBACK), None)
    if parent is not None:
        for child in reversed(() if chosen is None else list(chosen)):
            alternatives.addnext(child)
        parent.remove(alternatives)
