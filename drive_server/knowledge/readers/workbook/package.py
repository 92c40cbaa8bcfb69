"""The parts of an Office package by their relationships, not by their names (ECMA-376 part 2, section 9)."""

import io
import posixpath
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.knowledge.readers.archive import Archive, parse_xml, resolve

_FALLBACKS: Final = ("xl/workbook.xml", "xl/workbook.bin")
_FATAL: Final = 3


class Relation(NamedTuple):
    """A relationship: its id, the last word of its type, and the part that it leads to."""

    id: str
    kind: str
    target: str


class Package:
    """The parts of an Office file. Their names differ neither by case nor by the kind of slash."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._names = {_folded(name): name for name in archive.names}

    def main_part(self) -> str:
        """Return the name of the part that the package is about. Raises `KeyError` if there is none."""
        found = [one.target for one in self.relations("") if one.kind == "officeDocument"]
        for name in (*found, *_FALLBACKS):
            if self.has(name):
                return name
        raise KeyError("officeDocument")

    def has(self, name: str) -> bool:
        """Say whether there is such a part."""
        return _folded(name) in self._names

    def read(self, name: str) -> bytes:
        """Return a part's bytes. Raises as `Archive.read` does."""
        return self._archive.read(self._names[_folded(name)])

    def xml(self, name: str) -> Any:
        """Return the root element of a part."""
        return parse_xml(self.read(name))

    def elements(self, name: str, *tags: str) -> Iterator[Any]:
        """Yield the elements of these local names as they end, and forget each after that.

        An undeclared namespace is no fault; every other one raises `lxml.etree.XMLSyntaxError`.
        """
        wanted = [f"{{*}}{tag}" for tag in tags]
        options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "recover": True}
        parser = etree.iterparse(io.BytesIO(self.read(name)), events=("end",), tag=wanted, **options)
        for _, element in parser:
            yield element
            element.clear(keep_tail=False)
            _forget_before(element)
        for entry in parser.error_log:
            if entry.level >= _FATAL:
                raise etree.XMLSyntaxError(entry.message, entry.type, entry.line, entry.column)

    def relations(self, name: str) -> list[Relation]:
        """Return the relationships of a part to others of the package; of the package itself for an empty name."""
        folder, base = posixpath.split(name)
        path = posixpath.join(folder, "_rels", f"{base}.rels")
        if not self.has(path):
            return []
        found = (
            Relation(one.get("Id", ""), _kind(one.get("Type", "")), resolve(folder, one.get("Target", "")))
            for one in self.xml(path).iter("{*}Relationship")
            if one.get("TargetMode") != "External"
        )
        return [one for one in found if self.has(one.target)]

    def related(self, name: str, *kinds: str) -> list[str]:
        """Return the parts that a part relates to in one of these ways."""
        return [one.target for one in self.relations(name) if one.kind in kinds]


def relation_id(element: Any) -> str:
    """Return the id of the relationship that an element names, in transitional and in strict files."""
    return next((value for key, value in element.items() if key.endswith("}id")), "")


def _forget_before(element: Any) -> None:
    parent = element.getparent()
    while parent is not None and parent[0] is not element:
        del parent[0]


def _kind(relationship_type: str) -> str:
    return relationship_type.rpartition("/")[2]


def _folded(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()
