"""Files within files, such as attachments and embedded documents: each is read as a file of its own."""

import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.text.elements import Extraction, Part
from drive_server.knowledge.text.place import SourceRange

MAX_BYTES = 50_000_000
"""Larger files are not read: each is written to disk for its reader."""

MAX_DEPTH = 3
"""The deepest nesting of files within files."""

_depth: ContextVar[int] = ContextVar("_depth", default=0)


def read_contained(name: str, media_type: str, data: bytes) -> Extraction | None:
    """Return the text of a file within a file; None for one that is empty, too large or nested too deep. Blocks."""
    if not data or len(data) > MAX_BYTES or _depth.get() >= MAX_DEPTH:
        return None
    token = _depth.set(_depth.get() + 1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "contained")
            path.write_bytes(data)
            return extract(path, name, media_type)
    finally:
        _depth.reset(token)


def contained_parts(extraction: Extraction, below: int, place: SourceRange | None = None) -> Iterator[Part]:
    """Yield a contained file's parts, its headings below a level; its places are not places of the file around it."""
    for element in extraction.elements:
        text = extraction.text[element.start : element.end] if extraction.exact else element.text
        level = min(6, element.level + below) if element.kind == "title" else 0
        yield Part(element.kind, text, level=level, place=place)
