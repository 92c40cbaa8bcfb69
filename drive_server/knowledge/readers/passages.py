"""Reading a file for the index: its passages, each with the words that it is searched by."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from drive_server.knowledge.chunk import Chunk, chunk
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.text.elements import Extraction, ExtractionState
from drive_server.knowledge.text.words import indexed_words


@dataclass(frozen=True, slots=True)
class Passages:
    """What the index needs of a file. State and reason are those of its `Extraction`."""

    state: ExtractionState
    reason: str = ""
    chunks: Sequence[Chunk] = ()


def read_passages(path: Path, name: str, media_type: str) -> Passages:
    """Return the passages of the file at `path`, as `extract` reads it. Blocks. Raises `OSError` as `extract` does."""
    return passages_of(extract(path, name, media_type))


def passages_of(extraction: Extraction) -> Passages:
    """Return the passages of a text that is read already. Blocks."""
    chunks = [replace(one, words=indexed_words(one.searched)) for one in chunk(extraction)]
    return Passages(extraction.state, extraction.reason, chunks)
