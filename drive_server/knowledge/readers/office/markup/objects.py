"""Charts, diagrams, embedded documents and pictures in Office documents: their words, and the count of the others."""

import re
from collections.abc import Iterable
from typing import Any, Final

from drive_server.knowledge.readers.archive import Archive
from drive_server.knowledge.readers.contained import contained_parts, read_contained
from drive_server.knowledge.readers.office.markup.charts import chart_texts, paragraph_texts
from drive_server.knowledge.text.elements import Part
from drive_server.knowledge.text.omissions import OmissionKind, Omissions
from drive_server.knowledge.text.place import SourceRange

CHARTS: Final = (
    "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart",
    "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart",
)
DIAGRAM: Final = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DECORATIVE = "{http://schemas.microsoft.com/office/drawing/2017/decorative}decorative"
_FILE_NAME = re.compile(r"(?:[A-Za-z]:\\.*|\S*)\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg)", re.IGNORECASE)

SMALLEST: Final = 47_625
"""Five pixels in English Metric Units: pictures below are spacers and rules."""


class RelatedObjects:
    """The objects that one part of a document refers to; `part` is its name."""

    def __init__(self, archive: Archive, part: str, omissions: Omissions, place: SourceRange | None = None) -> None:
        self._archive = archive
        self._relations = archive.relations(part)
        self.omissions = omissions
        self._place = place
        self._parts: list[Part] = []

    def take_parts(self) -> list[Part]:
        """Return the parts read from the objects since the last call."""
        parts, self._parts = self._parts, []
        return parts

    def add_graphics(self, element: Any) -> None:
        """Read the charts and diagrams in an element."""
        for chart in element.iter(*CHARTS):
            self._add_chart(self._relations.get(chart.get(f"{RELATION}id", "")))
        for diagram in element.iter(DIAGRAM):
            self._add_diagram(self._relations.get(diagram.get(f"{RELATION}dm", "")))

    def add_document(self, relation: str, kind: OmissionKind, program: str = "") -> None:
        """Read a document within the document, or count it as the kind; as an equation if it is an editor's."""
        if program.startswith(("Equation", "MathType")):
            self.omissions.add("equation")
            return
        target = self._relations.get(relation, "")
        data = self._archive.read(target) if target else b""
        extraction = read_contained(target, self._archive.content_type(target) if target else "", data)
        if extraction is None or extraction.state != "ready":
            self.omissions.add(kind)
            return
        self.omissions.add_all(extraction.omissions)
        self._parts += contained_parts(extraction, 0, self._place)

    def _add_chart(self, target: str | None) -> None:
        titles, table = chart_texts(self._archive.xml(target)) if target else ([], "")
        self.omissions.add("chart", int(not titles and not table))
        self._add_texts(titles)
        self._parts.append(Part("table", table, place=self._place))

    def _add_diagram(self, target: str | None) -> None:
        self.omissions.add("drawing", int(target is None))
        self._add_texts(paragraph_texts(self._archive.xml(target)) if target else ())

    def _add_texts(self, texts: Iterable[str]) -> None:
        self._parts += (Part("text", text, place=self._place) for text in texts)


def description(properties: Any) -> str:
    """Return the text that a person wrote in place of a picture; empty for none."""
    return "" if properties is None else alternative(properties.get("descr", "") or properties.get("title", ""))


def alternative(text: str) -> str:
    """Return a text in place of a picture; empty for one that is only the name of a file."""
    text = " ".join(text.split())
    return "" if _FILE_NAME.fullmatch(text) else text


def is_decorative(properties: Any) -> bool:
    """Return whether a person marked a picture as mere decoration."""
    return properties is not None and any(one.get("val") in ("1", "true") for one in properties.iter(_DECORATIVE))
