"""Everything on a sheet of xlsx beside its cells: comments, text boxes, charts, pictures, heads and feet of pages."""

import re
from collections.abc import Iterator
from typing import Any, Final

from drive_server.knowledge.readers.workbook.package import Package
from drive_server.knowledge.readers.workbook.xlsx_styles import rich_text, unescaped
from drive_server.knowledge.text.omissions import Omissions

_PLACE: Final = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_HEAD_CODE: Final = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|K\d\d[+-]\d{3}|\d{1,3}|[A-Za-z+-])')
_EMBEDDED: Final = ("oleObject", "package", "control")
_WORDS_OF: Final = ("chart", "chartEx", "diagramData")
Comments = dict[int, dict[int, str]]
"""The comments of a sheet by row (from 1) and column (from 0)."""


def comments_of(package: Package, sheet: str) -> Comments:
    """Return the notes and the threads of comments. A note that only stands for a thread is left out."""
    threads: dict[str, list[str]] = {}
    for part in package.related(sheet, "threadedComment"):
        for one in package.xml(part).iter("{*}threadedComment"):
            text = " ".join((one.findtext("{*}text") or "").split())
            threads.setdefault(one.get("ref") or "", []).append(text)
    notes = {place: "; ".join(texts) for place, texts in threads.items()}
    for part in package.related(sheet, "comments"):
        for one in package.xml(part).iter("{*}comment"):
            text = one.find("{*}text")
            if text is not None:
                notes.setdefault(one.get("ref") or "", " ".join(rich_text(text).split()))
    return _by_place(notes)


def _by_place(notes: dict[str, str]) -> Comments:
    comments: Comments = {}
    for place, text in notes.items():
        if (match := _PLACE.fullmatch(place)) and text:
            column = 0
            for letter in match[1]:
                column = column * 26 + ord(letter) - ord("A") + 1
            comments.setdefault(int(match[2]), {})[column - 1] = text
    return comments


def head_and_foot(element: Any) -> list[str]:
    """Return the words at the head and the foot of printed pages, without numbers of pages and fonts."""
    texts = (" ".join(_HEAD_CODE.sub(" ", one.text or "").split()) for one in element if isinstance(one.tag, str))
    return list(dict.fromkeys(text for text in texts if any(map(str.isalpha, text))))


def object_texts(package: Package, sheet: str, omissions: Omissions) -> Iterator[str]:
    """Yield the words of text boxes, charts and diagrams; count pictures and embedded files."""
    omissions.add("embedded", len(package.related(sheet, *_EMBEDDED)))
    for drawing in package.related(sheet, "drawing"):
        root = package.xml(drawing)
        omissions.add("picture", _pictures(root))
        yield from _paragraphs(root)
        for part in package.related(drawing, *_WORDS_OF):
            yield from _paragraphs(package.xml(part))


def _pictures(root: Any) -> int:
    """Return how many pictures there are; one that stands for an embedded object counts as that only."""
    return sum(1 for one in root.iter("{*}pic") if not any("AlternateContent" in up.tag for up in one.iterancestors()))


def _paragraphs(root: Any) -> Iterator[str]:
    seen: set[str] = set()
    for paragraph in root.iter(
        "{http://schemas.openxmlformats.org/drawingml/2006/main}p", "{http://purl.oclc.org/ooxml/drawingml/main}p"
    ):
        text = " ".join(unescaped("".join(one.text or "" for one in paragraph.iter("{*}t"))).split())
        if text and text not in seen:
            seen.add(text)
            yield text
