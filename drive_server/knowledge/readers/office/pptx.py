"""The text of PowerPoint presentations: slides in their order, each with its title, tables and notes.

python-pptx reads every picture and film into memory and has no limits; the text is in a few parts of plain XML
(ECMA-376 part 1, sections 19.3 and 21.1.2).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drive_server.knowledge.readers.archive import Archive, open_archive
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import Place

_OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MAIN = "ppt/presentation.xml"
_TITLES = ("title", "ctrTitle")
_NOT_READ = ("sldNum", "dt", "ftr", "hdr", "sldImg")
_SHAPE, _TABLE, _NOTES = f"{_P}sp", f"{_A}tbl", "ppt/notesSlides/"
_DRAWN = ("ppt/diagrams/data", "ppt/charts/chart")
_COMMENTS = "ppt/comments/"
_CHART_VALUE = "{http://schemas.openxmlformats.org/drawingml/2006/chart}v"


def pptx_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a presentation. Blocks. Raises what a damaged file makes zipfile and lxml raise."""
    with open_archive(path) as archive:
        return join(_presentation(archive))


def _presentation(archive: Archive) -> Iterator[Part]:
    relations = archive.relations(_MAIN)
    ids = [slide.get(f"{_OFFICE}id") for slide in archive.xml(_MAIN).iter(f"{_P}sldId")]
    for number, name in enumerate((relations.get(one or "") for one in ids), start=1):
        if name:
            yield from _slide(archive, name, Place("slide", number, number))


def _slide(archive: Archive, name: str, place: Place) -> Iterator[Part]:
    shapes = list(_shapes(archive.xml(name)))
    for role, shape in shapes:
        if role in _TITLES and (title := " ".join(_texts(shape))):
            yield Part("title", title, level=1, place=place)
    for role, shape in shapes:
        if role not in _TITLES:
            yield from _shape_parts(shape, place, is_list=role in ("body", "obj"))
    related = archive.relations(name).values()
    for target in sorted(one for one in related if one.startswith(_DRAWN)):
        root = archive.xml(target)
        yield from (Part("text", text, place=place) for text in _texts(root))
        yield Part("text", " ".join(_chart_words(root)), place=place)
    for target in sorted(one for one in related if one.startswith(_COMMENTS)):
        root = archive.xml(target)
        old = (one.text or "" for one in root.iter(f"{_P}text"))
        yield from (Part("text", text.strip(), place=place) for text in (*old, *_texts(root)))
    for target in sorted(one for one in related if one.startswith(_NOTES)):
        for role, shape in _shapes(archive.xml(target)):
            if role == "body":
                yield from (Part("text", text, place=place) for text in _texts(shape))


def _shapes(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield shapes and tables with the role that the layout gives them, groups included, in reading order."""
    for element in root.iter(_SHAPE, _TABLE):
        placeholder = next(element.iter(f"{_P}ph"), None) if element.tag == _SHAPE else None
        role = "" if placeholder is None else placeholder.get("type", "obj")
        if role not in _NOT_READ:
            yield role, element


def _shape_parts(shape: Any, place: Place, *, is_list: bool) -> Iterator[Part]:
    if shape.tag == _TABLE:
        rows = (" | ".join(" ".join(_texts(cell)) for cell in row.iter(f"{_A}tc")) for row in shape.iter(f"{_A}tr"))
        yield Part("table", "\n".join(row for row in rows if row.strip(" |")), place=place)
        return
    for text in _texts(shape):
        yield Part("list_item" if is_list else "text", text, place=place)


def _texts(element: Any) -> Iterator[str]:
    """Yield the paragraphs that have words in them."""
    for paragraph in element.iter(f"{_A}p"):
        pieces = ("\n" if one.tag == f"{_A}br" else one.text or "" for one in paragraph.iter(f"{_A}t", f"{_A}br"))
        if text := "".join(pieces).strip():
            yield text


def _chart_words(root: Any) -> Iterator[str]:
    """Yield the names of a chart's series and categories, each once, but not its numbers."""
    values = ((one.text or "").strip() for one in root.iter(_CHART_VALUE))
    return iter(dict.fromkeys(value for value in values if any(map(str.isalpha, value))))
