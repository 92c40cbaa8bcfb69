"""The text of OpenDocument texts and presentations: paragraphs, headings, tables, notes, comments, slides."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drive_server.knowledge.readers.archive import Archive, open_archive
from drive_server.knowledge.readers.office.odf.frames import Frames, forms_in
from drive_server.knowledge.readers.office.odf.lists import ListItem, Lists
from drive_server.knowledge.readers.office.odf.names import (
    ANNOTATION,
    APART,
    CREATOR,
    DRAW,
    FRAME,
    NOT_READ,
    OFFICE,
    PARAGRAPHS,
    PRESENTATION,
    STYLE,
    TABLE,
    TEXT,
)
from drive_server.knowledge.readers.office.odf.paragraphs import table_text, words_of
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import SourceRange
from drive_server.knowledge.text.unreadable import UnreadableError

_MANIFEST, _STYLES = "META-INF/manifest.xml", "styles.xml"
_SLIDE, _LIST = f"{DRAW}page", f"{TEXT}list"
_ITEMS = (f"{TEXT}list-item", f"{TEXT}list-header")
_MARGINS = tuple(f"{STYLE}{name}{which}" for name in ("header", "footer") for which in ("", "-left", "-first"))
_HIDDEN = "(hidden slide)"


def opendocument_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a document. Blocks. Raises the errors of zipfile and lxml for a damaged file."""
    with open_archive(path) as archive:
        if _MANIFEST in archive.names and b"encryption-data" in archive.read(_MANIFEST):
            raise UnreadableError("password")
        return join(_document(archive, omissions))


def _document(archive: Archive, omissions: Omissions) -> Iterator[Part]:
    root = archive.xml("content.xml")
    styles = archive.xml(_STYLES) if _STYLES in archive.names else None
    body = root.find(f"{OFFICE}body")
    lists, forms = Lists(root, styles), forms_in(root)
    hidden = {one.getparent().get(f"{STYLE}name") for one in _hidden_slides(root)}
    yield from _Reader(Frames(archive, "", forms, omissions), lists, hidden).parts(root if body is None else body)
    if styles is not None and root.find(f"{OFFICE}body/{OFFICE}text") is not None:
        yield from _margins(styles, _Reader(Frames(archive, "", {}, omissions, is_margin=True), lists))


def _hidden_slides(root: Any) -> Iterator[Any]:
    for properties in root.iter(f"{STYLE}drawing-page-properties"):
        if properties.get(f"{PRESENTATION}visibility") == "hidden":
            yield properties


def _margins(styles: Any, reader: "_Reader") -> Iterator[Part]:
    """Yield the headers and footers of pages, each once: the styles of pages repeat them."""
    seen: set[str] = set()
    for element in styles.iter(*_MARGINS):
        for part in reader.parts(element):
            if part.text not in seen:
                seen.add(part.text)
                yield part


class _Reader:
    """Walks a document, and yields its paragraphs, headings and tables in order."""

    def __init__(self, frames: Frames, lists: Lists, hidden: set[str | None] | None = None) -> None:
        self._frames = frames
        self._lists = lists
        self._hidden = hidden or set()
        self._slides = 0
        self._place: SourceRange | None = None

    def parts(self, body: Any) -> Iterator[Part]:
        waiting: list[tuple[Any, ListItem | None]] = [(body, None)]
        while waiting:
            element, item = waiting.pop()
            if element.tag in NOT_READ or not isinstance(element.tag, str):
                continue
            yield from self._own_parts(element, item)
            item = self._within(element, item)
            waiting.extend((child, item) for child in reversed(_inside(element)))
            waiting.extend((one, None) for _, one in reversed(self._frames.embedded))
            self._frames.embedded.clear()

    def _own_parts(self, element: Any, item: ListItem | None) -> Iterator[Part]:
        """Yield the parts of an element apart from those of the elements in it."""
        if element.tag == _SLIDE:
            self._slides += 1
            self._place = SourceRange("slide", self._slides, self._slides)
            if element.get(f"{DRAW}style-name") in self._hidden:
                yield Part("text", _HIDDEN, place=self._place)
        elif element.tag == f"{TABLE}table":
            yield Part("table", table_text(element, self._frames), place=self._place)
        elif element.tag == ANNOTATION:
            yield Part("text", _comment(element, self._frames), place=self._place)
        elif element.tag in PARAGRAPHS:
            yield self._paragraph(element, item)
        elif element.tag == FRAME:
            yield Part("text", self._frames.text(element).strip(), place=self._place)

    def _within(self, element: Any, item: ListItem | None) -> ListItem | None:
        if element.tag == _LIST:
            return self._lists.enter(element, item)
        if element.tag == _ITEMS[0] and item:
            return self._lists.item(element, item)
        return None if element.tag in PARAGRAPHS else item

    def _paragraph(self, element: Any, item: ListItem | None) -> Part:
        text = words_of(element, self._frames)
        label = item.begins.pop() if item and item.begins and text else ""
        if element.tag == PARAGRAPHS[1]:
            label = label if item else self._lists.heading(element)
            return Part("title", f"{label}{text}" if text else "", level=_level(element), place=self._place)
        if self._place and _is_slide_title(element):
            return Part("title", text, level=1, place=self._place)
        is_item = item is not None and self._place is None
        return Part("list_item" if is_item else "text", f"{label}{text}", place=self._place)


def _inside(element: Any) -> list[Any]:
    """Return the elements that follow an element: of paragraphs and tables, only elements apart from their words."""
    if element.tag == ANNOTATION:
        return []
    if element.tag not in (*PARAGRAPHS, f"{TABLE}table"):
        return list(element)
    wanted = (ANNOTATION,) if element.tag == f"{TABLE}table" else APART
    found: list[Any] = []
    waiting = list(reversed(element))
    while waiting:
        child = waiting.pop()
        if child.tag in wanted:
            found.append(child)
        else:
            waiting.extend(reversed(child))
    return found


def _comment(annotation: Any, frames: Frames) -> str:
    author = " ".join((annotation.findtext(CREATOR) or "").split())
    words = "\n".join(filter(None, (words_of(one, frames) for one in annotation.iter(*PARAGRAPHS))))
    return f"{author}: {words}" if author and words else words


def _is_slide_title(paragraph: Any) -> bool:
    frame = next(paragraph.iterancestors(FRAME), None)
    return frame is not None and frame.get(f"{PRESENTATION}class") == "title"


def _level(heading: Any) -> int:
    level = heading.get(f"{TEXT}outline-level", "1")
    return min(6, max(1, int(level))) if level.isdecimal() else 1
