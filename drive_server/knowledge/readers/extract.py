"""The one way from a file to its text. Every reader is behind it, and every error of theirs ends here."""

import logging
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from drive_server.knowledge.readers.formats import HEAD_BYTES, Format, archive_format, format_of
from drive_server.knowledge.readers.source.json import json_elements
from drive_server.knowledge.readers.source.markdown import markdown_elements
from drive_server.knowledge.readers.source.plain import table_elements, text_elements
from drive_server.knowledge.readers.source.sections import code_elements, ini_elements, yaml_elements
from drive_server.knowledge.readers.source.xml import xml_elements
from drive_server.knowledge.text.decode import decode_file
from drive_server.knowledge.text.elements import MAX_INDEXED_CHARACTERS, Element, Extraction, UnreadableError, too_long

logger = logging.getLogger(__name__)

_MIMETYPE_BYTES = 100
_Elements = Callable[[str, int], Iterator[Element]]
_ELEMENTS: dict[Format, _Elements] = {
    Format.TEXT: text_elements,
    Format.MARKDOWN: markdown_elements,
    Format.CODE: code_elements,
    Format.CSV: table_elements,
    Format.JSON: json_elements,
    Format.YAML: yaml_elements,
    Format.INI: ini_elements,
    Format.XML: xml_elements,
}
# Imported when a file of their kind comes: each brings libraries that take time and memory.
_READERS: dict[Format, tuple[str, str]] = {
    Format.PDF: ("pages.pdf", "pdf_extraction"),
    Format.HTML: ("source.html", "html_extraction"),
    Format.DOCX: ("office.docx", "docx_extraction"),
    Format.PPTX: ("office.pptx", "pptx_extraction"),
    Format.SHEETS: ("office.sheets", "sheets_extraction"),
    Format.OPENDOCUMENT: ("office.opendocument", "opendocument_extraction"),
    Format.EPUB: ("office.epub", "book_extraction"),
    Format.MAIL: ("mail.eml", "mail_extraction"),
    Format.RTF: ("office.rtf", "rtf_extraction"),
    Format.COMPOUND: ("mail.outlook", "compound_extraction"),
    Format.IMAGE: ("pages.image", "image_extraction"),
}


def extract(path: Path, name: str, media_type: str) -> Extraction:
    """Return the text of the file at `path`, or the state that says why there is none. Blocks, maybe for minutes.

    `name` is the file's name in the drive. For text, Markdown, code and data the text is the decoded file, character
    by character. Elements end at `MAX_INDEXED_CHARACTERS`. Raises `OSError` if the file can't be opened; a file that
    can't be understood is a state, not an error.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    found = format_of(name, media_type, head)
    if not head:
        return Extraction("ready", exact=found.keeps_offsets, encoding="utf-8")
    try:
        extraction = _read(path, found, format_of(name, media_type))
    except UnreadableError as error:
        return Extraction(error.state, error.reason)
    except MemoryError:
        return Extraction("failed", "The file needs more memory than reading one may take.")
    except Exception as error:  # noqa: BLE001 - readers raise anything at all for a damaged file; its kind is reported
        logger.info("A file could not be read as %s: %s.", found, type(error).__name__)
        return Extraction("failed", f"The file is damaged, or not what its name says ({type(error).__name__}).")
    return _within_limit(extraction)


def _read(path: Path, found: Format, claimed: Format) -> Extraction:
    if found.keeps_offsets:
        return _exact_extraction(path, found, claimed)
    if found.is_zipped:
        found = _kind_of_archive(path)
    module, function = _READERS[found]
    reader: Callable[[Path], Extraction] = getattr(import_module(f"drive_server.knowledge.readers.{module}"), function)
    return reader(path)


def _kind_of_archive(path: Path) -> Format:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        mimetype = b""
        if "mimetype" in names:
            with archive.open("mimetype") as file:
                mimetype = file.read(_MIMETYPE_BYTES)
    found = archive_format(names, mimetype)
    if found == Format.ARCHIVE:
        raise UnreadableError("unsupported", "The file is an archive; what is packed in it is not read.")
    return found


def _exact_extraction(path: Path, found: Format, claimed: Format) -> Extraction:
    decoded = decode_file(path)
    if decoded is None and claimed.keeps_offsets:
        raise UnreadableError("unsupported", "The file is not text, or its encoding is not known.")
    if decoded is None:
        raise UnreadableError("failed", "The file is damaged, or not what its name says.")
    notes = [too_long()] if decoded.truncated else []
    notes += ["Some bytes are not text; they were replaced."] if decoded.lossy else []
    elements = tuple(_ELEMENTS[found](decoded.text, MAX_INDEXED_CHARACTERS))
    exact = not decoded.truncated and not decoded.lossy
    return Extraction("ready", " ".join(notes), elements, decoded.text, exact, decoded.encoding)


def _within_limit(extraction: Extraction) -> Extraction:
    """Drop the elements behind what is indexed, which nobody asks for, and say so."""
    if len(extraction.text) <= MAX_INDEXED_CHARACTERS:
        return extraction
    note = f"Only the first {MAX_INDEXED_CHARACTERS:,} characters can be searched."
    kept = tuple(element for element in extraction.elements if element.start < MAX_INDEXED_CHARACTERS)
    return replace(extraction, reason=f"{extraction.reason} {note}".strip(), elements=kept)
