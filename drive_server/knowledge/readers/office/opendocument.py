"""The text of OpenDocument texts and presentations (odt, odp; OASIS OpenDocument 1.3 part 3)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drive_server.knowledge.readers.archive import open_archive
from drive_server.knowledge.text.elements import Extraction, Part, join, needs_password
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import Place

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_MANIFEST = "META-INF/manifest.xml"
_BLANKS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_NOT_READ = {
    *(f"{_TEXT}{name}" for name in ("tracked-changes", "sequence-decls", "table-of-content", "alphabetical-index")),
    f"{_TEXT}page-number",
    *(f"{_OFFICE}{name}" for name in ("annotation", "annotation-end", "forms", "scripts")),
}
_MAX_BLANKS = 100


def opendocument_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a document. Blocks. Raises what a damaged file makes zipfile and lxml raise."""
    with open_archive(path) as archive:
        if _MANIFEST in archive.names and b"encryption-data" in archive.read(_MANIFEST):
            raise needs_password()
        root = archive.xml("content.xml")
    body = root.find(f"{_OFFICE}body")
    return join(_parts(root if body is None else body))


def _parts(body: Any) -> Iterator[Part]:
    """Walk the document, and yield its paragraphs, headings and tables."""
    slides = 0
    place: Place | None = None
    waiting: list[tuple[Any, bool]] = [(body, False)]
    while waiting:
        element, in_list = waiting.pop()
        if element.tag in _NOT_READ or not isinstance(element.tag, str):
            continue
        if element.tag == f"{_DRAW}page":
            slides += 1
            place = Place("slide", slides, slides)
        part = _part(element, place, in_list=in_list)
        if part:
            yield part
        inside = _boxes(element) if part or element.tag == f"{_TEXT}p" else list(element)
        in_list = (in_list or element.tag == f"{_TEXT}list") and place is None
        waiting.extend((child, in_list) for child in reversed(inside))


def _part(element: Any, place: Place | None, *, in_list: bool) -> Part | None:
    if element.tag == f"{_TABLE}table":
        return Part("table", _table(element), place=place)
    if element.tag == f"{_TEXT}h":
        return Part("title", _text(element), level=_level(element), place=place)
    if element.tag != f"{_TEXT}p":
        return None
    if place and _is_slide_title(element):
        return Part("title", _text(element), level=1, place=place)
    return Part("list_item" if in_list else "text", _text(element), place=place)


def _boxes(element: Any) -> list[Any]:
    """Return the text boxes and notes in a paragraph; their own paragraphs follow it."""
    if element.tag == f"{_TABLE}table":
        return []
    return [child for child in element.iter(f"{_DRAW}text-box", f"{_TEXT}note-body") if child is not element]


def _is_slide_title(paragraph: Any) -> bool:
    frame = next(paragraph.iterancestors(f"{_DRAW}frame"), None)
    return frame is not None and frame.get(f"{_PRESENTATION}class") == "title"


def _level(heading: Any) -> int:
    level = heading.get(f"{_TEXT}outline-level", "1")
    return min(6, max(1, int(level))) if level.isdecimal() else 1


def _table(table: Any) -> str:
    rows = (
        [
            " ".join(filter(None, (_text(paragraph) for paragraph in cell.iter(f"{_TEXT}p", f"{_TEXT}h"))))
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
        ]
        for row in table.iter(f"{_TABLE}table-row")
        if next(row.iterancestors(f"{_TABLE}table")) is table
    )
    return "\n".join(" | ".join(row) for row in rows if any(row))


def _text(paragraph: Any) -> str:
    """Return the words of a paragraph without those of the frames, notes and comments in it (section 6.1.2)."""
    pieces: list[str] = [paragraph.text or ""]
    waiting = list(reversed(paragraph))
    while waiting:
        element = waiting.pop()
        if isinstance(element, str):
            pieces.append(element)
            continue
        waiting.append(element.tail or "")
        if element.tag == f"{_TEXT}s":
            count = element.get(f"{_TEXT}c", "1")
            pieces.append(" " * min(_MAX_BLANKS, int(count) if count.isdecimal() else 1))
        elif element.tag in _BLANKS:
            pieces.append(_BLANKS[element.tag])
        elif element.tag not in (f"{_DRAW}frame", f"{_TEXT}note", *_NOT_READ):
            waiting.extend(reversed(element))
            pieces.append(element.text or "" if isinstance(element.tag, str) else "")
    return "".join(pieces).strip()
