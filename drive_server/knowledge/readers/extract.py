"""From a file to its text. Every reader is called here, and every error of theirs ends here."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from drive_server.knowledge.chunk import Chunk, chunk
from drive_server.knowledge.formats import ARCHIVE, HEAD_BYTES, ZIP, Format, format_of, packed_format
from drive_server.knowledge.text.decode import decode_file
from drive_server.knowledge.text.elements import (
    MAX_CHARACTERS,
    MAX_INDEXED_CHARACTERS,
    Element,
    Extraction,
    ExtractionState,
)
from drive_server.knowledge.text.noncharacters import replace_noncharacters
from drive_server.knowledge.text.omissions import OMISSION_KINDS, Omissions, reason_with
from drive_server.knowledge.text.unreadable import UnreadableError, UnreadableKind, unreadable
from drive_server.knowledge.text.words import indexed_words

logger = logging.getLogger(__name__)

_MIMETYPE_BYTES = 100


def extract(path: Path, name: str, media_type: str) -> Extraction:
    """Return the text of the file at `path`, or the state that says why there is none. Blocks, maybe for minutes.

    `name` is the file's name in the drive. For text, Markdown, code and data the text is the decoded file, character
    by character, with U+FFFD for code points that are none. Elements end at `MAX_INDEXED_CHARACTERS`. Raises `OSError`
    if the file can't be opened; a file that can't be understood is a state, not an error.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    found = format_of(name, media_type, head)
    if not head:
        return Extraction("ready", exact=found.is_text, encoding="utf-8")
    try:
        extraction = _read(path, found, format_of(name, media_type))
    except UnreadableError as error:
        return unreadable(error.kind, error.count)
    except MemoryError:
        return unreadable("memory")
    except Exception as error:  # noqa: BLE001 - readers raise anything at all for a damaged file; its kind is reported
        logger.info("A file could not be read as %s: %s.", found.name, type(error).__name__)
        return unreadable("damaged")
    return _within_limit(extraction)


def _read(path: Path, found: Format, claimed: Format) -> Extraction:
    if found.is_text:
        return _exact_extraction(path, found, claimed)
    if found.is_packed:
        found = _format_in(path, found)
    omissions = Omissions()
    return _with_omissions(_reader_of(found)(path, omissions), omissions.counts)


def _with_omissions(extraction: Extraction, counts: Mapping[str, int]) -> Extraction:
    """Name in the reason the parts that the reader counted. The only seam from readers to all who tell of it."""
    counted = {kind: count for kind in OMISSION_KINDS if (count := {**extraction.omissions, **counts}.get(kind))}
    return replace(extraction, reason=reason_with(extraction.reason, {}, counted), omissions=counted)


def _reader_of(row: Format) -> Any:
    """Import the reader only now: most bring libraries that take time and memory."""
    module, _, function = row.reader.partition(":")
    return getattr(import_module(f"drive_server.knowledge.readers.{module}"), function)


def _format_in(path: Path, container: Format) -> Format:
    """Return the format of a zip archive or compound file by its entries."""
    if container.signature == ZIP:
        found, kind = _zipped_format(path), "archive"
    else:
        from drive_server.knowledge.readers.compound import stream_names  # only for these: olefile takes time to load

        found, kind = packed_format(container.signature, stream_names(path)), "compound"
    if found is None or found is ARCHIVE:
        raise UnreadableError(kind)
    return found


def _zipped_format(path: Path) -> Format | None:
    from drive_server.knowledge.readers.archive import open_archive  # only for these: lxml takes time to load

    with open_archive(path) as archive:
        mimetype = archive.read("mimetype")[:_MIMETYPE_BYTES] if "mimetype" in archive.names else b""
        for main_type in archive.main_types():
            if found := packed_format(ZIP, set(), main_type=main_type):
                return found
        return packed_format(ZIP, archive.names, mimetype)


def _exact_extraction(path: Path, found: Format, claimed: Format) -> Extraction:
    decoded = decode_file(path)
    if decoded is None and claimed.is_text:
        raise UnreadableError("not_text")
    if decoded is None:
        raise UnreadableError("damaged")
    omissions = Omissions()
    omissions.add("character", decoded.text.count("\ufffd") if decoded.lossy else 0)
    omissions.add("encoding", int(decoded.doubtful))
    text = replace_noncharacters(decoded.text)
    elements: tuple[Element, ...] = tuple(_reader_of(found)(text, MAX_INDEXED_CHARACTERS))
    exact = not decoded.truncated and not decoded.lossy
    omissions.add("length", MAX_CHARACTERS if decoded.truncated else 0)
    return _with_omissions(Extraction("ready", "", elements, text, exact, decoded.encoding), omissions.counts)


def _within_limit(extraction: Extraction) -> Extraction:
    """Drop the elements behind the indexed part, which nothing reads, and say so."""
    if len(extraction.text) <= MAX_INDEXED_CHARACTERS:
        return extraction
    indexed = tuple(element for element in extraction.elements if element.start < MAX_INDEXED_CHARACTERS)
    return _with_omissions(replace(extraction, reason="", elements=indexed), {"unsearched": MAX_INDEXED_CHARACTERS})


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """The passages of a file, for the index. State, reason, omissions and properties are those of its `Extraction`."""

    state: ExtractionState
    reason: str = ""
    chunks: Sequence[Chunk] = ()
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])
    properties: Mapping[str, str] = field(default_factory=dict[str, str])


def read_chunks(path: Path, name: str, media_type: str) -> ChunkedText:
    """Return the passages of the file at `path`, as `extract` reads it. Blocks. Raises `OSError` as `extract` does."""
    return chunk_extraction(extract(path, name, media_type))


def unreadable_chunks(kind: UnreadableKind, count: int = 1) -> ChunkedText:
    """Return the passages of a file that is not read, none, with the reason."""
    return chunk_extraction(unreadable(kind, count))


def chunk_extraction(extraction: Extraction) -> ChunkedText:
    """Return the passages of an extraction, each with the words that it is searched by. Blocks."""
    chunks = [replace(one, words=indexed_words(one.search_text)) for one in chunk(extraction)]
    return ChunkedText(extraction.state, extraction.reason, chunks, extraction.omissions, extraction.properties)
