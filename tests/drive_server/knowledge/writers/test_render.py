"""Office documents of Markdown: the same text and table when they are read back, and nothing that acts."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook

from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.tables.query import query_table
from drive_server.knowledge.tables.request import Aggregate, TableAnswer, TableQuery
from drive_server.knowledge.writers.render import MAX_RENDERED_CHARACTERS, UnwritableError, can_render, render_document

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

OFFICE = "application/vnd.openxmlformats-officedocument"
DOCX = f"{OFFICE}.wordprocessingml.document"
XLSX = f"{OFFICE}.spreadsheetml.sheet"
TEXT = """\
# 租房 Leases

Some **bold**, *slanted* and `code`.
Second line.

## Terms

1. one
2. two
   - below

> quoted

| Name | Rent |
|------|-----:|
| Anna | 1234 |
| 李雷 | 12.5 |
"""


def read_back(folder: Path, media_type: str, text: str) -> Extraction:
    path = folder / ("a.docx" if media_type == DOCX else "a.xlsx")
    path.write_bytes(render_document(media_type, text))
    return extract(path, path.name, media_type)


def entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_word_document_reads_as_it_was_written(tmp_path: Path) -> None:
    read = read_back(tmp_path, DOCX, TEXT)

    assert read.text.split("\n\n") == [
        "租房 Leases",
        "Some bold, slanted and code.\nSecond line.",
        "Terms",
        "1. one",
        "2. two",
        "below",
        "quoted",
        "Name | Rent\nAnna | 1234\n李雷 | 12.5",
    ]
    kinds = [(element.kind, element.level) for element in read.elements]
    assert kinds[:4] == [("title", 1), ("text", 0), ("title", 2), ("list_item", 0)]
    assert kinds[-1] == ("table", 0)


def test_lists_begin_anew(tmp_path: Path) -> None:
    numbering = entries(render_document(DOCX, "1. a\n2. b\n\ntext\n\n5. e\n"))["word/numbering.xml"]

    assert (numbering.count(b'startOverride w:val="1"'), numbering.count(b'startOverride w:val="5"')) == (1, 1)
    assert read_back(tmp_path, DOCX, "1. a\n\ntext\n\n5. e\n").text == "1. a\n\ntext\n\n5. e"


def test_a_workbook_has_a_sheet_for_each_table_and_is_asked_as_one(tmp_path: Path) -> None:
    more = "\n# Costs: 2026?\n\n| Item | Cost |\n|--|--|\n| a | 1,234.50 |\n| b | -0.25 |\n"
    read = read_back(tmp_path, XLSX, TEXT + more)
    query = TableQuery(aggregates=(Aggregate("sum", "Cost"),))
    answer = query_table(query, tmp_path / "a.xlsx", "a.xlsx", XLSX)

    assert "Name | Rent\nAnna | 1234\n李雷 | 12.5" in read.text
    assert "Some bold, slanted and code." in read.text
    assert isinstance(answer, TableAnswer)
    assert (answer.rows[0].values, answer.sheets) == (("1234.25",), ("租房 Leases", "Costs 2026"))


def test_separated_rows_and_lines_make_workbooks_too(tmp_path: Path) -> None:
    assert read_back(tmp_path, XLSX, 'Item,Note\na,"one, two"\nb,2026-11-05\n').text == (
        "Sheet1\n\nItem | Note\n\na | one, two\nb | 2026-11-05"
    )
    assert read_back(tmp_path, XLSX, "one line\nanother\n").text == "Sheet1\n\none line\nanother"


@pytest.mark.parametrize("cell", ["=1+1", "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "＝1"])
def test_no_text_becomes_a_formula(tmp_path: Path, cell: str) -> None:
    escaped = cell.replace("|", "\\|")
    data = render_document(XLSX, f"| a | {cell.replace('|', '')} |\n|--|--|\n| x | {escaped} |\n")
    (sheet,) = load_workbook(io.BytesIO(data)).worksheets

    assert b"<f>" not in entries(data)["xl/worksheets/sheet1.xml"]
    assert [[one.data_type for one in row] for row in sheet.iter_rows()] == [["s", "s"], ["s", "s"]]
    assert cell in read_back(tmp_path, XLSX, f"| a | b |\n|--|--|\n| x | {escaped} |\n").text


def test_numbers_keep_their_form_and_what_is_no_plain_number_stays_text() -> None:
    cells = ["1234.50", "1,234.50", "007", "12345678901234567", "2026-11-05", "2026-13-05", "1e5"]
    data = render_document(XLSX, "a,b\n" + "".join(f'x,"{cell}"\n' for cell in cells))
    written = [row[1] for row in load_workbook(io.BytesIO(data)).worksheets[0].iter_rows(min_row=2)]

    assert [one.data_type for one in written] == ["n", "n", "s", "s", "d", "s", "s"]
    assert [one.number_format for one in written[:2]] == ["0.00", "#,##0.00"]


def test_hostile_markdown_fetches_nothing_and_runs_nothing(tmp_path: Path) -> None:
    text = (
        "![x](https://evil.example/p.png) [a](javascript:alert) [b](file:///etc/passwd) [c](//host/share)\n"
        "[d](https://example.org/ok) <script>alert(1)</script>\n\n<img src=https://evil.example/q>\n\x00\x0b\ufffe\n"
    )
    data = entries(render_document(DOCX, text))
    targets = b"".join(content for name, content in data.items() if name.endswith(".rels"))

    assert targets.count(b'TargetMode="External"') == 1
    assert b'Target="https://example.org/ok"' in targets
    assert not any(name.startswith("word/media") for name in data)
    assert b"evil.example" not in targets
    read = read_back(tmp_path, DOCX, text).text
    assert "x (https://evil.example/p.png)" in read
    assert "b (file:///etc/passwd)" in read or "[b](file:///etc/passwd)" in read
    assert "<script>alert(1)</script>" in read


@pytest.mark.parametrize("media_type", [DOCX, XLSX])
@pytest.mark.parametrize(
    "text", ["", "\n\n", "|", "# ", "> " * 200 + "deep", "- " * 200 + "deep", "| a |\n|--|\n", "😀"]
)
def test_any_text_makes_a_document_that_can_be_read_and_is_the_same_each_time(
    tmp_path: Path, media_type: str, text: str
) -> None:
    assert read_back(tmp_path, media_type, text).state == "ready"
    assert render_document(media_type, text) == render_document(media_type, text)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UnwritableError):
        render_document(DOCX, "x" * (MAX_RENDERED_CHARACTERS + 1))
    with pytest.raises(UnwritableError):
        render_document(XLSX, "x" * 40_000)
    assert (can_render(DOCX), can_render(XLSX), can_render("text/markdown")) == (True, True, False)
