"""Images: when and where a photo was taken; their words are read later, by OCR."""

import struct
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from PIL import Image

from drive_server.knowledge.readers.pages.exif import photo_properties
from drive_server.knowledge.readers.pages.frames import later_moments, seek_each
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

MAX_PIXELS = 60_000_000
_MIN_SIDE = 8
_LABELS = {"taken_at": "Taken", "place": "Place", "camera": "Camera"}


def image_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the properties of an image, whose words are not read yet. Raises `UnreadableError`."""
    properties = _checked(path, omissions)
    words = "\n".join(f"{_LABELS[name]}: {value}" for name, value in properties.items())
    return replace(join([Part("text", words)]), state="needs_ocr", properties=properties)


def _checked(path: Path, omissions: Omissions) -> Mapping[str, str]:
    """Return the facts in the image's header, and count its pages.

    Raises `UnreadableError` for an image that is too large or too small, or of an unknown kind.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of many pixels, and of damaged tags
            with Image.open(path) as image:
                width, height = image.size
                properties = photo_properties(image)
                omissions.add("scan", sum(1 for _ in seek_each(image)))
                omissions.add("frame", later_moments(image))
    except Image.DecompressionBombError as error:
        raise _too_large() from error
    except (OSError, SyntaxError, ValueError, struct.error) as error:  # as the reader of its kind raises
        raise UnreadableError("picture_format") from error
    if width * height > MAX_PIXELS:
        raise _too_large()
    if min(width, height) < _MIN_SIDE:
        raise UnreadableError("small_picture")
    return properties


def _too_large() -> UnreadableError:
    return UnreadableError("pixels", MAX_PIXELS)
