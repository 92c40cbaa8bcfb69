"""The text of a PDF with pdfium.

pdfminer, which unstructured uses for PDF, is some fifty times slower and finds nothing at all in some files.
"""

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
from pypdfium2 import raw

from drive_server.knowledge.readers.pages.paragraphs import Page, page_parts
from drive_server.knowledge.readers.pages.pdf.lines import PageText, read_lines
from drive_server.knowledge.readers.pages.pdf.reading_order import in_reading_order
from drive_server.knowledge.readers.pages.pdf.rulings import find_grids
from drive_server.knowledge.readers.pages.pdf.running_heads import without_running_heads
from drive_server.knowledge.readers.pages.scans import read_scans
from drive_server.knowledge.text.elements import MAX_CHARACTERS, Extraction, join
from drive_server.knowledge.text.omissions import Omissions

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
        pages, repeated = without_running_heads(list(_pages(document)))
        omissions.add("margin", repeated)
        return _extraction(document, pages)


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
        text = _page_text(page)
        found = sum(len(line.text) for line in text.lines)
        lines = in_reading_order(text.lines, lambda page=page, text=text: find_grids(page, text))
        is_scanned = found < _MIN_CHARACTERS and _shows_more(page, found)
        yield Page(number + 1, lines, is_scanned, text.height)
        page.close()
        characters += found
        if characters > MAX_CHARACTERS:
            break


def _page_text(page: pypdfium2.PdfPage) -> PageText:
    textpage = page.get_textpage()
    try:
        return read_lines(textpage, *page.get_size())
    finally:
        textpage.close()


def _shows_more(page: pypdfium2.PdfPage, characters: int) -> bool:
    """Return whether a page with next to no text has an image, or letters drawn as shapes."""
    kinds = [raw.FPDF_PAGEOBJ_IMAGE] if characters else None
    return next(page.get_objects(filter=kinds, max_depth=_FORM_DEPTH), None) is not None
