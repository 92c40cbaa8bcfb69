"""The text of Word documents (ECMA-376 part 1, section 17): headings by their styles, lists, tables, text boxes, notes.

unstructured and python-docx ask the whole document for each paragraph's style, and take some twenty times as long.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drive_server.knowledge.readers.archive import Archive, open_archive
from drive_server.knowledge.text.elements import ElementKind, Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_TRANSITIONAL = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARAGRAPH, _TABLE, _BOX = f"{_W}p", f"{_W}tbl", f"{_W}txbxContent"
_HOLDERS = frozenset(
    f"{_W}{name}" for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "footnote", "endnote", "comment")
)
_WORDS = f"{_W}t"
_BLANKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_MAX_ANCESTORS = 20
_OTHERS = ("word/footnotes.xml", "word/endnotes.xml", "word/comments.xml")
_MARGIN = re.compile(r"word/(?:header|footer)\d*\.xml")
_MAX_MARGINS = 100
_Style = tuple[int, bool]
"""The level of the heading that a style makes, 0 for none, and whether it makes a list item."""


def docx_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a Word document. Blocks. Raises what a damaged file makes zipfile and lxml raise."""
    with open_archive(path) as archive:
        return join(_document(archive))


def _document(archive: Archive) -> Iterator[Part]:
    styles = _styles(_root(archive, "word/styles.xml")) if "word/styles.xml" in archive.names else {}
    root = _root(archive, "word/document.xml")
    yield from _parts(root.find(f"{_W}body"), styles)
    for name in _OTHERS:
        if name in archive.names:
            yield from _parts(_root(archive, name), styles)
    yield from _margins(archive)


def _margins(archive: Archive) -> Iterator[Part]:
    """Yield the headers and footers of pages, each once: sections repeat them."""
    seen: set[str] = set()
    for name in sorted(filter(_MARGIN.fullmatch, archive.names))[:_MAX_MARGINS]:
        for part in _parts(_root(archive, name), {}):
            if part.text not in seen:
                seen.add(part.text)
                yield part


def _root(archive: Archive, name: str) -> Any:
    """Return an entry's root without fallback copies and moved text, with text boxes after their paragraphs."""
    root = archive.xml(name, renamed=(_STRICT, _TRANSITIONAL))
    for element in list(root.iter(_FALLBACK, f"{_W}moveFrom")):
        element.getparent().remove(element)
    for box in list(root.iter(_BOX)):
        paragraph = next(box.iterancestors(_PARAGRAPH), None)
        if paragraph is not None:
            for child in reversed(box):
                paragraph.addnext(child)
    return root


def _styles(root: Any) -> dict[str, _Style]:
    elements = {style.get(f"{_W}styleId", ""): style for style in root.iter(f"{_W}style")}
    return {key: _style(key, elements) for key in elements}


def _style(key: str, elements: dict[str, Any]) -> _Style:
    """Return a style's heading level and whether it is a list, also from the styles it is based on."""
    is_list = False
    for _ in range(_MAX_ANCESTORS):
        style = elements.get(key)
        if style is None:
            break
        name = _value(style.find(f"{_W}name")).lower()
        level = name.removeprefix("heading ") if name.startswith("heading ") else _outline(style)
        if name == "title":
            return 1, False
        if level.isdecimal():
            return min(6, max(1, int(level))), False
        is_list = is_list or style.find(f"{_W}pPr/{_W}numPr") is not None or name.startswith("list ")
        key = _value(style.find(f"{_W}basedOn"))
    return 0, is_list


def _outline(element: Any) -> str:
    """Return the level of the outline that a style or paragraph sets, from 1; empty for none or for body text."""
    level = _value(element.find(f"{_W}pPr/{_W}outlineLvl"))
    return str(int(level) + 1) if level in tuple("012345678") else ""


def _value(element: Any) -> str:
    return "" if element is None else element.get(f"{_W}val", "")


def _parts(body: Any, styles: dict[str, _Style]) -> Iterator[Part]:
    waiting: list[Any] = list(reversed(body)) if body is not None else []
    while waiting:
        element = waiting.pop()
        if element.tag == _PARAGRAPH:
            yield _paragraph(element, styles)
        elif element.tag == _TABLE:
            yield Part("table", _table(element))
        elif element.tag in _HOLDERS:
            waiting.extend(reversed(element))


def _paragraph(element: Any, styles: dict[str, _Style]) -> Part:
    properties = element.find(f"{_W}pPr")
    level, is_list = 0, False
    if properties is not None:
        level, is_list = styles.get(_value(properties.find(f"{_W}pStyle")), (0, False))
        is_list = is_list or properties.find(f"{_W}numPr") is not None
        level = level or int(_outline(element) or 0)
    kind: ElementKind = "title" if level else "list_item" if is_list else "text"
    return Part(kind, _text(element), level=min(6, level))


def _table(table: Any) -> str:
    """Return the rows, the cells between bars; a table within a cell is that cell's words."""
    rows = (
        [" ".join(_text(cell, between=" ").split()) for cell in row.iterchildren(f"{_W}tc", f"{_W}sdt")]
        for row in table.iterchildren(f"{_W}tr")
    )
    return "\n".join(" | ".join(row) for row in rows if any(row))


def _text(element: Any, between: str = "") -> str:
    pieces = (
        one.text or "" if one.tag == _WORDS else _BLANKS.get(one.tag, between)
        for one in element.iter(_WORDS, *_BLANKS, *((_PARAGRAPH,) if between else ()))
    )
    return "".join(pieces).strip()
