"""Drawings, pictures and embedded objects in a Word document: the text that stands for them, or their count."""

from collections.abc import Iterator
from typing import Any

from drive_server.knowledge.readers.archive import Archive
from drive_server.knowledge.readers.office.markup.objects import (
    RELATION,
    SMALLEST,
    RelatedObjects,
    alternative,
    description,
    is_decorative,
)
from drive_server.knowledge.readers.office.word.names import W
from drive_server.knowledge.text.elements import Part
from drive_server.knowledge.text.omissions import OmissionKind, Omissions

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/"
_PICTURE, _PICTURE_NAME = f"{_DRAWING}picture}}pic", f"{_DRAWING}picture}}cNvPr"
_PROPERTIES, _EXTENT = f"{_DRAWING}wordprocessingDrawing}}docPr", f"{_DRAWING}wordprocessingDrawing}}extent"
_OFFICE = "{urn:schemas-microsoft-com:office:office}"
_OBJECT, _RULE = f"{_OFFICE}OLEObject", f"{_OFFICE}hr"
_V = "{urn:schemas-microsoft-com:vml}"


class Objects:
    """The objects of one part of the document. In heads and feet of pages (`is_margin`) pictures are decoration."""

    def __init__(self, archive: Archive, part: str, omissions: Omissions, *, is_margin: bool = False) -> None:
        self._related = RelatedObjects(archive, part, omissions)
        self._is_margin = is_margin

    def take_parts(self) -> list[Part]:
        """Return the charts and embedded documents since the last call; they follow their paragraph."""
        return self._related.take_parts()

    def count(self, kind: OmissionKind, count: int = 1) -> None:
        """Count things that aren't read."""
        self._related.omissions.add(kind, count)

    def drawing(self, element: Any) -> str:
        """Return the text that stands for a drawing."""
        self._related.add_graphics(element)
        properties = next(element.iter(_PROPERTIES), None)
        if self._is_margin or _is_small(element) or is_decorative(properties):
            return ""
        if text := description(properties):
            return f" [{text}] "
        pictures = element.iter(_PICTURE)
        return self._instead([description(next(picture.iter(_PICTURE_NAME), None)) for picture in pictures])

    def old_picture(self, element: Any) -> str:
        """Return the text that stands for a picture of VML, and the words of WordArt."""
        words = " ".join(path.get("string", "") for path in element.iter(f"{_V}textpath"))
        if self._is_margin:
            return words
        pictures = [shape.getparent() for shape in element.iter(f"{_V}imagedata")]
        texts = [alternative(picture.get("alt", "")) for picture in pictures if not picture.get(_RULE)]
        return words + self._instead(texts)

    def _instead(self, texts: list[str]) -> str:
        """Return the texts in place of pictures, and count the pictures without one."""
        self.count("picture", texts.count(""))
        return "".join(f" [{text}] " for text in texts if text)

    def embedded(self, element: Any) -> str:
        """Read an embedded document after its paragraph, or count the object; the picture in it only shows it."""
        self.count("form_field", sum(1 for _ in element.iter(f"{W}control")))
        for one in element.iter(_OBJECT):
            self._related.add_document(one.get(f"{RELATION}id", ""), "embedded", one.get("ProgID", ""))
        return ""

    def included(self, element: Any) -> Iterator[Part]:
        """Yield the parts of a document that is included as it is (sections 17.17.2.1 and 17.2.3)."""
        self._related.add_document(element.get(f"{RELATION}id", ""), "included_part")
        yield from self.take_parts()


def _is_small(element: Any) -> bool:
    extent = next(element.iter(_EXTENT), None)
    sides = () if extent is None else (extent.get("cx", ""), extent.get("cy", ""))
    return any(side.isdecimal() and int(side) <= SMALLEST for side in sides)
