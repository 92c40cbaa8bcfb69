"""The objects on the pages of a PDF (ISO 32000-2, section 12.5): notes, the fields of forms, attached files.

Attached files (section 7.11.4) are named, and read as those of mails are.
"""

import ctypes
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pypdfium2
from pypdfium2 import raw

from drive_server.knowledge.readers.mail.message import Attachment, attached_parts
from drive_server.knowledge.readers.pages.pdf.calls import (
    Handle,
    PageAnnotations,
    handle,
    kinds_of_fields,
    lengths_of_values,
)
from drive_server.knowledge.text.elements import Part
from drive_server.knowledge.text.omissions import Omissions

_UNITS: Final = 2  # bytes
_LINK_KINDS: Final = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP)
_HIDDEN: Final = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_BOXES: Final = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_CHOICES: Final = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
_OFF: Final = ("", "Off")
"""The appearances of a box that is not ticked (ISO 32000-2, section 12.7.5.2.3)."""
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


@contextmanager
def form_environment(document: pypdfium2.PdfDocument) -> Generator[Any]:
    """Yield pdfium's environment for the values of a document's form, None without a form.

    It is not the document's own, for which each page would make the views of its fields: half of the time of a form.
    """
    if document.get_formtype() == raw.FORMTYPE_NONE:
        yield None
        return
    settings = raw.FPDF_FORMFILLINFO(version=2)  # pdfium keeps no copy
    forms = raw.FPDFDOC_InitFormFillEnvironment(document.raw, settings)
    try:
        yield forms or None
    finally:
        raw.FPDFDOC_ExitFormFillEnvironment(forms)


def read_annotations(page: Any, forms: Any) -> Annotations:
    """Return the annotations of a page. `forms`: the document's form environment, None without forms."""
    count = raw.FPDFPage_GetAnnotCount(page.raw)
    if count <= 0:
        return Annotations()
    found = PageAnnotations(page.raw, count)
    try:
        return _read(found, forms)
    finally:
        found.close()


def _read(found: PageAnnotations, forms: Any) -> Annotations:
    shown = [
        (one, kind)
        for one, kind, flags in zip(found.handles, found.kinds, found.flags, strict=True)
        if kind not in _LINK_KINDS and not flags & _HIDDEN
    ]
    files: list[Any] = []
    notes: list[str] = []
    for one, kind in shown:
        if kind != raw.FPDF_ANNOT_WIDGET:
            annotation = _pointer(one)
            if kind == raw.FPDF_ANNOT_FILEATTACHMENT and (file := raw.FPDFAnnot_GetFileAttachment(annotation)):
                files.append(file)
            notes.append(_string(annotation, b"Contents"))
    fields, passwords = _fields([one for one, kind in shown if kind == raw.FPDF_ANNOT_WIDGET], forms)
    return Annotations(tuple(note for note in notes if note), tuple(fields), tuple(files), passwords)


def _pointer(one: Handle) -> Any:
    return ctypes.cast(one, raw.FPDF_ANNOTATION)


def _string(found: Any, key: bytes) -> str:
    return _text(lambda *buffer: raw.FPDFAnnot_GetStringValue(found, key, *buffer))


def _fields(widgets: Sequence[Handle], forms: Any) -> tuple[list[Field], int]:
    """Return the fields that are filled in, boxes and chosen options included, and the number of passwords."""
    fields: list[Field] = []
    passwords = 0
    if forms is None or not widgets:
        return fields, passwords
    environment = handle(forms)
    kinds = kinds_of_fields(environment, widgets)
    lengths = lengths_of_values(environment, widgets)
    for one, kind, length in zip(widgets, kinds, lengths, strict=True):
        if kind == raw.FPDF_FORMFIELD_TEXTFIELD and length <= _UNITS:
            continue  # most fields of most forms are blank
        found = _pointer(one)
        value = _shown(forms, found, kind)
        if kind == raw.FPDF_FORMFIELD_TEXTFIELD and raw.FPDFAnnot_GetFormFieldFlags(forms, found) & _PASSWORD:
            passwords += bool(value)
        elif value:
            fields.append(Field(value, _name(forms, found), _box(found)))
    return fields, passwords


def _shown(forms: Any, found: Any, kind: int) -> str:
    """Return the value of a field as its widget shows it; nothing for a button."""
    if kind in _BOXES:
        return EMPTY if _string(found, b"AS") in _OFF else TICKED
    if kind in _CHOICES:
        return _chosen(forms, found) or _value(forms, found)
    return _value(forms, found) if kind == raw.FPDF_FORMFIELD_TEXTFIELD else ""


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


def attachment_parts(document: pypdfium2.PdfDocument, on_pages: Sequence[Any], omissions: Omissions) -> Iterator[Part]:
    """Yield the files of a document and those that lie on its pages, each under its name. Blocks."""
    of_document = [document.get_attachment(number) for number in range(document.count_attachments())]
    files = [*of_document, *(pypdfium2.PdfAttachment(one, document) for one in on_pages)]
    yield from attached_parts(map(_attachment, files), omissions)


def _attachment(file: pypdfium2.PdfAttachment) -> Attachment:
    """Return a file; without its content if that can't be had."""
    try:
        data = bytes(file.get_data())
    except pypdfium2.PdfiumError:
        data = b""
    return Attachment(file.get_name(), "", data)
