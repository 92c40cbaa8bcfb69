"""Real office documents, books and mails, made when they are needed."""

from __future__ import annotations

import datetime
import io
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

import openpyxl
import xlwt
from PIL import Image
from pptx import Presentation

from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH, TRAVEL_ZH, zip_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS: list[list[Any]] = [["姓名", "amount", "day"], ["张三", 12, datetime.date(2024, 1, 31)], ["Ann", 0.5, None]]
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    b'<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def presentation() -> bytes:
    """Two slides: a list and notes; a table."""
    deck: Any = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Leave of absence"
    first.placeholders[1].text = f"{LEAVE}\n{LEAVE_ZH}"
    first.notes_slide.notes_text_frame.text = f"讲稿：{TRAVEL_ZH}"
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "育儿假"
    table = second.shapes.add_table(2, 2, 0, 0, 1_000_000, 1_000_000).table
    for row, column, text in ((0, 0, "weeks"), (0, 1, "pay"), (1, 0, "12"), (1, 1, "全额")):
        table.cell(row, column).text = text
    return _saved(deck)


def workbook(rows: Sequence[Sequence[Any]] = ROWS) -> bytes:
    """One sheet whose table begins in cell B3, an empty one, and one with a formula without a value."""
    book: Any = openpyxl.Workbook()
    book.active.title = "预算 2024"
    for number, row in enumerate(rows, start=3):
        for column, value in enumerate(row, start=2):
            book.active.cell(number, column, value)
    book.create_sheet("empty")
    sheet: Any = book.create_sheet("formulas")
    sheet["A1"] = "=1+1"
    sheet["A2"] = 7
    return _saved(book)


def old_workbook() -> bytes:
    book: Any = xlwt.Workbook()
    sheet = book.add_sheet("预算")
    for number, row in enumerate(ROWS[:2]):
        for column, value in enumerate(row[:2]):
            sheet.write(number, column, value)
    return _saved(book)


def opendocument(body: str, kind: str = "text", *, manifest: bytes | None = None) -> bytes:
    """An OpenDocument file with this XML as its body."""
    names = ("office", "text", "table", "presentation")
    spaces = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in names)
    content = (
        f'<office:document-content {spaces} xmlns:draw="{OFFICE}:drawing:1.0"><office:body>{body}</office:body>'
        "</office:document-content>"
    )
    entries = {"mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(), "content.xml": content.encode()}
    return zip_of(entries | ({"META-INF/manifest.xml": manifest} if manifest else {}))


def text_document() -> bytes:
    return opendocument(
        f'<office:text><text:h text:outline-level="1">Leave of absence</text:h><text:p>{LEAVE}</text:p>'
        f'<text:h text:outline-level="2">育儿假</text:h><text:p>{LEAVE_ZH[:10]}<text:span>{LEAVE_ZH[10:]}</text:span>'
        "<text:note><text:note-body><text:p>A note<text:s text:c='2'/>below.</text:p></text:note-body>"
        "</text:note></text:p>"
        "<text:list><text:list-item><text:p>Bring the form</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>weeks</text:p></table:table-cell>"
        "<table:table-cell><text:p>工资</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell>"
        "<text:p>12</text:p></table:table-cell><table:table-cell><text:p>全额</text:p></table:table-cell>"
        "</table:table-row></table:table></office:text>"
    )


def book(*, encryption: bytes | None = None) -> bytes:
    """A book of two chapters, whose files are not in the order in which they are read."""
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body>{}</body></html>"
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:title>The Handbook</dc:title></metadata><manifest><item id="b" href="text/a%20b.xhtml" '
        'media-type="application/xhtml+xml"/><item id="a" href="z.xhtml" media-type="application/xhtml+xml"/>'
        '</manifest><spine><itemref idref="a"/><itemref idref="gone"/><itemref idref="b"/></spine></package>'
    )
    entries = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package.encode(),
        "OEBPS/z.xhtml": page.format(f"<h1>Leave</h1><p>{LEAVE}</p>").encode(),
        "OEBPS/text/a b.xhtml": page.format(f"<h1>育儿假</h1><p>{LEAVE_ZH}</p>").encode(),
    }
    return zip_of(entries | ({"META-INF/encryption.xml": encryption} if encryption else {}))


def mail(*, html: bool = True, charset: str = "utf-8") -> bytes:
    message = EmailMessage()
    message["From"] = "张三 <zhang@example.com>"
    message["To"] = "ann@example.com, Bob <bob@example.com>"
    message["Date"] = "Mon, 05 Feb 2024 10:00:00 +0800"
    message["Subject"] = "育儿假申请 leave"
    message.set_content(f"{LEAVE}\n\n{LEAVE_ZH}\n", charset=charset)
    if html:
        message.add_alternative(f"<h2>Request</h2><p>{LEAVE}</p><p>{LEAVE_ZH}</p>", subtype="html", charset=charset)
    message.add_attachment(b"%PDF-" + b"x" * 3000, maintype="application", subtype="pdf", filename="证明.pdf")
    return bytes(message)


def rich_text() -> bytes:
    """As Word writes it (\\u with a fallback) and as WordPad does (bytes of the font's charset)."""
    units = "".join(f"\\u{number if number < 32768 else number - 65536}\\'3f" for number in _units(f"{LEAVE_ZH}😀"))
    chinese = "".join(f"\\'{byte:02x}" for byte in TRAVEL_ZH.encode("gb18030"))
    return (
        r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Times;}{\f1\fnil\fcharset134 \'cb\'ce\'cc\'e5;}}"
        r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}}"
        r"{\info{\title hidden}}{\*\unknown hidden}"
        r"{\pict\pngblip 89504e47}\pard\s1 Leave of {\b absence}\par\pard\plain "
        + LEAVE
        + r"\par\pard\s2\f1 \'d3\'fd\'b6\'f9\'bc\'d9\par\pard\f0\uc1 "
        + units
        + r"\par\pard\ls1 Caf\'e9 \{x\}\par\pard\f1 "
        + chinese
        + r"\par\trowd\pard\intbl weeks\cell pay\cell\row\trowd\pard\intbl 12\cell full\cell\row\pard\f0 The end}"
    ).encode("ascii")


def _units(text: str) -> Sequence[int]:
    return memoryview(text.encode("utf-16-le")).cast("H").tolist()


def picture(width: int, height: int, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("1", (width, height), 1).save(file, kind)
    return file.getvalue()


def animation(width: int, height: int, kind: str = "GIF") -> bytes:
    """Two moments of a picture that differ."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(
        file, kind, save_all=True, append_images=[Image.new("RGB", (width, height), "black")]
    )
    return file.getvalue()


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
