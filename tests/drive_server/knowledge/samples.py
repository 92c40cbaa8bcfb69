"""Real files of every kind, made when they are needed."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import docx
import pypdfium2
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer

from drive_server.knowledge.readers.extract import extract

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAVE = (
    "Parents may stay at home for twelve weeks after their child is born or adopted. "
    "The request has to reach the personnel department thirty days before."
)
LEAVE_ZH = "员工可以休十二周的带薪育儿假。需要提前三十天申请，并得到主管的批准。育儿假期间工资照发，保险不中断。"
TRAVEL_ZH = "出差的交通费和住宿费由公司承担，但员工必须在回来后十个工作日之内提交全部发票和费用报销单，逾期不予报销。"


def pdf(*, password: str | None = None) -> bytes:
    """Two pages with headings and paragraphs of several lines, English and Chinese."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    styles = getSampleStyleSheet()
    body = ParagraphStyle("zh", fontName="STSong-Light", fontSize=11, leading=16, wordWrap="CJK")
    heading = ParagraphStyle("zh-heading", parent=body, fontSize=18, leading=24)
    story: list[Flowable] = [Paragraph("Leave of absence", styles["Heading1"])]
    story += [Paragraph(f"{number}. {LEAVE}", styles["BodyText"]) for number in (1, 2)]
    story += [PageBreak(), Paragraph("第二章 育儿假", heading)]
    for paragraph in (LEAVE_ZH, TRAVEL_ZH):
        story += [Paragraph(paragraph, body), Spacer(1, 8)]
    file = io.BytesIO()
    encryption = StandardEncryption(password, ownerPassword="owner") if password else None
    SimpleDocTemplate(file, encrypt=encryption, invariant=1).build(story)
    return file.getvalue()


def numbered_pdf(pages: int) -> bytes:
    """Pages with a running head, a page number and one paragraph each."""
    file = io.BytesIO()
    drawing = canvas.Canvas(file, invariant=1)
    for number in range(1, pages + 1):
        drawing.drawString(72, 800, "The annual report")
        drawing.drawString(72, 500, f"Paragraph of page {'abcdefgh'[number]}, which is unlike the others.")
        drawing.drawString(300, 30, str(number))
        drawing.showPage()
    drawing.save()
    return file.getvalue()


def scanned_pdf(*, with_text_page: bool = False) -> bytes:
    """A page that is only a picture of text; with a page of real text before it, if wanted."""
    document = pypdfium2.PdfDocument(pdf())
    picture = document[0].render(scale=1).to_pil()
    document.close()
    image, file = io.BytesIO(), io.BytesIO()
    picture.save(image, "PNG")
    drawing = canvas.Canvas(file, invariant=1)
    if with_text_page:
        drawing.drawString(72, 700, "This page has text of its own.")
        drawing.showPage()
    drawing.drawInlineImage(picture, 0, 0, 500, 700)
    drawing.showPage()
    drawing.save()
    return file.getvalue()


def blank_pdf() -> bytes:
    file = io.BytesIO()
    drawing = canvas.Canvas(file, invariant=1)
    drawing.showPage()
    drawing.save()
    return file.getvalue()


def word_document() -> bytes:
    document = docx.Document()
    document.add_heading("Leave of absence", 1)
    document.add_paragraph(LEAVE)
    document.add_heading("育儿假", 2)
    document.add_paragraph(LEAVE_ZH)
    document.add_paragraph("Bring the form", style="List Bullet")
    table = document.add_table(2, 2)
    for row, column, text in ((0, 0, "weeks"), (0, 1, "pay"), (1, 0, "12"), (1, 1, "full")):
        table.cell(row, column).text = text
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def zip_of(entries: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else None)
    return file.getvalue()


def page() -> bytes:
    return (
        "<html><head><title>Handbook</title><style>p {color: red}</style><script>var hidden = 1;</script></head><body>"
        f"<h1>Leave of absence</h1><p>{LEAVE}</p><h2>育儿假</h2><p>{LEAVE_ZH}</p><ul><li>Bring the form</li></ul>"
        "<table><tr><th>weeks</th><th>pay</th></tr><tr><td>12</td><td>full</td></tr></table></body></html>"
    ).encode()


def refuse_to_extract(run_sync: Any) -> Any:
    """Wrap anyio's way into a thread so that files can't be read there."""

    async def checked(work: Any, *arguments: Any, **options: Any) -> Any:
        assert work is not extract
        return await run_sync(work, *arguments, **options)

    return checked
