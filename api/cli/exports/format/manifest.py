"""The manifest of an export: one JSON document, written and read an item at a time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from api.cli.exports.format.bounds import MAX_LINE_BYTES, first_line, lines_of, too_long, whole
from api.cli.failure import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO, TextIO

FORMAT: Final = "drive-agent export"
SCHEMA_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
SUMS: Final = "SHA256SUMS"
STATE: Final = ".unfinished-export.json"
"""Is there as long as an export is not whole."""
LISTS: Final = ("items", "threads")
"""The lists of the document, each entry on a line of its own."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a manifest: the export's id, its times (ISO 8601), the drive's owner, and its counts."""

    export_id: str
    begun_at: str
    ended_at: str
    owner: str
    counts: dict[str, int]

    def to_json(self) -> Json:
        """Return it in the document's form."""
        return {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "export_id": self.export_id,
            "begun_at": self.begun_at,
            "ended_at": self.ended_at,
            "owner": self.owner,
            "counts": self.counts,
        }

    @classmethod
    def of(cls, document: Json) -> Header:
        """Return the header of a document. Raises `CommandError` if it is no export, or one of a newer version."""
        version = document.get("schema_version")
        if document.get("format") != FORMAT or not isinstance(version, int):
            raise no_export()
        if version > SCHEMA_VERSION:
            raise CommandError.of("export_newer", version=version, known=SCHEMA_VERSION)
        try:
            texts = [str(document[name]) for name in ("export_id", "begun_at", "ended_at", "owner")]
            return cls(*texts, counts={str(name): int(count) for name, count in document["counts"].items()})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise no_export() from error


def write_manifest(file: TextIO, header: Header, items: Iterable[Json], threads: Iterable[Json]) -> None:
    """Write the document; a line is an entry, so that it can be read as it was written."""
    file.write(dumped(header.to_json()).removesuffix("}"))
    for name, entries in zip(LISTS, (items, threads), strict=True):
        file.write(f',\n"{name}": [')
        for number, entry in enumerate(entries):
            file.write(f"{',' if number else ''}\n{dumped(entry)}")
        file.write("\n]")
    file.write("}\n")


def read_header(file: BinaryIO) -> Json:
    """Return the beginning of the document, or all of it. Raises `CommandError` if it is no manifest."""
    first = first_line(file)
    if first is None:
        raise too_long(MANIFEST, MAX_LINE_BYTES)
    try:
        document = json.loads(first.decode("utf-8", "replace").rstrip().rstrip(",") + "}")
    except (ValueError, RecursionError):
        document = {}
    if not isinstance(document, dict) or "format" not in document:  # laid out anew, or none of ours
        file.seek(0)
        return _whole(file)
    return document


def read_entries(file: BinaryIO, wanted: str) -> Iterator[Json]:
    """Yield the entries of one of the lists. Raises `CommandError` if it is no manifest."""
    try:
        yield from _lines(file, wanted)
    except ValueError:  # somebody's program laid it out anew
        file.seek(0)
        entries = _whole(file).get(wanted)
        if not isinstance(entries, list):
            raise no_export() from None
        yield from map(_checked, cast("list[Any]", entries))


def _lines(file: BinaryIO, wanted: str) -> Iterator[Json]:
    """Yield entries as long as the document is laid out as `write_manifest` does it; `ValueError` before any if not."""
    begin = f'"{wanted}": ['.encode()
    lines = lines_of(file, MANIFEST)
    next(lines, None)
    if not any(line.strip() == begin for line in lines):
        raise ValueError(wanted)
    for line in lines:
        text = line.strip().removesuffix(b",")
        if text.startswith(b"]"):
            return
        yield _checked(json.loads(text))


def _checked(entry: Any) -> Json:
    """Return the entry. Raises `CommandError` if it is no object, or if a text in it has a lone surrogate."""
    try:
        dumped(entry).encode()
    except UnicodeEncodeError as error:
        raise no_export() from error
    if not isinstance(entry, dict):
        raise no_export()
    return cast("Json", entry)


def _whole(file: BinaryIO) -> Json:
    try:
        document = json.loads(whole(file, MANIFEST))
    except (ValueError, RecursionError) as error:
        raise no_export() from error
    if not isinstance(document, dict):
        raise no_export()
    return document


def dumped(value: Any) -> str:
    """Return the value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def no_export() -> CommandError:
    """Return the error for a folder or a file that `drive-agent export` did not make."""
    return CommandError.of("no_export")
