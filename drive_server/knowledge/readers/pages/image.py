"""Images: their words, if there is OCR."""

import struct
import warnings
from pathlib import Path

from PIL import Image

from drive_server.knowledge.readers.pages.ocr import find_program, recognize
from drive_server.knowledge.text.elements import Extraction, Part, UnreadableError, join
from drive_server.knowledge.text.omissions import Omissions

MAX_PIXELS = 60_000_000
_MIN_SIDE = 8


def image_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the words in an image. Blocks, for minutes at most. Raises `OSError` for an image that is cut off."""
    _check(path)
    program = find_program()
    if program is None:
        raise UnreadableError("needs_ocr", "Words in images are read by OCR; install tesseract to have them searched.")
    return join(Part("text", paragraph) for paragraph in recognize(program, path))


def _check(path: Path) -> None:
    """Check the image's header. Raises `UnreadableError` for one that is too large, or unknown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                width, height = image.size
    except Image.DecompressionBombError as error:
        raise _too_large() from error
    except (OSError, SyntaxError, ValueError, struct.error) as error:  # as the reader of its kind raises
        raise UnreadableError("unsupported", "Images of this kind are not read, or the image is damaged.") from error
    if width * height > MAX_PIXELS:
        raise _too_large()
    if min(width, height) < _MIN_SIDE:
        raise UnreadableError("unsupported", "The image is too small to hold words.")


def _too_large() -> UnreadableError:
    return UnreadableError("failed", f"The image has more than {MAX_PIXELS:,} pixels.")
