"""The text of Word documents: body, notes, comments, and the heads and feet of pages.

unstructured and python-docx ask the whole document for each paragraph's style, and take some twenty times as long.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from drive_server.knowledge.readers.archive import Archive, Relationship, open_archive
from drive_server.knowledge.readers.office.word.blocks import Blocks, prepare
from drive_server.knowledge.readers.office.word.names import W
from drive_server.knowledge.readers.office.word.numbering import Numbering
from drive_server.knowledge.readers.office.word.objects import Objects
from drive_server.knowledge.readers.office.word.styles import Styles
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

_USUAL_MAIN = "word/document.xml"
_USUAL_NAMES = ("styles", "numbering", "footnotes", "endnotes", "comments", "header", "footer")
_NOTES = ("footnotes", "endnotes", "comments")
_MARGINS = ("header", "footer")
_MAX_MARGINS = 100


def docx_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a Word document. Blocks. Raises the errors of zipfile and lxml for a damaged file."""
    with open_archive(path) as archive:
        return join(_Document(archive, omissions).parts())


class _Document:
    """The parts of a document by the kinds of relationships that its main part has to them."""

    def __init__(self, archive: Archive, omissions: Omissions) -> None:
        self._archive = archive
        self._omissions = omissions
        self._main = archive.main_part() or archive.find(_USUAL_MAIN)
        if not self._main:
            raise UnreadableError("no_text_part")
        self._related = archive.relationships(self._main) or list(_usual_parts(archive))
        self._styles = Styles(self._root("styles"))
        self._numbering = Numbering(self._root("numbering"), self._styles)

    def parts(self) -> Iterator[Part]:
        """Yield all parts in order."""
        body = prepare(self._archive.xml(self._main)).find(f"{W}body")
        yield from self._blocks(self._main).parts(body)
        for kind in _NOTES:
            for name in self._names(kind):
                yield from self._notes(name)
        yield from self._margins()

    def _notes(self, name: str) -> Iterator[Part]:
        """Yield footnotes, endnotes or comments, a comment with its author."""
        blocks = self._blocks(name)
        for note in prepare(self._archive.xml(name)):
            author = " ".join(note.get(f"{W}author", "").split())
            for number, part in enumerate(one for one in blocks.parts(note) if one.text):
                yield replace(part, text=f"{author}: {part.text}") if author and not number else part

    def _margins(self) -> Iterator[Part]:
        """Yield the headers and footers of pages, each once: sections repeat them."""
        seen: set[str] = set()
        for name in [name for kind in _MARGINS for name in self._names(kind)][:_MAX_MARGINS]:
            for part in self._blocks(name, is_margin=True).parts(prepare(self._archive.xml(name))):
                if part.text not in seen:
                    seen.add(part.text)
                    yield part

    def _blocks(self, part: str, *, is_margin: bool = False) -> Blocks:
        objects = Objects(self._archive, part, self._omissions, is_margin=is_margin)
        return Blocks(self._styles, self._numbering, objects)

    def _names(self, kind: str) -> list[str]:
        return list(dict.fromkeys(one.target for one in self._related if one.kind == kind))

    def _root(self, kind: str) -> Any:
        names = self._names(kind)
        return self._archive.xml(names[0]) if names else None


def _usual_parts(archive: Archive) -> Iterator[Relationship]:
    """Yield the parts of a document without relationships, which some programs write, by their usual names."""
    for kind in _USUAL_NAMES:
        yield from (
            Relationship("", kind, name)
            for name in sorted(archive.names)
            if (name.startswith(f"word/{kind}") and name.removeprefix(f"word/{kind}").removesuffix(".xml").isdecimal())
            or name == f"word/{kind}.xml"
        )
