"""Files of every type, as large as people's are, in English and Chinese; the same ones at every run.

`scale` 1 makes a file of usual size: a text of 300 paragraphs, or what that gives in its format.
"""

import csv
import datetime
import io
import json
import random
import struct
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from html import escape
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import docx
import openpyxl
import xlwt
from pptx import Presentation
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import Paragraph, SimpleDocTemplate

from tests.drive_server.knowledge.compound_file import message

PARAGRAPHS = 300
SECTION = 10
COLUMNS = ("number", "客户", "department", "remark 备注", "amount", "day")
WORDS = [
    *("the", "of", "and", "to", "in", "a", "is", "for", "that", "with", "on", "as", "by", "this", "are", "be", "from"),
    *("all", "one", "may", "use", "time", "other", "new", "more", "year", "work", "state", "number", "people", "part"),
    *("government", "company", "group", "problem", "service", "place", "week", "result", "change", "morning", "reason"),
    *(
        "research",
        "moment",
        "teacher",
        "education",
        "minute",
        "policy",
        "process",
        "music",
        "market",
        "sense",
        "nation",
    ),
    *("plan", "college", "interest", "death", "experience", "effect", "class", "control", "field", "development"),
    *("report", "decision", "view", "relationship", "town", "road", "difference", "value", "building", "action"),
    *("society", "tax", "director", "position", "agree", "record", "paper", "space", "ground", "form", "event"),
    *("industry", "figure", "street", "image", "phone", "data", "picture", "practice", "piece", "land", "product"),
]
WORDS_ZH = [
    *("我们", "公司", "员工", "可以", "申请", "需要", "管理", "工作", "时间", "部门", "制度", "规定", "项目", "报告"),
    *("合同", "客户", "费用", "批准", "主管", "假期", "工资", "保险", "出差", "住宿", "发票", "办公", "系统", "数据"),
    *("文件", "会议", "计划", "市场", "产品", "服务", "质量", "研究", "技术", "发展", "城市", "学校", "教育", "医院"),
    *("生活", "经济", "社会", "问题", "方法", "结果", "影响", "关系", "已经", "如果", "因此", "但是", "的", "在", "和"),
]
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
_RTF = r"{\rtf1\ansi\deff0{\fonttbl{\f0 Times;}}{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}}"
_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf"/></rootfiles></container>'
)


class Author:
    """Writes paragraphs and rows, every other one in Chinese."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)  # noqa: S311 - the same text at every run

    def paragraph(self, *, chinese: bool) -> str:
        """Return five sentences."""
        if chinese:
            return "".join("".join(self._random.choices(WORDS_ZH, k=12)) + "。" for _ in range(5))
        return " ".join(" ".join(self._random.choices(WORDS, k=16)).capitalize() + "." for _ in range(5))

    def sections(self, scale: float) -> list[tuple[str, list[str]]]:
        """Return headings, each with its paragraphs."""
        count = max(1, round(PARAGRAPHS * scale / SECTION))
        return [(self._heading(number), self._paragraphs()) for number in range(count)]

    def rows(self, count: int) -> list[list[Any]]:
        """Return the rows of a table of six columns, the first with their names."""
        return [list(COLUMNS), *(self._row(number) for number in range(count))]

    def _heading(self, number: int) -> str:
        return f"第{number}章 {WORDS_ZH[number % 50]}" if number % 2 else f"{number}. {WORDS[number % 50].title()}"

    def _paragraphs(self) -> list[str]:
        return [self.paragraph(chinese=number % 2 == 1) for number in range(SECTION)]

    def _row(self, number: int) -> list[Any]:
        some = self._random.choices
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=number % 1000)
        words = " ".join(some(WORDS, k=4)), "".join(some(WORDS_ZH, k=4))
        return [number, *words, " ".join(some(WORDS, k=6)), round(self._random.random() * 1e5, 2), day]


def document(suffix: str, scale: float = 1, seed: int = 7) -> bytes:
    """Return a file of the type."""
    return MAKERS[suffix](Author(seed), scale)


def _txt(author: Author, scale: float) -> bytes:
    return "\n\n".join(text for title, texts in author.sections(scale) for text in (title, *texts)).encode()


def _md(author: Author, scale: float) -> bytes:
    sections = author.sections(scale)
    return "\n\n".join(
        f"## {title}\n\n" + "\n\n".join(["- a *list*\n- [more](x)", *texts]) for title, texts in sections
    ).encode()


def _html(author: Author, scale: float) -> bytes:
    head = "<head><meta charset='utf-8'><title>Handbook</title></head>"
    return f"<html>{head}<body>{_markup(author, scale)}</body></html>".encode()


def _markup(author: Author, scale: float) -> str:
    return "".join(
        f"<h2>{escape(title)}</h2>" + "".join(f"<p class='text'>{text}</p>" for text in texts)
        for title, texts in author.sections(scale)
    )


def _separated(author: Author, scale: float, delimiter: str) -> bytes:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows(author.rows(round(3000 * scale)))
    return file.getvalue().encode()


def _json(author: Author, scale: float) -> bytes:
    header, *rows = author.rows(round(2000 * scale))
    records = [dict(zip(header, row, strict=True)) for row in rows]
    return json.dumps(records, ensure_ascii=False, indent=1, default=str).encode()


def _code(author: Author, scale: float) -> bytes:
    functions = (
        f'def task_{number}(value):\n    """{title}: {texts[1]}"""\n    total = value * {number}\n'
        f"    for each in range(total):\n        print(each, {texts[0]!r})\n    return total\n"
        for number, (title, texts) in enumerate(author.sections(4 * scale))
    )
    return "\n\n".join(functions).encode()


def _pdf(author: Author, scale: float) -> bytes:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    body = ParagraphStyle("zh", fontName="STSong-Light", fontSize=11, leading=16, spaceAfter=8, wordWrap="CJK")
    styles = getSampleStyleSheet()
    heading = ParagraphStyle("heading", parent=body, fontSize=18, leading=24)
    story: list[Any] = []
    for title, texts in author.sections(scale):
        story.append(Paragraph(title, heading))
        story += [Paragraph(text, body if number % 2 else styles["BodyText"]) for number, text in enumerate(texts)]
    file = io.BytesIO()
    SimpleDocTemplate(file, invariant=1).build(story)
    return file.getvalue()


def _docx(author: Author, scale: float) -> bytes:
    written = docx.Document()
    for title, texts in author.sections(scale):
        written.add_heading(title, 1)
        for text in texts:
            written.add_paragraph(text)
    return _saved(written)


def _pptx(author: Author, scale: float) -> bytes:
    deck: Any = Presentation()
    for title, texts in author.sections(scale):
        for start in range(0, len(texts), 2):
            slide = deck.slides.add_slide(deck.slide_layouts[1])
            slide.shapes.title.text = title
            slide.placeholders[1].text = "\n".join(texts[start : start + 2])
    return _saved(deck)


def _xlsx(author: Author, scale: float) -> bytes:
    book: Any = openpyxl.Workbook()
    for row in author.rows(round(3000 * scale)):
        book.active.append(row)
    return _saved(book)


def _xls(author: Author, scale: float) -> bytes:
    book: Any = xlwt.Workbook()
    sheet = book.add_sheet("费用")
    day = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for number, row in enumerate(author.rows(round(3000 * scale))):
        for column, value in enumerate(row):
            sheet.write(number, column, value, *([day] if isinstance(value, datetime.date) else []))
    return _saved(book)


def _ods(author: Author, scale: float) -> bytes:
    rows = "".join(f"<table:table-row>{_cells(row)}</table:table-row>" for row in author.rows(round(3000 * scale)))
    body = f'<office:spreadsheet><table:table table:name="费用">{rows}</table:table></office:spreadsheet>'
    return _opendocument(body, "spreadsheet")


def _cells(row: Sequence[Any]) -> str:
    return "".join(f"<table:table-cell {_typed(value)}><text:p>{value}</text:p></table:table-cell>" for value in row)


def _typed(value: object) -> str:
    if isinstance(value, int | float):
        return f'office:value-type="float" office:value="{value}"'
    return 'office:value-type="string"'


def _odt(author: Author, scale: float) -> bytes:
    body = "".join(
        f'<text:h text:outline-level="1">{title}</text:h>' + "".join(f"<text:p>{text}</text:p>" for text in texts)
        for title, texts in author.sections(scale)
    )
    return _opendocument(f"<office:text>{body}</office:text>", "text")


def _odp(author: Author, scale: float) -> bytes:
    slides = "".join(
        f'<draw:page draw:name="{number}"><draw:frame><draw:text-box><text:p>{title}</text:p>'
        + "".join(f"<text:p>{text}</text:p>" for text in texts)
        + "</draw:text-box></draw:frame></draw:page>"
        for number, (title, texts) in enumerate(author.sections(scale))
    )
    return _opendocument(f"<office:presentation>{slides}</office:presentation>", "presentation")


def _opendocument(body: str, kind: str) -> bytes:
    spaces = " ".join(f'xmlns:{name}="{_OFFICE}:{name}:1.0"' for name in ("office", "text", "table", "presentation"))
    content = (
        f'<office:document-content {spaces} xmlns:draw="{_OFFICE}:drawing:1.0"><office:body>{body}</office:body>'
        "</office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{_OFFICE}:manifest:1.0"/>'
    mimetype = f"application/vnd.oasis.opendocument.{kind}"
    return _zip({"mimetype": mimetype, "META-INF/manifest.xml": manifest, "content.xml": content})


def _rtf(author: Author, scale: float) -> bytes:
    body = "".join(
        rf"\pard\s1 {_rtf_text(title)}\par" + "".join(rf"\pard\plain {_rtf_text(text)}\par" for text in texts)
        for title, texts in author.sections(scale)
    )
    return (_RTF + body + "}").encode("ascii")


def _rtf_text(text: str) -> str:
    return "".join(one if one.isascii() else f"\\u{struct.unpack('h', struct.pack('H', ord(one)))[0]}?" for one in text)


def _epub(author: Author, scale: float) -> bytes:
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body>{}</body></html>"
    names = [f"{number}.xhtml" for number in range(10)]
    items = "".join(f'<item id="i{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    spine = "".join(f'<itemref idref="i{name}"/>' for name in names)
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>'
    )
    first = {"mimetype": "application/epub+zip", "META-INF/container.xml": _CONTAINER, "book.opf": package}
    return _zip({**first, **{name: page.format(_markup(author, scale / len(names))) for name in names}})


def _eml(author: Author, scale: float) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "张三 <a@example.com>", "b@example.com", "育儿假 leave"
    mail.set_content(_txt(author, scale / 4).decode())
    mail.add_alternative(_html(author, scale / 4).decode(), subtype="html")
    return bytes(mail)


def _msg(author: Author, scale: float) -> bytes:
    text = _txt(author, scale / 4).decode()
    return message({"001A": "IPM.Note", "0037": "育儿假 leave", "0C1A": "张三", "1000": text})


def _zip(entries: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content, ZIP_STORED if name == "mimetype" else None)
    return file.getvalue()


def _saved(made: Any) -> bytes:
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


MAKERS: Mapping[str, Callable[[Author, float], bytes]] = {
    "txt": _txt,
    "md": _md,
    "html": _html,
    "csv": lambda author, scale: _separated(author, scale, ","),
    "tsv": lambda author, scale: _separated(author, scale, "\t"),
    "json": _json,
    "py": _code,
    "pdf": _pdf,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "xls": _xls,
    "ods": _ods,
    "odt": _odt,
    "odp": _odp,
    "rtf": _rtf,
    "epub": _epub,
    "eml": _eml,
    "msg": _msg,
}
