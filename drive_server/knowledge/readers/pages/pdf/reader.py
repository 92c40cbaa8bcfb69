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
        return _extraction(pages, omissions)


def _extraction(pages: list[Page], omissions: Omissions) -> Extraction:
    scanned = sum(page.is_scanned for page in pages)
    omissions.add("scan", scanned)
    if scanned and scanned == sum(1 for page in pages if page.lines or page.is_scanned):
        return Extraction(
            "needs_ocr", "The pages are images without text; they are read by OCR, after all other files."
        )
    return join(page_parts(pages))


def scanned_pages(document: pypdfium2.PdfDocument) -> Iterator[int]:
    """Yield the numbers, from 1, of the pages that are pictures with next to no text."""
    for number in range(len(document)):
        page = document[number]
        text = page.get_textpage()
        found = len("".join(text.get_text_range().split()))
        text.close()
        if _is_scan(page, found):
            yield number + 1
        page.close()


def _pages(document: pypdfium2.PdfDocument) -> Iterator[Page]:
    characters = 0
    for number in range(len(document)):
        page = document[number]
        text = _page_text(page)
        found = sum(len(line.text) for line in text.lines)
        lines = in_reading_order(text.lines, lambda page=page, text=text: find_grids(page, text))
        yield Page(number + 1, lines, _is_scan(page, found), text.height)
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


def _is_scan(page: pypdfium2.PdfPage, characters: int) -> bool:
    """Return whether a page with next to no text has an image, or letters drawn as shapes."""
    if characters >= _MIN_CHARACTERS:
        return False
    kinds = [raw.FPDF_PAGEOBJ_IMAGE] if characters else None
    return next(page.get_objects(filter=kinds, max_depth=_FORM_DEPTH), None) is not None
