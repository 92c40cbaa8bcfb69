"""The text of a PDF with pdfium.

pdfminer, which unstructured uses for PDF, is some fifty times slower and finds nothing at all in some files.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pypdfium2
from pypdfium2 import raw

from drive_server.knowledge.memory import without_collections
from drive_server.knowledge.readers.pages.fonts import stand_in
from drive_server.knowledge.readers.pages.paragraphs import Page, page_parts
from drive_server.knowledge.readers.pages.pdf.annotations import (
    Annotations,
    attachment_parts,
    form_environment,
    read_annotations,
)
from drive_server.knowledge.readers.pages.pdf.calls import PageObjects
from drive_server.knowledge.readers.pages.pdf.first_look import look_at
from drive_server.knowledge.readers.pages.pdf.forms import with_values
from drive_server.knowledge.readers.pages.pdf.lines import PageText, read_lines, text_in_box, with_contents
from drive_server.knowledge.readers.pages.pdf.pictures import count_lost_letters, count_pictures
from drive_server.knowledge.readers.pages.pdf.reading_order import in_reading_order
from drive_server.knowledge.readers.pages.pdf.repair import repaired
from drive_server.knowledge.readers.pages.pdf.rulings import find_grids
from drive_server.knowledge.readers.pages.pdf.running_heads import without_running_heads
from drive_server.knowledge.text.elements import MAX_CHARACTERS, Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

_MIN_CHARACTERS: Final = 16
_FORM_DEPTH: Final = 3
_UNMAPPED: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf0a6\uf0a8-\uf0b6\uf0b8-\uf0d7\uf0d9-\uf8ff]")
_REPLACEMENT: Final = "\ufffd"
"""The only one of these that is printable."""
_MAX_UNMAPPED: Final = 0.01


def pdf_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a PDF, or the state that says why there is none. Blocks; not for two threads at once."""
    stand_in()
    file = look_at(path)
    is_damaged = not file.has_end
    try:
        document = pypdfium2.PdfDocument(file.source)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise UnreadableError("password") from error
        document, is_damaged = repaired(path), True
        if document is None:
            raise
    omissions.add("damage", int(is_damaged))
    if not len(document):
        document.close()
        raise UnreadableError("damaged")
    with document, form_environment(document) as forms, without_collections():
        return _Reader(document, forms, omissions, has_pictures=file.may_have_pictures).read()


class _Reader:
    """The pages of a document, and the notes and files that lie on them."""

    def __init__(
        self, document: pypdfium2.PdfDocument, forms: Any, omissions: Omissions, *, has_pictures: bool
    ) -> None:
        """`forms`: the form environment, None without a form."""
        self._document = document
        self._forms = forms
        self._omissions = omissions
        self._has_pictures = has_pictures
        self._notes: list[Part] = []
        self._files: list[Any] = []
        self._has_fields = False
        self._characters = self._unmapped = self._lost = 0
        self._missed_fonts = stand_in().missed

    def read(self) -> Extraction:
        """Return the text of the document. Blocks."""
        pages, repeated = without_running_heads(list(self._pages()))
        self._omissions.add("margin", repeated)
        self._omissions.add("character", self._lost)
        if self._unmapped > _MAX_UNMAPPED * self._characters:
            self._omissions.add("character", self._unmapped)
        if self._document.get_formtype() == raw.FORMTYPE_XFA_FULL and not self._has_fields:
            self._omissions.add("form_field")
        scanned = sum(page.is_scanned for page in pages)
        self._omissions.add("scan", scanned)
        attached = list(attachment_parts(self._document, self._files, self._omissions))
        parts = sorted((*page_parts(pages), *self._notes), key=lambda part: part.page or 0)
        if scanned and not attached and scanned == sum(1 for page in pages if page.lines or page.is_scanned):
            return Extraction("needs_ocr")
        if not parts and not attached:
            self._omissions.add("blank_page", len(pages))
        return join((*parts, *attached))

    def _pages(self) -> Iterator[Page]:
        for number in range(1, len(self._document) + 1):
            page = self._document[number - 1]
            try:
                yield self._page(page, number)
            finally:
                page.close()
            if self._characters > MAX_CHARACTERS:
                break

    def _page(self, page: pypdfium2.PdfPage, number: int) -> Page:
        annotations = read_annotations(page, self._forms)
        textpage = page.get_textpage()
        try:
            text = read_lines(textpage, *page.get_size(), gaps_everywhere=bool(annotations.fields))
            objects = PageObjects(page.raw)
            is_scanned = self._count(page, text, objects)
            self._take(annotations, text, number)
            lines = with_values(text.lines, annotations.fields, text.turn) if annotations.fields else text.lines
            text_within = None if text.is_turned else partial(text_in_box, textpage)
            ordered = in_reading_order(lines, lambda: find_grids(objects, text), text_within)
        finally:
            textpage.close()
        if text.has_leaders:
            ordered = with_contents(ordered)
        return Page(number, ordered, is_scanned, text.height)

    def _count(self, page: pypdfium2.PdfPage, text: PageText, objects: PageObjects) -> bool:
        """Count the letters and the things that give no text, and return whether the page is a scan."""
        letters = "".join(line.text for line in text.lines)
        found = len(letters)
        self._characters += found
        is_mapped = letters.isprintable() and _REPLACEMENT not in letters
        self._unmapped += max(text.unknown, 0 if is_mapped else len(_UNMAPPED.findall(letters)))
        is_scanned = _is_scan(page, found)
        if stand_in().missed > self._missed_fonts:
            self._lost += count_lost_letters(objects)
        if self._has_pictures and not is_scanned:
            self._omissions.add("picture", count_pictures(page, objects, found))
        return is_scanned

    def _take(self, annotations: Annotations, text: PageText, number: int) -> None:
        """Keep the notes that don't repeat the page's words, and the files."""
        words = " ".join(line.text for line in text.lines) if annotations.notes else ""
        notes = [note for note in annotations.notes if " ".join(note.split()) not in words]
        self._notes += [Part("text", f"Note: {note}", number) for note in notes]
        self._files += annotations.files
        self._has_fields = self._has_fields or bool(annotations.fields)
        self._omissions.add("form_field", annotations.hidden_values)


def scanned_pages(document: pypdfium2.PdfDocument) -> Iterator[int]:
    """Yield the numbers, from 1, of the pages that are pictures with next to no text."""
    for number in range(1, len(document) + 1):
        page = document[number - 1]
        try:
            text = page.get_textpage()
            found = len("".join(text.get_text_range().split()))
            text.close()
            if _is_scan(page, found):
                yield number
        finally:
            page.close()


def _is_scan(page: pypdfium2.PdfPage, characters: int) -> bool:
    """Return whether a page with next to no text has an image, or letters drawn as shapes."""
    if characters >= _MIN_CHARACTERS:
        return False
    kinds = [raw.FPDF_PAGEOBJ_IMAGE] if characters else None
    return next(page.get_objects(filter=kinds, max_depth=_FORM_DEPTH), None) is not None
