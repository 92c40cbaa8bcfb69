"""The text of PowerPoint presentations: slides in their order, each with its title, tables, comments and notes.

python-pptx reads every picture and film into memory and has no limits; the text is in a few parts of plain XML.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from drive_server.knowledge.readers.archive import Archive, open_archive
from drive_server.knowledge.readers.office.markup.objects import RELATION, RelatedObjects
from drive_server.knowledge.readers.office.slides.names import NOT_READ, NUMBER, OFF, P, role
from drive_server.knowledge.readers.office.slides.order import Layout
from drive_server.knowledge.readers.office.slides.shapes import Shapes, prepare
from drive_server.knowledge.readers.office.slides.texts import texts
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import SourceRange
from drive_server.knowledge.text.unreadable import UnreadableError

_USUAL_MAIN = "ppt/presentation.xml"
_MODERN = "{http://schemas.microsoft.com/office/powerpoint/2018/8/main}"
_AUTHORS = ("commentAuthors", "authors")
_HIDDEN = "(hidden slide)"


def pptx_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a presentation. Blocks. Raises the errors of zipfile and lxml for a damaged file."""
    with open_archive(path) as archive:
        return join(_Presentation(archive, omissions).parts())


class _Presentation:
    def __init__(self, archive: Archive, omissions: Omissions) -> None:
        self._archive = archive
        self._omissions = omissions
        self._main = archive.main_part() or archive.find(_USUAL_MAIN)
        if not self._main:
            raise UnreadableError("no_text_part")
        self._layouts: dict[str, Layout] = {}
        self._shown: set[str] = set()
        self._authors = dict(self._named_authors())

    def parts(self) -> Iterator[Part]:
        """Yield the slides in their order."""
        relations = self._archive.relations(self._main)
        ids = [slide.get(f"{RELATION}id", "") for slide in self._archive.xml(self._main).iter(f"{P}sldId")]
        for number, one in enumerate(ids, start=1):
            if one in relations:
                yield from self._slide(relations[one], SourceRange("slide", number, number))
            else:
                self._omissions.add("page")

    def _slide(self, name: str, place: SourceRange) -> Iterator[Part]:
        root = prepare(self._archive.xml(name))
        related = self._related(name)
        layout = self._layout(next(iter(related.get("slideLayout", ())), ""))
        objects = RelatedObjects(self._archive, name, self._omissions, place)
        yield from Shapes(layout, objects, place, self._shown).parts(root, _HIDDEN if root.get("show") in OFF else "")
        for target in related.get("comments", ()):
            yield from (Part("text", text, place=place) for text in self._comments(target))
        for target in related.get("notesSlide", ()):
            yield from (Part("text", text, place=place) for text in self._notes(self._archive.xml(target)))

    def _related(self, name: str) -> Mapping[str, list[str]]:
        related: dict[str, list[str]] = {}
        for one in self._archive.relationships(name):
            related.setdefault(one.kind, []).append(one.target)
        return related

    def _layout(self, name: str) -> Layout:
        if name not in self._layouts:
            masters = self._related(name).get("slideMaster", []) if name else []
            self._layouts[name] = Layout(*(self._archive.xml(one) for one in (name, *masters) if one))
        return self._layouts[name]

    def _named_authors(self) -> Iterator[tuple[str, str]]:
        for one in self._archive.relationships(self._main):
            if one.kind in _AUTHORS:
                yield from ((author.get("id", ""), author.get("name", "")) for author in self._archive.xml(one.target))

    def _comments(self, name: str) -> Iterator[str]:
        """Yield comments with their authors; of threads, each answer."""
        for comment in self._archive.xml(name).iter(f"{P}cm", f"{_MODERN}cm", f"{_MODERN}reply"):
            author = self._authors.get(comment.get("authorId", ""), "")
            body = comment.find(f"{_MODERN}txBody")
            words = comment.findtext(f"{P}text") or "\n".join(() if body is None else texts(body))
            if words.strip():
                yield f"{author}: {words.strip()}" if author else words.strip()

    def _notes(self, root: Any) -> Iterator[str]:
        """Yield the notes of a speaker, and the other texts beside them; heads, feet and dates once."""
        for shape in prepare(root).iter(f"{P}sp"):
            words = list(texts(shape))
            if role(shape) == NUMBER:
                self._omissions.add("margin", len(words))
                continue
            if role(shape) in NOT_READ:
                words = [text for text in words if text not in self._shown]
                self._shown.update(words)
            yield from words
