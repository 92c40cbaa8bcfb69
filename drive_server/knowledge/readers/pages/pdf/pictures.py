"""Pictures on pages that have text: counted, if they are large enough to show something."""

import ctypes
from typing import Any, Final

from pypdfium2 import raw

from drive_server.knowledge.readers.pages.pdf.calls import Box, Handle, PageObjects, object_boxes

_LEAST: Final = 0.05  # of the page's area
_WHOLE: Final = 0.6
_BACKGROUND_TEXT: Final = 200  # characters above a picture of the whole page: it is their background
_INVISIBLE: Final = raw.FPDF_TEXTRENDERMODE_INVISIBLE
_MOST_OBJECTS: Final = 20_000
_DEPTH: Final = 3


def count_pictures(page: Any, objects: PageObjects, characters: int) -> int:
    """Return the number of pictures of more than a twentieth of a page, but for its scan or its background."""
    images = _images(objects)
    if not images:
        return 0
    width, height = page.get_size()
    area = max(width * height, 1.0)
    shares = [_share(box, width, height) / area for box in object_boxes(images)]
    large = [share for share in shares if share > _LEAST]
    whole = [share for share in large if share > _WHOLE]
    if whole and (characters > _BACKGROUND_TEXT or _has_hidden_text(objects)):
        return len(large) - len(whole)
    return len(large)


def _share(box: Box, width: float, height: float) -> float:
    left, bottom, right, top = box
    return max(0.0, min(right, width) - max(left, 0.0)) * max(0.0, min(top, height) - max(bottom, 0.0))


def _images(objects: PageObjects) -> list[Handle]:
    forms = objects.of_kind(raw.FPDF_PAGEOBJ_FORM, _MOST_OBJECTS)
    groups = [form for form in forms if _is_picture(ctypes.cast(form, raw.FPDF_PAGEOBJECT), _DEPTH)]
    return objects.of_kind(raw.FPDF_PAGEOBJ_IMAGE, _MOST_OBJECTS) + groups


def _is_picture(form: Any, depth: int) -> bool:
    """Return whether a group of objects is a picture and nothing but it."""
    if not depth or raw.FPDFFormObj_CountObjects(form) != 1:
        return False
    one = raw.FPDFFormObj_GetObject(form, 0)
    kind = raw.FPDFPageObj_GetType(one)
    return kind == raw.FPDF_PAGEOBJ_IMAGE or (kind == raw.FPDF_PAGEOBJ_FORM and _is_picture(one, depth - 1))


def _has_hidden_text(objects: PageObjects) -> bool:
    """Return whether a page has invisible text: that which OCR found in a scan."""
    return any(
        raw.FPDFTextObj_GetTextRenderMode(ctypes.cast(one, raw.FPDF_PAGEOBJECT)) == _INVISIBLE
        for one in objects.of_kind(raw.FPDF_PAGEOBJ_TEXT, _MOST_OBJECTS)
    )
