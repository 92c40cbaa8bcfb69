"""Pages that are pictures of text, of PDFs and images: drawn, and read by OCR."""

import math
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pypdfium2
from PIL import Image, ImageOps

from drive_server.knowledge.formats import HEAD_BYTES, format_of
from drive_server.knowledge.readers.pages.frames import in_colours, seek_each
from drive_server.knowledge.readers.pages.ocr import recognize_lines
from drive_server.knowledge.readers.pages.paragraphs import Page, page_parts
from drive_server.knowledge.readers.pages.pdf.reader import scanned_pages
from drive_server.knowledge.readers.pages.pdf.reading_order import in_reading_order
from drive_server.knowledge.text.elements import Part, Recognized, RecognizedPage

_DOTS_PER_INCH: Final = 200
_POINTS_PER_INCH: Final = 72
_MAX_PIXELS: Final = 12_000_000
"""A page of A4 at 300 dots an inch and more: a larger picture is read coarser."""

_MAX_FRAMES: Final = 500


def recognize(path: Path, name: str, media_type: str, *, after: int, seconds: float) -> Recognized:
    """Read the pages behind number `after` that are pictures, until `seconds` are over; one at least. Blocks."""
    ends_at = time.monotonic() + seconds
    pages: list[RecognizedPage] = []
    for number, picture in _pictures(path, name, media_type, after):
        pages.append(RecognizedPage(number, _parts(number, picture)))
        if time.monotonic() >= ends_at:
            return Recognized(tuple(pages))
    return Recognized(tuple(pages), is_complete=True)


def _pictures(path: Path, name: str, media_type: str, after: int) -> Iterator[tuple[int, Image.Image | None]]:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if format_of(name, media_type, head).name == "pdf":
        yield from _drawn_pages(path, after)
    else:
        yield from _frames(path, after)


def _drawn_pages(path: Path, after: int) -> Iterator[tuple[int, Image.Image | None]]:
    with pypdfium2.PdfDocument(path) as document:
        for number in scanned_pages(document):
            if number > after:
                yield number, _drawn(document, number)


def _drawn(document: pypdfium2.PdfDocument, number: int) -> Image.Image | None:
    try:
        page = document[number - 1]
        width, height = page.get_size()
        most = math.sqrt(_MAX_PIXELS / max(1.0, width * height))
        scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, most)
        return page.render(scale=scale).to_pil()  # pyright: ignore[reportArgumentType] - any number will do
    except pypdfium2.PdfiumError:
        return None


def _frames(path: Path, after: int) -> Iterator[tuple[int, Image.Image | None]]:
    """Yield the pages of an image, turned as its camera says; a TIFF may have several, damaged ones among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damaged tags, and of many pixels
        with Image.open(path) as image:
            for index, is_there in seek_each(image, after, _MAX_FRAMES):
                yield index + 1, _upright(image) if is_there else None


def _upright(image: Image.Image) -> Image.Image | None:
    try:
        turned = in_colours(ImageOps.exif_transpose(image))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - Pillow raises anything at all for a damaged picture; it counts as not read
        return None
    shrink = math.sqrt(_MAX_PIXELS / (turned.width * turned.height))
    return turned if shrink >= 1 else turned.resize((int(turned.width * shrink), int(turned.height * shrink)))


def _parts(number: int, picture: Image.Image | None) -> tuple[Part, ...] | None:
    if picture is None:
        return None
    lines = in_reading_order(recognize_lines(picture), list)
    return tuple(page_parts([Page(number, lines, is_scanned=True, height=float(picture.height))]))
