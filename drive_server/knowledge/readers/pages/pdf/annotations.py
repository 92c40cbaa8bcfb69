"""What lies on the pages of a PDF (ISO 32000-2, section 12.5): notes, the fields of forms, attached files."""

import ctypes
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pypdfium2 import raw

_UNITS: Final = 2  # bytes
_LINK_KINDS: Final = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP)
_HIDDEN: Final = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_BOXES: Final = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_CHOICES: Final = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
_PASSWORD: Final = 1 << 13
"""The flag of a text field that shows no letters (ISO 32000-2, table 231)."""

TICKED: Final = "☑"
EMPTY: Final = "☐"


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is filled in, or a box: its value or mark, its name, and its place on the page in points."""

    value: str
    name: str
    box: tuple[float, float, float, float]

    @property
    def is_box(self) -> bool:
        """True for a check box or a radio button."""
        return self.value in (TICKED, EMPTY)


@dataclass(frozen=True, slots=True)
class Annotations:
    """The notes, fields and attached files of a page. `hidden_values`: the number of passwords that were filled in."""

    notes: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    files: tuple[Any, ...] = ()
    hidden_values: int = 0


def read_annotations(page: Any, forms: Any) -> Annotations:
    """Return what lies on a page. `forms`: the document's form environment, None without forms."""
    notes: list[str] = []
    fields: list[Field] = []
    files: list[Any] = []
    passwords = 0
    for number in range(raw.FPDFPage_GetAnnotCount(page.raw)):
        with _annotation(page.raw, number) as found:
            kind = raw.FPDFAnnot_GetSubtype(found)
            if kind in _LINK_KINDS or raw.FPDFAnnot_GetFlags(found) & _HIDDEN:
                continue
            if kind == raw.FPDF_ANNOT_WIDGET:
                passwords += forms is not None and _is_password(forms, found)
                fields += _fields(forms, found)
                continue
            if kind == raw.FPDF_ANNOT_FILEATTACHMENT and (file := raw.FPDFAnnot_GetFileAttachment(found)):
                files.append(file)
            notes.append(_contents(found))
    return Annotations(tuple(note for note in notes if note), tuple(fields), tuple(files), passwords)


@contextmanager
def _annotation(page: Any, number: int) -> Generator[Any]:
    found = raw.FPDFPage_GetAnnot(page, number)
    try:
        yield found
    finally:
        raw.FPDFPage_CloseAnnot(found)


def _contents(found: Any) -> str:
    return _text(lambda *buffer: raw.FPDFAnnot_GetStringValue(found, b"Contents", *buffer))


def _fields(forms: Any, found: Any) -> Iterator[Field]:
    if forms is None or _is_password(forms, found):
        return
    kind = raw.FPDFAnnot_GetFormFieldType(forms, found)
    if kind in _BOXES:
        value = TICKED if raw.FPDFAnnot_IsChecked(forms, found) else EMPTY
    elif kind in _CHOICES:
        value = _chosen(forms, found) or _value(forms, found)
    elif kind == raw.FPDF_FORMFIELD_TEXTFIELD:
        value = _value(forms, found)
    else:
        return
    if value:
        yield Field(value, _name(forms, found), _box(found))


def _is_password(forms: Any, found: Any) -> bool:
    is_text = raw.FPDFAnnot_GetFormFieldType(forms, found) == raw.FPDF_FORMFIELD_TEXTFIELD
    return is_text and bool(raw.FPDFAnnot_GetFormFieldFlags(forms, found) & _PASSWORD) and bool(_value(forms, found))


def _value(forms: Any, found: Any) -> str:
    text = _text(lambda *buffer: raw.FPDFAnnot_GetFormFieldValue(forms, found, *buffer))
    return " ".join(text.split())


def _name(forms: Any, found: Any) -> str:
    shown = _text(lambda *buffer: raw.FPDFAnnot_GetFormFieldAlternateName(forms, found, *buffer))
    return shown or _text(lambda *buffer: raw.FPDFAnnot_GetFormFieldName(forms, found, *buffer))


def _chosen(forms: Any, found: Any) -> str:
    """Return the labels of the options that are chosen in a list."""
    chosen = [
        _option(forms, found, number)
        for number in range(raw.FPDFAnnot_GetOptionCount(forms, found))
        if raw.FPDFAnnot_IsOptionSelected(forms, found, number)
    ]
    return ", ".join(chosen)


def _option(forms: Any, found: Any, number: int) -> str:
    return _text(lambda *buffer: raw.FPDFAnnot_GetOptionLabel(forms, found, number, *buffer))


def _box(found: Any) -> tuple[float, float, float, float]:
    rectangle = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(found, ctypes.byref(rectangle))
    left, right = sorted((rectangle.left, rectangle.right))
    bottom, top = sorted((rectangle.bottom, rectangle.top))
    return left, bottom, right, top


def _text(read: Callable[..., int]) -> str:
    """Return a string that pdfium writes as UTF-16 into a buffer of the length that it names first."""
    length = read(None, 0)
    if length <= _UNITS:
        return ""
    buffer = (ctypes.c_ushort * (length // _UNITS))()
    read(buffer, length)
    return bytes(buffer).decode("utf-16-le", errors="replace").rstrip("\0").strip()
