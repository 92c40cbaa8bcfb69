"""Documents that are zip archives of XML, opened with limits on what they unpack to."""

import posixpath
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.knowledge.text.elements import UnreadableError, needs_password

MAX_ENTRIES = 20_000
MAX_UNPACKED_BYTES = 300_000_000
HARMLESS_BYTES = 30_000_000
MAX_RATIO = 250
"""The largest ratio of unpacked to packed size of a large entry. XML of real documents stays below a hundred."""

_PIECE = 1 << 20
_ENCRYPTED = 1
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Archive:
    """The entries of a zip archive, of which a limited number of bytes is read in all."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MAX_UNPACKED_BYTES
        self.names = frozenset(archive.namelist())

    def read(self, name: str) -> bytes:
        """Return an entry's bytes. Raises `KeyError` if there is none, `UnreadableError` if it is too large."""
        self._admit(self._archive.getinfo(name))
        return self._archive.read(name)

    def xml(self, name: str, renamed: tuple[bytes, bytes] = (b"", b"")) -> Any:
        """Return the root element of an entry, a namespace in it `renamed` from one to another."""
        data = self.read(name)
        return parse_xml(data.replace(*renamed) if renamed[0] and renamed[0] in data else data)

    def relations(self, name: str) -> dict[str, str]:
        """Return the entries that an entry of an Office document refers to, by id (ECMA-376 part 2, section 9.3)."""
        folder, base = posixpath.split(name)
        path = posixpath.join(folder, "_rels", f"{base}.rels")
        if path not in self.names:
            return {}
        found = {
            relation.get("Id", ""): resolve(folder, relation.get("Target", ""))
            for relation in self.xml(path).iter(_RELATION)
            if relation.get("TargetMode") != "External"
        }
        return {key: target for key, target in found.items() if target in self.names}

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
            raise needs_password()
        self._left -= entry.file_size
        bomb = entry.file_size > HARMLESS_BYTES and entry.file_size > MAX_RATIO * entry.compress_size
        if self._left < 0 or bomb:
            raise UnreadableError("failed", f"The document unpacks to more than {MAX_UNPACKED_BYTES:,} bytes allow.")


@contextmanager
def open_archive(path: Path) -> Generator[Archive]:
    """Open a zip archive. Raises `zipfile.BadZipFile` if it is none, `UnreadableError` if it has too many entries."""
    with zipfile.ZipFile(path) as archive:
        if len(archive.infolist()) > MAX_ENTRIES:
            raise UnreadableError("failed", f"The document has more than {MAX_ENTRIES:,} parts.")
        yield Archive(archive)


def parse_xml(data: bytes) -> Any:
    """Return the root element. Entities are not expanded, nothing is loaded, and libxml2's own limits hold.

    Raises `lxml.etree.XMLSyntaxError`, also for elements nested too deep.
    """
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def resolve(folder: str, target: str) -> str:
    """Return the entry that a link in a folder of the archive points to."""
    path = unquote(target.split("#")[0])
    return path[1:] if path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))
