from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge import image
from drive_server.knowledge.chunk import chunk
from drive_server.knowledge.extract import extract
from tests.drive_server.knowledge import documents
from tests.drive_server.knowledge.compound_file import message
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH, TRAVEL_ZH

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.elements import Extraction


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
        ("title", "sheet=formulas!A2:A2", "formulas"),
        ("table", "sheet=formulas!A2:A2", "7"),
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


def test_an_image_needs_ocr_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    extraction = read(tmp_path, "scan.png", documents.picture(100, 50))
    assert (extraction.state, extraction.text) == ("needs_ocr", "")
    assert "tesseract" in extraction.reason


def test_an_image_is_read_by_tesseract_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tesseract"
    program.write_text(
        '#!/bin/sh\nif [ "$1" = --list-langs ]; then echo eng; echo chi_sim\n'
        'else echo "育儿假 $4"; echo; echo leave; fi\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert parts(read(tmp_path, "scan.jpg", documents.picture(100, 50))) == [
        ("text", "", "育儿假 eng+chi_sim"),
        ("text", "", "leave"),
    ]


def test_an_image_that_tesseract_gives_up_on_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert image.shutil.which("tesseract") == str(program)
    assert read(tmp_path, "scan.png", documents.picture(100, 50)).state == "failed"
