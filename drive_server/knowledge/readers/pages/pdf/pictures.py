"""Things on a page that give no text: pictures that are large enough to show something, and letters without a shape."""

import ctypes
import math
from collections.abc import Sequence
from itertools import pairwise
from operator import sub
from typing import Any, Final, NamedTuple

from pypdfium2 import raw

from drive_server.knowledge.readers.pages.pdf.calls import (
    Box,
    Handle,
    PageObjects,
    ends_of_objects,
    matrices_of,
    object_boxes,
)

_LEAST: Final = 0.05  # of the page's area
_WHOLE: Final = 0.6
_BACKGROUND_TEXT: Final = 200  # characters above a picture of the whole page: it is their background
_INVISIBLE: Final = raw.FPDF_TEXTRENDERMODE_INVISIBLE
_MAX_OBJECTS: Final = 20_000
_DEPTH: Final = 3
_NO_WIDTH: Final = 0.01  # points: pdfium looks at no text that is as narrow
_FEWEST_LETTERS: Final = 3
_LEAST_STEP: Final = 0.38  # of the type's height: most letters are wider, and blanks narrower
_MAX_STEPS: Final = 5.0
_SAME_STEP: Final = 0.05  # of a blank


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
    forms = objects.of_kind(raw.FPDF_PAGEOBJ_FORM, _MAX_OBJECTS)
    groups = [form for form in forms if _is_picture(ctypes.cast(form, raw.FPDF_PAGEOBJECT), _DEPTH)]
    return objects.of_kind(raw.FPDF_PAGEOBJ_IMAGE, _MAX_OBJECTS) + groups


def _is_picture(form: Any, depth: int) -> bool:
    """Return whether a group of objects is a picture and nothing but it."""
    if not depth or raw.FPDFFormObj_CountObjects(form) != 1:
        return False
    one = raw.FPDFFormObj_GetObject(form, 0)
    kind = raw.FPDFPageObj_GetType(one)
    return kind == raw.FPDF_PAGEOBJ_IMAGE or (kind == raw.FPDF_PAGEOBJ_FORM and _is_picture(one, depth - 1))


def _has_hidden_text(objects: PageObjects) -> bool:
    """Return whether a page has invisible text: the text of OCR in a scan."""
    return any(
        raw.FPDFTextObj_GetTextRenderMode(ctypes.cast(one, raw.FPDF_PAGEOBJECT)) == _INVISIBLE
        for one in objects.of_kind(raw.FPDF_PAGEOBJ_TEXT, _MAX_OBJECTS)
    )


def count_lost_letters(objects: PageObjects) -> int:
    """Return the number of letters that pdfium leaves out: each drawn by itself, in a font without a shape for it.

    Blanks have no shape either. Letters are told by their distances, where several follow each other in a line.
    """
    texts = objects.of_kind(raw.FPDF_PAGEOBJ_TEXT, _MAX_OBJECTS)
    lost = 0
    group: list[_Shapeless] = []
    lefts, rights = ends_of_objects(texts)
    if min(map(sub, rights, lefts), default=1.0) > _NO_WIDTH:
        return 0  # as on nearly all pages
    for one, (left, bottom, right, _) in zip(texts, object_boxes(texts), strict=True):
        if right - left > _NO_WIDTH:
            lost += _letters_in(group)
            group = []
            continue
        shapeless = _shapeless(one, left, bottom)
        if group and not _goes_on(group[-1], shapeless):
            lost += _letters_in(group)
            group = []
        group.append(shapeless)
    return lost + _letters_in(group)


class _Shapeless(NamedTuple):
    """A text without a width: its place, the size of its type, and the width of a blank in it."""

    left: float
    bottom: float
    size: float
    blank: float


def _shapeless(one: Handle, left: float, bottom: float) -> _Shapeless:
    text, size, blank = ctypes.cast(one, raw.FPDF_PAGEOBJECT), ctypes.c_float(), ctypes.c_float()
    raw.FPDFTextObj_GetFontSize(text, ctypes.byref(size))
    raw.FPDFFont_GetGlyphWidth(raw.FPDFTextObj_GetFont(text), ord(" "), size.value, ctypes.byref(blank))
    ((a, b, *_),) = matrices_of([one])
    scale = math.hypot(a, b)
    return _Shapeless(left, bottom, size.value * scale, blank.value * scale)


def _goes_on(one: _Shapeless, other: _Shapeless) -> bool:
    least = _LEAST_STEP * one.size
    return abs(one.bottom - other.bottom) < least and least <= other.left - one.left < _MAX_STEPS * least


def _letters_in(group: Sequence[_Shapeless]) -> int:
    """Return the number of letters in a row of shapeless texts: none if all stand as far apart as blanks do."""
    if len(group) < _FEWEST_LETTERS:
        return 0
    steps = [(other.left - one.left, one.blank) for one, other in pairwise(group)]
    are_blanks = all(blank > 0 and abs(step / blank - round(step / blank)) < _SAME_STEP for step, blank in steps)
    return 0 if are_blanks else len(group)
