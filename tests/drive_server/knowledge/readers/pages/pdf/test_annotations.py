"""What lies on pages is read: filled fields, boxes, notes, attached files; pictures are counted."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Text
from reportlab.lib.utils import ImageReader

from tests.drive_server.knowledge.drawing import column, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

    from reportlab.pdfgen.canvas import Canvas


def form(canvas: Canvas) -> None:
    canvas.drawString(60, 700, "Tenant")
    canvas.acroForm.textfield(name="tenant", value="Quillfeather", x=140, y=694, width=200, height=20)
    canvas.drawString(60, 670, "Room")
    canvas.acroForm.choice(name="room", value="Attic", options=["Attic", "Cellar"], x=140, y=664, width=90, height=20)
    canvas.drawString(60, 640, "Notes")
    canvas.acroForm.textfield(name="notes", value="", x=140, y=634, width=200, height=20)
    canvas.acroForm.checkbox(name="agreed", checked=True, x=60, y=608, size=14)
    canvas.drawString(80, 610, "Agreed")
    canvas.acroForm.checkbox(name="refused", checked=False, x=160, y=608, size=14)
    canvas.drawString(180, 610, "Refused")


def written(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_values_stand_beside_their_labels_and_boxes_are_ticked_or_not(tmp_path: Path) -> None:
    extraction = read(tmp_path, drawn(form))
    assert [element.text for element in extraction.elements] == [
        "Tenant Quillfeather",
        "Room Attic",
        "Notes",
        "☑ Agreed ☐ Refused",
    ]
    assert extraction.reason == ""


def test_a_value_that_the_page_shows_itself_is_not_told_twice(tmp_path: Path) -> None:
    def flattened(canvas: Canvas) -> None:
        form(canvas)
        canvas.drawString(142, 700, "Quillfeather")

    assert read(tmp_path, drawn(flattened)).text.count("Quillfeather") == 1


def test_a_password_in_a_field_is_counted_and_not_told(tmp_path: Path) -> None:
    def secret(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Password")
        canvas.acroForm.textfield(name="p", value="sesame", fieldFlags="password", x=140, y=694, width=200, height=20)

    extraction = read(tmp_path, drawn(secret))
    assert (extraction.text, extraction.omissions) == ("Password", {"form_field": 1})


def test_notes_are_read_on_their_page_and_links_are_not(tmp_path: Path) -> None:
    def linked(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Rent is paid monthly.")
        canvas.linkURL("https://example.org", (60, 695, 150, 715))

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(drawn(linked, column(60, 700, "The end.")))))
    writer.add_annotation(0, Text(rect=(60, 690, 80, 710), text="ask for the new rate"))
    writer.add_annotation(0, FreeText(rect=(60, 590, 280, 610), text="signed in haste"))
    extraction = read(tmp_path, written(writer))
    assert [(element.page, element.text) for element in extraction.elements] == [
        (1, "Rent is paid monthly."),
        (1, "Note: ask for the new rate"),
        (1, "Note: signed in haste"),
        (2, "The end."),
    ]
    assert extraction.reason == ""


def test_attached_files_are_named_and_read_and_others_counted(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(drawn(column(60, 700, "Cover letter")))))
    writer.add_attachment("rates.txt", b"The rate is 8.25 per hour.")
    writer.add_attachment("setup.bin", b"\x7fELF\x02\x01\x01" + bytes(300))
    extraction = read(tmp_path, written(writer))
    assert "Attachments: rates.txt, setup.bin" in extraction.text
    assert "8.25 per hour" in extraction.text
    assert extraction.omissions == {"attachment": 1}


def picture(canvas: Canvas, left: float, width: float) -> None:
    canvas.drawImage(ImageReader(Image.effect_noise((60, 40), 90)), left, 300, width, width * 2 / 3)


def test_a_large_picture_is_counted_and_a_small_one_and_a_background_are_not(tmp_path: Path) -> None:
    def large(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "The mill in its last summer.")
        picture(canvas, 60, 300)
        picture(canvas, 400, 20)

    extraction = read(tmp_path, drawn(large))
    assert extraction.omissions == {"picture": 1}
    assert "1 picture without text" in extraction.reason

    def scan(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(Image.effect_noise((60, 80), 90)), 0, 0, 612, 792)
        text = canvas.beginText(60, 700)
        text.setTextRenderMode(3)
        text.textLine("Words that OCR found in this scan.")
        canvas.drawText(text)

    assert read(tmp_path, drawn(scan)).omissions == {}
