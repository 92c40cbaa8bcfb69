"""Pages that are pictures of text: drawn by pdfium, and read by OCR."""

import io
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import pypdfium2

from drive_server.knowledge.readers.pages.ocr import OCR_SECONDS, find_program, recognize
from drive_server.knowledge.text.elements import Part, UnreadableError

_DOTS_PER_INCH = 300
_POINTS_PER_INCH = 72
_MAX_PIXELS = 12_000_000
"""A little more than a page of A4 has: a larger one is drawn coarser."""


@dataclass(frozen=True, slots=True)
class Scans:
    """The paragraphs of scanned pages, and a sentence about missing pages, if any."""

    parts: tuple[Part, ...]
    reason: str


def read_scans(document: pypdfium2.PdfDocument, numbers: Sequence[int]) -> Scans | None:
    """Return the text of these pages (from 1), as far as OCR gets in time; None without OCR. Blocks."""
    program = find_program()
    if program is None:
        return None
    ends_at = time.monotonic() + OCR_SECONDS
    parts: list[Part] = []
    unread = 0
    for number in numbers:
        left = ends_at - time.monotonic()
        try:
            paragraphs = recognize(program, _picture(document, number), left) if left > 0 else None
        except (UnreadableError, pypdfium2.PdfiumError):
            paragraphs = None
        unread += paragraphs is None
        parts += [Part("text", paragraph, page=number) for paragraph in paragraphs or ()]
    return Scans(tuple(parts), _reason(unread, len(numbers), found=bool(parts)))


def _picture(document: pypdfium2.PdfDocument, number: int) -> bytes:
    """Return a page as a picture in shades of grey."""
    page = document[number - 1]
    try:
        width, height = page.get_size()
        most = math.sqrt(_MAX_PIXELS / max(1.0, width * height))
        scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, most)
        file = io.BytesIO()
        dots = round(scale * _POINTS_PER_INCH)
        drawn = page.render(scale=scale, grayscale=True)  # pyright: ignore[reportArgumentType] - any number will do
        drawn.to_pil().save(file, "PNG", compress_level=1, dpi=(dots, dots))
        return file.getvalue()
    finally:
        page.close()


def _reason(unread: int, scanned: int, *, found: bool) -> str:
    if unread:
        return f"{unread} of {scanned} pages that are images could not be read by OCR in {OCR_SECONDS:.0f} seconds."
    return "" if found else "OCR found no words in the pages that are images."
