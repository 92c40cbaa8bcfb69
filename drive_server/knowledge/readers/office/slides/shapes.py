"""The shapes of a slide in reading order: titles, text, tables, charts, diagrams, pictures, groups of them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from drive_server.knowledge.readers.office.markup.objects import (
    RELATION,
    SMALLEST,
    RelatedObjects,
    description,
    is_decorative,
)
from drive_server.knowledge.readers.office.slides.names import EDGES, NOT_READ, NUMBER, TITLES, UNSET_NUMBER, A, P, role
from drive_server.knowledge.readers.office.slides.order import Layout, in_reading_order, own_box
from drive_server.knowledge.readers.office.slides.texts import table_text, texts
from drive_server.knowledge.text.elements import Part
from drive_server.knowledge.text.place import SourceRange

_SHAPE, _GROUP, _PICTURE, _FRAME, _LINE = (f"{P}{name}" for name in ("sp", "grpSp", "pic", "graphicFrame", "cxnSp"))
_READ = frozenset((_SHAPE, _GROUP, _PICTURE, _FRAME, _LINE))
_MEDIA = tuple(f"{A}{name}" for name in ("videoFile", "audioFile", "wavAudioFile", "quickTimeFile"))
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATIVES = f"{_COMPATIBILITY}AlternateContent"
_CHOICES = (f"{_COMPATIBILITY}Choice", f"{_COMPATIBILITY}Fallback")
_LISTS = ("body", "obj")


def prepare(root: Any) -> Any:
    """Replace alternatives by their first choice, so that no copy for older programs is read."""
    for element in list(root.iter(_ALTERNATIVES)):
        parent = element.getparent()
        chosen = next(element.iterchildren(*_CHOICES), None)
        for child in reversed(() if chosen is None else list(chosen)):
            element.addnext(child)
        parent.remove(element)
    return root


class Shapes:
    """The reader of one slide's shapes."""

    def __init__(self, layout: Layout, objects: RelatedObjects, place: SourceRange, shown: set[str]) -> None:
        """`shown`: the footers, dates and words of layouts that were read on slides before; new ones are added."""
        self._layout = layout
        self._shown = shown
        self._objects = objects
        self._place = place

    def parts(self, root: Any, mark: str) -> Iterator[Part]:
        """Yield the title, with a mark behind it, and then the other shapes."""
        tree = root.find(f"{P}cSld/{P}spTree")
        shapes = [] if tree is None else in_reading_order(_children(tree), self._layout.box)
        titles = [shape for shape in shapes if role(shape) in TITLES]
        title = " ".join(text for shape in titles for text in texts(shape))
        if title:
            yield Part("title", f"{title} {mark}".strip(), level=1, place=self._place)
        elif mark:
            yield Part("text", mark, place=self._place)
        for shape in shapes:
            if role(shape) not in TITLES:
                yield from self._shape(shape)
        yield from self._edges(shapes)

    def _edges(self, shapes: Iterable[Any]) -> Iterator[Part]:
        """Yield footers and dates, and the words that lie on the layout, if no slide before has shown them."""
        for shape in (shape for shape in shapes if role(shape) in (*EDGES, NUMBER)):
            for text in texts(shape):
                kept = _without_number(text, self._place.first) if role(shape) == NUMBER else text
                if not kept or kept in self._shown:
                    self._objects.omissions.add("margin")
                else:
                    yield Part("text", text, place=self._place)
                self._shown.add(kept)
        for text in (text for shape in self._layout.words for text in texts(shape)):
            if text not in self._shown:
                self._shown.add(text)
                yield Part("text", text, place=self._place)

    def _shape(self, shape: Any) -> Iterator[Part]:
        if role(shape) in NOT_READ:
            return
        if shape.tag == _GROUP:
            for child in in_reading_order(_children(shape), own_box):
                yield from self._shape(child)
        elif shape.tag == _PICTURE:
            yield from self._picture(shape)
        elif shape.tag == _FRAME:
            yield from self._frame(shape)
        else:
            kind = "list_item" if role(shape) in _LISTS else "text"
            yield from (Part(kind, text, place=self._place) for text in texts(shape))

    def _picture(self, shape: Any) -> Iterator[Part]:
        if next(shape.iter(*_MEDIA), None) is not None:
            self._objects.omissions.add("embedded")
            return
        properties = next(shape.iter(f"{P}cNvPr"), None)
        box = self._layout.box(shape)
        if is_decorative(properties) or (box and min(box[2] - box[0], box[3] - box[1]) <= SMALLEST):
            return
        text = description(properties)
        self._objects.omissions.add("picture", int(not text))
        if text:
            yield Part("text", f"[{text}]", place=self._place)

    def _frame(self, frame: Any) -> Iterator[Part]:
        for table in frame.iter(f"{A}tbl"):
            yield Part("table", table_text(table), place=self._place)
        self._objects.add_graphics(frame)
        for embedded in frame.iter(f"{P}oleObj"):
            self._objects.add_document(embedded.get(f"{RELATION}id", ""), "embedded", embedded.get("progId", ""))
        yield from self._objects.take_parts()


def _without_number(text: str, number: int) -> str:
    """Return the text of a slide's number without the number of the passage's place, blank for nothing else."""
    return re.sub(rf"(?<!\d){number}(?!\d)|{UNSET_NUMBER}", "", text).strip()


def _children(tree: Any) -> list[Any]:
    return [child for child in tree if child.tag in _READ]
