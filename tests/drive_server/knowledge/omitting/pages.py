from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject
from reportlab.lib.utils import ImageReader

from tests.drive_server.knowledge.drawing import column, drawn
from tests.drive_server.knowledge.samples import scanned_pdf

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

    from tests.drive_server.knowledge.omitting import Samples


def _bytes(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _with_a_program() -> tuple[str, bytes]:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(drawn(column(60, 700, "The program is attached.")))))
    writer.add_attachment("setup.bin", b"\x7fELF\x02\x01\x01" + bytes(300))
    return "program.pdf", _bytes(writer)


def _with_unknown_letters() -> tuple[str, bytes]:
    """A font whose small letters stand for code points of private use, as those of icons do."""
    pages = drawn(column(60, 700, "ONE LINE IS KNOWN.", "abcdefghijklmnopqrstuvwxyz"))
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pages)))
    mapping = StreamObject()
    mapping.set_data(b"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <61> <7A> <E000> endbfrange")
    fonts = writer.pages[0]["/Resources"]["/Font"]  # pyright: ignore[reportIndexIssue]
    fonts["/F1"][NameObject("/ToUnicode")] = writer._add_object(mapping)  # pyright: ignore[reportPrivateUsage]
    return "letters.pdf", _bytes(writer)


def _with_a_password_field() -> tuple[str, bytes]:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "The code of the door")
        canvas.acroForm.textfield(name="code", value="sesame", fieldFlags="password", x=190, y=694, height=20)

    return "form.pdf", drawn(draw)


def _with_a_head() -> tuple[str, bytes]:
    trees = ("oak", "elm", "ash", "fir")
    return "head.pdf", drawn(*([(60, 765, "Trees of the town"), (60, 600, f"The {tree}.")] for tree in trees))


def _with_a_picture() -> tuple[str, bytes]:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "The mill in its last summer.")
        canvas.drawImage(ImageReader(Image.effect_noise((60, 40), 90)), 60, 300, 300, 200)

    return "mill.pdf", drawn(draw)


SAMPLES: Samples = {
    "pdf": {
        "attachment": _with_a_program,
        "blank_page": lambda: ("blank.pdf", drawn([], [])),
        "character": _with_unknown_letters,
        "form_field": _with_a_password_field,
        "margin": _with_a_head,
        "picture": _with_a_picture,
        "scan": lambda: ("scan.pdf", scanned_pdf(with_text_page=True)),
    }
}
