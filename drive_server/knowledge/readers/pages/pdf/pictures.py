"""Pictures on pages that have text: counted, if they are large enough to show something."""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pypdfium2 import raw

Box = tuple[float, float, float, float]

_PIECE: Final = 1 << 20
_NAME: Final = b"/Image"
_LEAST: Final = 0.05  # of the page's area
_WHOLE: Final = 0.6
_BACKGROUND_TEXT: Final = 200  # characters above a picture of the whole page: it is their background
_INVISIBLE: Final = raw.FPDF_TEXTRENDERMODE_INVISIBLE
_MOST_OBJECTS: Final = 20_000
_DEPTH: Final = 3


def may_have_pictures(path: Path) -> bool:
    """Return whether a file names pictures at all: the dictionary of a picture is never compressed (7.5.7)."""
    last = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            if _NAME in last + piece:
                return True
            last = piece[-len(_NAME) :]
    return False


def count_pictures(page: Any, characters: int) -> int:
    """Return the number of pictures of more than a twentieth of a page, but for its scan or its background."""
    width, height = page.get_size()
    area = max(width * height, 1.0)
    shares = [_share(box, width, height) / area for box in _images(page.raw)]
    large = [share for share in shares if share > _LEAST]
    whole = [share for share in large if share > _WHOLE]
    if whole and (characters > _BACKGROUND_TEXT or _has_hidden_text(page.raw)):
        return len(large) - len(whole)
    return len(large)


def _share(box: Box, width: float, height: float) -> float:
    left, bottom, right, top = box
    return max(0.0, min(right, width) - max(left, 0.0)) * max(0.0, min(top, height) - max(bottom, 0.0))


def _objects(page: Any) -> Iterator[Any]:
    for number in range(min(raw.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        yield raw.FPDFPage_GetObject(page, number)


def _images(page: Any) -> Iterator[Box]:
    for one in _objects(page):
        kind = raw.FPDFPageObj_GetType(one)
        if kind == raw.FPDF_PAGEOBJ_IMAGE or (kind == raw.FPDF_PAGEOBJ_FORM and _is_picture(one, _DEPTH)):
            yield _bounds(one)


def _is_picture(form: Any, depth: int) -> bool:
    """Return whether a group of objects is a picture and nothing but it."""
    if not depth or raw.FPDFFormObj_CountObjects(form) != 1:
        return False
    one = raw.FPDFFormObj_GetObject(form, 0)
    kind = raw.FPDFPageObj_GetType(one)
    return kind == raw.FPDF_PAGEOBJ_IMAGE or (kind == raw.FPDF_PAGEOBJ_FORM and _is_picture(one, depth - 1))


def _bounds(one: Any) -> Box:
    values = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(one, *map(ctypes.byref, values))
    left, bottom, right, top = (value.value for value in values)
    return left, bottom, right, top


def _has_hidden_text(page: Any) -> bool:
    """Return whether a page has invisible text: that which OCR found in a scan."""
    return any(
        raw.FPDFTextObj_GetTextRenderMode(one) == _INVISIBLE
        for one in _objects(page)
        if raw.FPDFPageObj_GetType(one) == raw.FPDF_PAGEOBJ_TEXT
    )
