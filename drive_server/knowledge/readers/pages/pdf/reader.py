"""The text of a PDF with pdfium.

pdfminer, which unstructured uses for PDF, is some fifty times slower and finds nothing at all in some files.
"""

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
from pypdfium2 import raw

from drive_server.knowledge.readers.pages.paragraphs import Line, Page, page_parts
from drive_server.knowledge.readers.pages.scans import read_scans
from drive_server.knowledge.text.elements import MAX_CHARACTERS, Extraction, join
from drive_server.knowledge.text.omissions import Omissions

_LINE = re.compile(r"[^\r\n]+")
_MIN_CHARACTERS = 16
_FORM_DEPTH = 3


def pdf_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a PDF, or the state that says why there is none. Blocks; not for two threads at once."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            return Extraction("needs_password", "The file is protected by a password.")
        raise
    with document:
        return _extraction(document, list(_pages(document)))


def _extraction(document: pypdfium2.PdfDocument, pages: list[Page]) -> Extraction:
    scanned = [page.number for page in pages if page.is_scanned]
    scans = read_scans(document, scanned) if scanned else None
    if scans:
        return join(sorted((*page_parts(pages), *scans.parts), key=lambda part: part.page or 0), scans.reason)
    if scanned and len(scanned) == sum(1 for page in pages if page.lines or page.is_scanned):
        return Extraction("needs_ocr", "The pages are images without text; they need OCR.")
    reason = f"{len(scanned)} of {len(pages)} pages are images without text; they need OCR." if scanned else ""
    return join(page_parts(pages), reason)


def _pages(document: pypdfium2.PdfDocument) -> Iterator[Page]:
    characters = 0
    for number in range(len(document)):
        page = document[number]
        lines = _lines(page)
        found = sum(len(line.text) for line in lines)
        yield Page(number + 1, lines, is_scanned=found < _MIN_CHARACTERS and _shows_more(page, found))
        page.close()
        characters += found
        if characters > MAX_CHARACTERS:
            break


def _lines(page: pypdfium2.PdfPage) -> tuple[Line, ...]:
    textpage = page.get_textpage()
    try:
        text = textpage.get_text_range()
        return tuple(
            line for match in _LINE.finditer(text) if (line := _line(textpage, match[0], match.start(), match.end()))
        )
    finally:
        textpage.close()


def _line(textpage: pypdfium2.PdfTextPage, text: str, start: int, end: int) -> Line | None:
    words = text.strip()
    if not words:
        return None
    first, last = start + len(text) - len(text.lstrip()), end - 1 - (len(text) - len(text.rstrip()))
    left, middle, right = (_box(textpage, index) for index in (first, (first + last) // 2, last))
    height = max(box.top - box.bottom for box in (left, middle, right))
    return Line(words, left.left, max(left.right, right.right), _baseline(textpage, first), height)


def _box(textpage: pypdfium2.PdfTextPage, index: int) -> raw.FS_RECTF:
    """Return the box of a character in points, its line's height included; zeros if it has none."""
    character = raw.FPDFText_GetCharIndexFromTextIndex(textpage, index)
    rectangle = raw.FS_RECTF()
    if character >= 0:
        raw.FPDFText_GetLooseCharBox(textpage, character, ctypes.byref(rectangle))
    return rectangle


def _baseline(textpage: pypdfium2.PdfTextPage, index: int) -> float:
    character = raw.FPDFText_GetCharIndexFromTextIndex(textpage, index)
    x, y = ctypes.c_double(), ctypes.c_double()
    if character >= 0:
        raw.FPDFText_GetCharOrigin(textpage, character, ctypes.byref(x), ctypes.byref(y))
    return y.value


def _shows_more(page: pypdfium2.PdfPage, characters: int) -> bool:
    """Return whether a page with next to no text has an image, or letters drawn as shapes."""
    kinds = [raw.FPDF_PAGEOBJ_IMAGE] if characters else None
    return next(page.get_objects(filter=kinds, max_depth=_FORM_DEPTH), None) is not None
