from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from drive_server.knowledge.chunk import chunk
from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge import documents, samples
from tests.drive_server.knowledge.compound_file import message
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH, TRAVEL_ZH

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction


def read(folder: Path, name: str, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, name, "")
    assert str(folder) not in extraction.reason
    for element in extraction.elements:
        assert extraction.text[element.start : element.end] == element.text
    return extraction


def parts(extraction: Extraction) -> list[tuple[str, str, str]]:
    assert extraction.state == "ready", extraction.reason
    return [(one.kind, str(one.place) if one.place else "", one.text) for one in extraction.elements]


def test_a_presentation_has_slides_with_titles_lists_tables_and_notes(tmp_path: Path) -> None:
    assert parts(read(tmp_path, "leave.pptx", documents.presentation())) == [
        ("title", "slide=1", "Leave of absence"),
        ("list_item", "slide=1", LEAVE),
        ("list_item", "slide=1", LEAVE_ZH),
        ("text", "slide=1", f"讲稿：{TRAVEL_ZH}"),
        ("title", "slide=2", "育儿假"),
        ("table", "slide=2", "weeks | pay\n12 | 全额"),
    ]


def test_a_spreadsheet_has_sheets_with_rows_and_their_cells(tmp_path: Path) -> None:
    assert parts(read(tmp_path, "budget.xlsx", documents.workbook())) == [
        ("title", "sheet=预算 2024!B3:D3", "预算 2024"),
        ("title", "sheet=预算 2024!B3:D3", "姓名 | amount | day"),
        ("table", "sheet=预算 2024!B4:D5", "张三 | 12 | 2024-01-31\nAnn | 0.5"),
        ("title", "sheet=formulas!A1:A1", "formulas"),
        ("table", "sheet=formulas!A1:A2", "=1+1\n7"),
    ]


def test_passages_of_a_long_sheet_have_its_header_and_exactly_their_cells(tmp_path: Path) -> None:
    rows = [["name", "note"], *([f"person {number}", "x" * 40] for number in range(100))]
    passages = [one for one in chunk(read(tmp_path, "a.xlsx", documents.workbook(rows))) if "person" in one.text]
    assert len(passages) > 4
    assert {passage.heading for passage in passages} == {"预算 2024 › name | note"}
    last = passages[-1].text.splitlines()
    assert last[-1].startswith("person 99")
    assert passages[-1].place == f"sheet=预算 2024!B{104 - len(last)}:C103"


def test_a_spreadsheet_of_the_old_kind_is_read(tmp_path: Path) -> None:
    assert parts(read(tmp_path, "budget.xls", documents.old_workbook())) == [
        ("title", "sheet=预算!A1:B1", "预算"),
        ("title", "sheet=预算!A1:B1", "姓名 | amount"),
        ("table", "sheet=预算!A2:B2", "张三 | 12"),
    ]


def test_an_opendocument_text_has_headings_lists_tables_and_notes(tmp_path: Path) -> None:
    assert parts(read(tmp_path, "leave.odt", documents.text_document())) == [
        ("title", "", "Leave of absence"),
        ("text", "", LEAVE),
        ("title", "", "育儿假"),
        ("text", "", LEAVE_ZH),
        ("text", "", "A note  below."),
        ("list_item", "", "Bring the form"),
        ("table", "", "weeks | 工资\n12 | 全额"),
    ]


def test_an_opendocument_presentation_has_slides(tmp_path: Path) -> None:
    frame = "<draw:frame{}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    title = frame.format(' presentation:class="title"', "育儿假")
    slides = f"<draw:page/><draw:page>{title}{frame.format('', LEAVE)}</draw:page>"
    body = f"<office:presentation>{slides}</office:presentation>"
    data = documents.opendocument(body, "presentation")
    assert parts(read(tmp_path, "leave.odp", data)) == [("title", "slide=2", "育儿假"), ("text", "slide=2", LEAVE)]


def test_a_book_is_read_in_the_order_of_its_pages(tmp_path: Path) -> None:
    extraction = read(tmp_path, "handbook.epub", documents.book())
    assert parts(extraction) == [
        ("title", "", "The Handbook"),
        ("title", "part=1", "Leave"),
        ("text", "part=1", LEAVE),
        ("title", "part=3", "育儿假"),
        ("text", "part=3", LEAVE_ZH),
    ]
    assert [one.heading for one in chunk(extraction)] == ["The Handbook › Leave", "The Handbook › 育儿假"]


@pytest.mark.parametrize("charset", ["utf-8", "gb2312", "gb18030"])
@pytest.mark.parametrize("html", [True, False])
def test_a_mail_has_headers_body_and_the_names_of_attachments(tmp_path: Path, charset: str, *, html: bool) -> None:
    found = parts(read(tmp_path, "leave.eml", documents.mail(html=html, charset=charset)))
    assert [text for kind, _, text in found if kind == "title"] == ["育儿假申请 leave", *(["Request"] if html else [])]
    assert found[1][2].splitlines() == [
        "From: 张三 <zhang@example.com>",
        "To: ann@example.com, Bob <bob@example.com>",
        "Date: Mon, 05 Feb 2024 10:00:00 +0800",
    ]
    assert [text for _, _, text in found[-3:]] == [LEAVE, LEAVE_ZH, "Attachments: 证明.pdf"]


def test_a_mail_in_a_charset_that_nobody_knows_is_read(tmp_path: Path) -> None:
    data = documents.mail(html=False).replace(b'charset="utf-8"', b'charset="klingon"')
    assert LEAVE_ZH in read(tmp_path, "leave.eml", data).text


def test_an_encrypted_mail_says_so_and_keeps_its_headers(tmp_path: Path) -> None:
    data = (
        b'Subject: secret\nFrom: a@example.com\nContent-Type: multipart/encrypted; boundary="x"\n\n--x\n\nabc\n--x--\n'
    )
    extraction = read(tmp_path, "a.eml", data)
    assert extraction.text == "secret\n\nFrom: a@example.com"
    assert "encrypted" in extraction.reason


def test_a_mail_of_outlook_has_headers_body_and_the_names_of_attachments(tmp_path: Path) -> None:
    values = {"001A": "IPM.Note", "0037": "育儿假申请", "0C1A": "张三", "0C1F": "zhang@example.com"}
    data = message({**values, "1000": f"{LEAVE}\r\n\r\n{LEAVE_ZH}\r\n"}, ("证明.pdf",))
    assert parts(read(tmp_path, "leave.msg", data)) == [
        ("title", "", "育儿假申请"),
        ("text", "", 'From: "张三" <zhang@example.com>'),
        ("text", "", LEAVE),
        ("text", "", LEAVE_ZH),
        ("text", "", "Attachments: 证明.pdf"),
    ]


def test_rich_text_has_headings_lists_tables_and_chinese_in_either_way(tmp_path: Path) -> None:
    assert parts(read(tmp_path, "leave.rtf", documents.rich_text())) == [
        ("title", "", "Leave of absence"),
        ("text", "", LEAVE),
        ("title", "", "育儿假"),
        ("text", "", f"{LEAVE_ZH}😀"),
        ("list_item", "", "Café {x}"),
        ("text", "", TRAVEL_ZH),
        ("table", "", "weeks | pay\n12 | full"),
        ("text", "", "The end"),
    ]


WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def test_comments_headers_and_footers_of_word_are_read_and_deleted_words_are_not(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Kept </w:t></w:r><w:ins><w:r><w:t>added</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>removed</w:delText></w:r></w:del></w:p>"
    )
    entries = {
        "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
        "word/comments.xml": f"<w:c {WORD}><w:comment><w:p><w:r><w:t>批注</w:t></w:r></w:p></w:comment></w:c>",
        **{
            f"word/header{number}.xml": f"<w:hdr {WORD}><w:p><w:r><w:t>机密 draft</w:t></w:r></w:p></w:hdr>"
            for number in range(3)
        },
    }
    data = samples.zip_of({name: text.encode() for name, text in entries.items()})
    assert [text for *_, text in parts(read(tmp_path, "a.docx", data))] == ["Kept added", "批注", "机密 draft"]


def test_a_table_within_a_table_of_opendocument_is_read_once(tmp_path: Path) -> None:
    table = "<table:table><table:table-row>{}</table:table-row></table:table>"
    cell = "<table:table-cell><text:p>{}</text:p>{}</table:table-cell>"
    inner = table.format(cell.format("inner", ""))
    data = documents.opendocument(f"<office:text>{table.format(cell.format('outer', inner))}</office:text>")
    assert parts(read(tmp_path, "a.odt", data)) == [("table", "", "outer inner")]


def test_words_that_a_change_deletes_are_not_read_from_rich_text(tmp_path: Path) -> None:
    data = rb"{\rtf1 kept {\deleted removed \u26377?}{\plain and this}\deleted gone\deleted0  too\par}"
    assert parts(read(tmp_path, "a.rtf", data)) == [("text", "", "kept and this too")]


def test_the_words_and_numbers_of_charts_and_comments_of_slides_are_read(tmp_path: Path) -> None:
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["East", "西区", "East"]
    data.add_series("Revenue", (1, 2, 3))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 999999, 999999, data)
    file = io.BytesIO()
    deck.save(file)
    with zipfile.ZipFile(file) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    relations = "ppt/slides/_rels/slide1.xml.rels"
    link = b'<Relationship Id="c" Type="comments" Target="../comments/comment1.xml"/></Relationships>'
    entries[relations] = entries[relations].replace(b"</Relationships>", link)
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    entries["ppt/comments/comment1.xml"] = f'<p:l xmlns:p="{main}"><p:cm><p:text>批注</p:text></p:cm></p:l>'.encode()
    found = parts(read(tmp_path, "a.pptx", samples.zip_of(entries)))
    assert ("table", "slide=1", " | Revenue\nEast | 1\n西区 | 2\nEast | 3") in found
    assert found[-1] == ("text", "slide=1", "批注")
