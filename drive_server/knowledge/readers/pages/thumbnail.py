"""Small pictures of images and of the first page of a PDF, made in a reader's process."""

import io
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import pypdfium2
from PIL import Image, ImageOps

from drive_server.knowledge.formats import HEAD_BYTES

MEDIA_TYPE: Final = "image/webp"
MAX_PIXELS: Final = 60_000_000
"""More in an image, and it is not decoded: 240 MB of memory."""
FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF")
"""Pillow knows others that start programs, such as EPS."""
QUALITY: Final = 80
_POINTS: Final = 14_400.0
"""The longest side of a page that a PDF may have."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A picture as WebP; empty, with the reason, where none can be made."""

    state: Literal["ready", "failed"]
    reason: str = ""
    data: bytes = b""


def refuse_thumbnail(state: Literal["failed"], reason: str) -> Thumbnail:
    """Return the thumbnail of a file that made its reader crash, or took too long."""
    return Thumbnail(state, reason)


def make_thumbnail(size: int, path: Path, name: str, media_type: str) -> Thumbnail:
    """Return the picture, `size` pixels at its longer side or less. Blocks; not for two threads at once."""
    del name, media_type  # the bytes tell, whatever the file calls itself
    try:
        picture = _page(path, size) if _is_pdf(path) else _image(path, size)
    except (Image.DecompressionBombError, pypdfium2.PdfiumError, SyntaxError, ValueError, OSError) as error:
        return Thumbnail("failed", type(error).__name__)
    except (ArithmeticError, LookupError, MemoryError, TypeError, RuntimeError) as error:  # as damaged files make them
        return Thumbnail("failed", type(error).__name__)
    file = io.BytesIO()
    picture.save(file, "WEBP", quality=QUALITY)
    return Thumbnail("ready", data=file.getvalue())


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
