"""Small pictures of images and of the first page of a PDF."""

import math
import warnings
from pathlib import Path
from typing import Final

import pypdfium2
from PIL import Image, ImageOps

from drive_server.knowledge.formats import HEAD_BYTES

MAX_PIXELS: Final = 60_000_000
"""More in an image, and it is not decoded: 240 MB of memory."""
FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF")
"""Pillow knows others that start programs, such as EPS."""
_POINTS: Final = 14_400.0
"""The longest side of a page that a PDF may have."""
_REFUSALS: Final = (Image.DecompressionBombError, pypdfium2.PdfiumError, SyntaxError, ValueError, OSError)
_FAULTS: Final = (ArithmeticError, LookupError, MemoryError, TypeError, RuntimeError)
"""Errors that damaged files cause in the decoders."""


class UndrawableError(Exception):
    """The file is no picture and no PDF, or is damaged, or too large."""


def draw(path: Path, size: int) -> Image.Image:
    """Return a picture of the file, `size` pixels at its longer side or less. Raises `UndrawableError`."""
    try:
        return _page(path, size) if _is_pdf(path) else _image(path, size)
    except (*_REFUSALS, *_FAULTS) as error:
        raise UndrawableError(type(error).__name__) from error


def _is_pdf(path: Path) -> bool:
    with path.open("rb") as file:
        return b"%PDF-" in file.read(HEAD_BYTES)


def _image(path: Path, size: int) -> Image.Image:
    Image.init()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(path, formats=[kind for kind in FORMATS if kind in Image.OPEN]) as image:
            if image.width * image.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            image.draft("RGB", (size, size))  # a JPEG is decoded no larger than needed
            image.thumbnail((size, size))
            upright = ImageOps.exif_transpose(image)
            return upright.convert("RGBA" if upright.has_transparency_data else "RGB")


def _page(path: Path, size: int) -> Image.Image:
    with pypdfium2.PdfDocument(path) as document:
        page = document[0]
        longest = max(page.get_size())
        if not 0 < longest <= _POINTS or not math.isfinite(longest):
            raise ValueError
        drawn = page.render(scale=size / longest)
        return drawn.to_pil().convert("RGB")
