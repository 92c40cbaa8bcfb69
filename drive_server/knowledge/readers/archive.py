"""Documents that are zip archives of XML, opened with limits on their unpacked size."""

import posixpath
import re
import zipfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.knowledge.text.unreadable import UnreadableError

MAX_ENTRIES = 20_000
MAX_UNPACKED_BYTES = 300_000_000
HARMLESS_BYTES = 30_000_000
MAX_RATIO = 250
"""The largest ratio of unpacked to packed size of a large entry. XML of real documents stays below a hundred."""

_PIECE = 1 << 20
_ENCRYPTED = 1
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/"
_RELATION = f"{_PACKAGE}relationships}}Relationship"
_CONTENT_TYPES = "[Content_Types].xml"
_OVERRIDE, _DEFAULT = f"{_PACKAGE}content-types}}Override", f"{_PACKAGE}content-types}}Default"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A part that a part of an Office document refers to: its id there, the last word of its type, and its name."""

    id: str
    kind: str
    target: str


class Archive:
    """The entries of a zip archive, of which a limited number of bytes is read in all.

    `names` have slashes, also where a program wrote backslashes. Names of parts are the same in either letter case
    (ECMA-376 part 2, section 6.2.2.3).
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MAX_UNPACKED_BYTES
        self._entries = {entry_name(name): name for name in reversed(archive.namelist())}
        self._folded = {name.casefold(): name for name in self._entries}
        self.names = frozenset(self._entries)

    def read(self, name: str) -> bytes:
        """Return an entry's bytes. Raises `KeyError` if there is none, `UnreadableError` if it is too large."""
        entry = self._archive.getinfo(self._entries.get(name, name))
        self._admit(entry)
        return self._archive.read(entry)

    def xml(self, name: str) -> Any:
        """Return the root element of an entry; the namespaces of Strict Open XML become the Transitional ones."""
        data = self.read(name)
        return parse_xml(_STRICT.sub(_TRANSITIONAL, data) if b"purl.oclc.org" in data else data)

    def find(self, *names: str) -> str:
        """Return the first of the names that is an entry's, as it is spelled there; empty if none is."""
        found = (name if name in self.names else self._folded.get(name.casefold(), "") for name in names)
        return next(filter(None, found), "")

    def relations(self, name: str) -> dict[str, str]:
        """Return the entries that an entry of an Office document refers to, by id (ECMA-376 part 2, section 6.5)."""
        return {one.id: one.target for one in self.relationships(name)}

    def relationships(self, name: str) -> list[Relationship]:
        """Return the references of a part of an Office document within the file, in order; the package's own for ""."""
        folder, base = posixpath.split(name)
        path = self.find(posixpath.join(folder, "_rels", f"{base}.rels"))
        if not path:
            return []
        relations = [one for one in self.xml(path).iter(_RELATION) if one.get("TargetMode") != "External"]
        found = (
            Relationship(one.get("Id", ""), one.get("Type", "").rpartition("/")[2], self._target(folder, one))
            for one in relations
        )
        return [one for one in found if one.target]

    def _target(self, folder: str, relation: Any) -> str:
        target = relation.get("Target", "").replace("\\", "/")
        literal = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        return self.find(resolve(folder, target), literal)

    def main_part(self) -> str:
        """Return the main part of an Office document, by the package's relationships; empty if it names none."""
        mains = (one.target for one in self.relationships("") if one.kind == "officeDocument")
        return next(mains, "")

    def main_types(self) -> Iterator[str]:
        """Yield the signs of an Office document's kind: its main part's content type, and its root element.

        Yields nothing for other archives, also where they have damaged parts of the same names.
        """
        with suppress(etree.XMLSyntaxError):
            if main := self.main_part():
                yield self.content_type(main)
                yield self.xml(main).tag

    def content_type(self, name: str) -> str:
        """Return the content type of a part, in lower case (ECMA-376 part 2, section 6.2.3); empty if unknown."""
        path = self.find(_CONTENT_TYPES)
        return _content_type(name.casefold(), self.xml(path)) if path else ""

    def verify(self, suffixes: tuple[str, ...]) -> None:
        """Unpack the entries that a foreign reader will unpack, so that none of their sizes is a lie."""
        for entry in self._archive.infolist():
            if entry.filename.endswith(suffixes):
                self._admit(entry)
                with self._archive.open(entry) as file:
                    while file.read(_PIECE):
                        pass

    def _admit(self, entry: zipfile.ZipInfo) -> None:
        if entry.flag_bits & _ENCRYPTED:
            raise UnreadableError("password")
        self._left -= entry.file_size
        bomb = entry.file_size > HARMLESS_BYTES and entry.file_size > MAX_RATIO * entry.compress_size
        if self._left < 0 or bomb:
            raise UnreadableError("unpacked", MAX_UNPACKED_BYTES)


@contextmanager
def open_archive(path: Path) -> Generator[Archive]:
    """Open a zip archive. Raises `zipfile.BadZipFile` if it is none, `UnreadableError` if it has too many entries."""
    with zipfile.ZipFile(path) as archive:
        if len(archive.infolist()) > MAX_ENTRIES:
            raise UnreadableError("parts", MAX_ENTRIES)
        yield Archive(archive)


def parse_xml(data: bytes) -> Any:
    """Return the root element. Entities are not expanded, nothing is loaded, and libxml2's own limits hold.

    Raises `lxml.etree.XMLSyntaxError`, also for elements nested too deep.
    """
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def entry_name(name: str) -> str:
    """Return an entry's name with slashes and without one at the beginning."""
    return name.replace("\\", "/").lstrip("/")


def _content_type(name: str, types: Iterable[Any]) -> str:
    suffix = name.rpartition(".")[2]
    default = ""
    for element in types:
        if element.tag == _OVERRIDE and entry_name(element.get("PartName", "")).casefold() in (name, unquote(name)):
            return element.get("ContentType", "").lower()
        if element.tag == _DEFAULT and element.get("Extension", "").lower() == suffix:
            default = element.get("ContentType", "").lower()
    return default


def resolve(folder: str, target: str) -> str:
    """Return the entry that a link in a folder of the archive points to."""
    path = unquote(target.split("#")[0])
    return path[1:] if path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))
