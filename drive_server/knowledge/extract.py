"""The one way from a file to its text. Every reader is behind it, and every error of theirs ends here."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from drive_server.knowledge.decode import decode_file
from drive_server.knowledge.elements import Element, Extraction, too_long
from drive_server.knowledge.formats import HEAD_BYTES, Format, format_of, is_image
from drive_server.knowledge.markdown import markdown_elements
from drive_server.knowledge.plain import code_elements, table_elements, text_elements

logger = logging.getLogger(__name__)

MAX_INDEXED_CHARACTERS = 2_000_000
_Elements = Callable[[str, int], Iterator[Element]]
_ELEMENTS: dict[Format, _Elements] = {
    Format.TEXT: text_elements,
    Format.MARKDOWN: markdown_elements,
    Format.CODE: code_elements,
    Format.CSV: table_elements,
}


def extract(path: Path, name: str, media_type: str) -> Extraction:
    """Return the text of the file at `path`, or the state that says why there is none. Blocks, maybe for minutes.

    `name` is the file's name in the drive. For text, Markdown, code and CSV the text is the decoded file, character
    by character; their elements end at `MAX_INDEXED_CHARACTERS`. Raises `OSError` if the file can't be opened; a file
    that can't be understood is a state, not an error.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    found = format_of(name, media_type, head)
    if not head:
        return Extraction("ready", exact=found.keeps_offsets, encoding="utf-8")
    try:
        extraction = _read(path, name, found)
    except Exception as error:  # noqa: BLE001 - readers raise anything at all for a damaged file; its kind is reported
        logger.info("A file could not be read as %s: %s.", found, type(error).__name__)
        return Extraction("failed", f"The file is damaged, or not what its name says ({type(error).__name__}).")
    return _with_limit_named(extraction)


def _read(path: Path, name: str, found: Format) -> Extraction:
    if found.keeps_offsets:
        return _exact_extraction(path, name, _ELEMENTS[found])
    if found == Format.PDF:
        from drive_server.knowledge.pdf import pdf_extraction  # loads pdfium: not before a PDF comes

        return pdf_extraction(path)
    from drive_server.knowledge import markup  # loads unstructured: a second of CPU, 150 MB

    return markup.html_extraction(path) if found == Format.HTML else markup.docx_extraction(path)


def _exact_extraction(path: Path, name: str, elements: _Elements) -> Extraction:
    decoded = decode_file(path)
    if decoded is None:
        what = "Images have no text" if is_image(name) else "The file is not text, or its encoding is not known"
        return Extraction("unsupported", f"{what}.")
    notes = [too_long()] if decoded.truncated else []
    notes += ["Some bytes are not text; they were replaced."] if decoded.lossy else []
    found = tuple(elements(decoded.text, MAX_INDEXED_CHARACTERS))
    exact = not decoded.truncated and not decoded.lossy
    return Extraction("ready", " ".join(notes), found, decoded.text, exact, decoded.encoding)


def _with_limit_named(extraction: Extraction) -> Extraction:
    if len(extraction.text) <= MAX_INDEXED_CHARACTERS:
        return extraction
    note = f"Only the first {MAX_INDEXED_CHARACTERS:,} characters can be searched."
    return replace(extraction, reason=f"{extraction.reason} {note}".strip())
