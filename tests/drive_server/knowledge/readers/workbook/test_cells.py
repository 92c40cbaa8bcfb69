"""Workbooks are told as a person sees them, in every format."""

from __future__ import annotations

import datetime
import io
import re
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import openpyxl
import pytest
import xlsxwriter
import xlwt
from openpyxl.comments import Comment

from drive_server.knowledge.readers.office.sheets import sheets_extraction
from drive_server.knowledge.text.omissions import Omissions
from tests.drive_server.knowledge.binary_workbook import xls_of, xlsb_of
from tests.drive_server.knowledge.documents import opendocument
from tests.drive_server.knowledge.samples import zip_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHEET = "xl/worksheets/sheet1.xml"


class Reader:
    """Reads a workbook that a test writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.omissions: dict[str, int] = {}

    def text(self, data: bytes) -> str:
        self.path.write_bytes(data)
        omissions = Omissions()
        found = sheets_extraction(self.path, omissions)
        self.omissions = omissions.counts
        assert not found.reason
        return found.text

    def lines(self, data: bytes) -> list[str]:
        return [line for line in self.text(data).split("\n") if line]


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path / "blob")


def written(fill: Callable[[Any, Any], object], **options: Any) -> bytes:
    """Return a workbook of XlsxWriter, whose formulas nobody has calculated."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, **options}) as book:
        fill(book, book.add_worksheet("S"))
    return file.getvalue()


def saved(fill: Callable[[Any], object]) -> bytes:
    """Return a workbook of openpyxl."""
    book: Any = openpyxl.Workbook()
    book.active.title = "S"
    fill(book.active)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def changed(data: bytes, entry: str, pattern: str, new: str) -> bytes:
    with ZipFile(io.BytesIO(data)) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    parts[entry], count = re.subn(pattern.encode(), new.encode(), parts[entry])
    assert count
    return zip_of(parts)


def moved(data: bytes, names: dict[str, str]) -> bytes:
    """Return a workbook with its parts, and all that names them, under other names."""
    with ZipFile(io.BytesIO(data)) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    found: dict[str, bytes] = {}
    for name, part in parts.items():
        for old, new in names.items():
            part = part.replace(old.encode(), new.encode())  # noqa: PLW2901 - one name after the other
            name = name.replace(old, new)  # noqa: PLW2901
        found[name] = part
    return zip_of(found)


@pytest.mark.parametrize("kind", ["xlsx", "xls", "ods"])
def test_blank_cells_before_and_between_others_stay_and_those_behind_go(reader: Reader, kind: str) -> None:
    rows = [["Region", "Q1", "Q2"], ["North", 1, 2], [None, 3, 4], ["South", None, 6], [None, None, 7], ["West", 8]]
    expected = ["S", "Region | Q1 | Q2", "North | 1 | 2", " | 3 | 4", "South |  | 6", " |  | 7", "West | 8"]
    assert reader.lines(table_of(kind, rows)) == expected


def table_of(kind: str, rows: list[list[Any]]) -> bytes:
    if kind == "xlsx":
        return saved(lambda sheet: [sheet.append(row) for row in rows])
    if kind == "ods":
        return ods_of("".join(f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows))
    book: Any = xlwt.Workbook()
    sheet = book.add_sheet("S")
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            if value is not None:
                sheet.write(number, column, value)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def ods_cell(value: Any) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
    attributes = f'office:value-type="float" office:value="{value}"'
    return f"<table:table-cell {attributes}><text:p>{value}</text:p></table:table-cell>"


def ods_of(rows: str, attributes: str = "") -> bytes:
    body = f'<office:spreadsheet><table:table table:name="S"{attributes}>{rows}</table:table></office:spreadsheet>'
    return opendocument(body, "spreadsheet")


def test_values_are_told_as_their_cells_show_them(reader: Reader) -> None:
    def fill(book: Any, sheet: Any) -> None:
        day = datetime.datetime(2026, 1, 2)  # noqa: DTZ001 - cells have no zone
        cells = [(0.475, "0.0%"), (1234, "00000"), (27.25 / 24, "[h]:mm"), (-1234.5, "$#,##0.00;($#,##0.00)")]
        for row, (value, code) in enumerate([*cells, (day, "dd.mm.yyyy"), (day, "m/d/yy"), (4111111111111111, "0")]):
            sheet.write(row, 0, value, book.add_format({"num_format": code}))

    shown = ["47.5%", "01234", "27:15", "($1,234.50)", "02.01.2026", "1/2/26", "4111111111111111"]
    assert reader.lines(written(fill))[1:] == shown


def test_the_standard_date_and_the_1904_system_are_told_as_iso(reader: Reader) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write("A1", datetime.datetime(2026, 1, 2), book.add_format({"num_format": 14}))  # noqa: DTZ001

    assert reader.lines(written(fill))[1:] == ["2026-01-02"]
    assert reader.lines(written(fill, date_1904=True))[1:] == ["2026-01-02"]


def test_a_number_that_its_format_hides_is_told_and_marked_and_a_nought_is_not(reader: Reader) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write("A1", 42, book.add_format({"num_format": ";;;"}))
        sheet.write("A2", 0, book.add_format({"num_format": "0;-0;;@"}))
        sheet.write("B2", "end")

    assert reader.lines(written(fill))[1:] == ["42 (hidden)", " | end"]


def test_texts_that_look_like_numbers_stay_texts(reader: Reader) -> None:
    texts = ["00123", "1E5", "2026-01-02", "=1+1", "#N/A", "1,234"]
    data = written(lambda _, sheet: [sheet.write_string(row, 0, text) for row, text in enumerate(texts)])
    assert reader.lines(data)[1:] == texts
    assert not reader.omissions


def test_formulas_that_nobody_has_calculated_are_shown_as_they_are_written(reader: Reader) -> None:
    data = written(lambda _, sheet: [sheet.write("A1", 5), sheet.write("B1", "=A1*2"), sheet.write("C1", "=A1&B1")])
    assert reader.lines(data)[1:] == ["5 | =A1*2 | =A1&B1"]
    assert reader.omissions == {"formula": 2}

    shared = changed(data, SHEET, "<f>A1[*]2</f><v>0</v>", '<f t="shared" ref="B1:C1" si="0">A1*2</f>')
    shared = changed(shared, SHEET, "<f>A1&amp;B1</f><v>0</v>", '<f t="shared" si="0"/>')
    assert reader.lines(shared)[1:] == ["5 | =A1*2 | =B1*2"]


def test_noughts_in_the_area_of_an_array_formula_that_nobody_has_calculated_are_marked(reader: Reader) -> None:
    def fill(_: Any, sheet: Any) -> None:
        sheet.write_column("A1", [5, 0, 7])
        sheet.write_array_formula("B1:B3", "{=A1:A3*2}")

    assert reader.lines(written(fill))[1:] == ["5 | =A1:A3*2", "0 | =A1:A3*2", "7 | =A1:A3*2"]
    assert reader.omissions == {"formula": 3}


def test_results_of_formulas_stay_and_a_true_nought_too(reader: Reader) -> None:
    data = written(lambda _, sheet: [sheet.write("A1", 5), sheet.write_formula("B1", "=A1*2", None, 10)])
    assert reader.lines(data)[1:] == ["5 | 10"]
    assert not reader.omissions

    nought = written(lambda _, sheet: [sheet.write("A1", 5), sheet.write_formula("B1", "=A1-5", None, 0)])
    calculated = changed(nought, "xl/workbook.xml", ' fullCalcOnLoad="1"', "")
    assert reader.lines(calculated)[1:] == ["5 | 0"]
    assert not reader.omissions

    text = changed(calculated, SHEET, "<c r=.B1.><f>A1-5</f><v>0</v>", '<c r="B1" t="str"><f>A1-5</f><v></v>')
    assert reader.lines(text)[1:] == ["5"]
    assert not reader.omissions


def test_formulas_of_xls_and_ods_that_nobody_has_calculated_are_marked(reader: Reader) -> None:
    book: Any = xlwt.Workbook()
    sheet = book.add_sheet("S")
    sheet.write(0, 0, 5)
    sheet.write(0, 1, xlwt.Formula("A1*2"))
    file = io.BytesIO()
    book.save(file)
    assert reader.lines(file.getvalue())[1:] == ["5 | =?"]
    assert reader.omissions == {"formula": 1}

    cell = '<table:table-cell table:formula="of:=[.A1]*2"/>'
    assert reader.lines(ods_of(f"<table:table-row>{ods_cell(5)}{cell}</table:table-row>"))[1:] == ["5 | =A1*2"]
    assert reader.omissions == {"formula": 1}


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (0.475, "0.0%", "47.5%"),
        (0.5, "0%", "50%"),
        (1234, "00000", "01234"),
        (27.25 / 24, "[h]:mm", "27:15"),
        (1234567890123456, "0", "1234567890123456"),
        (1234.5, "#,##0.00", "1,234.50"),
        (45000, "yyyy-mm-dd", "2023-03-15"),
    ],
)
def test_values_of_xls_are_told_as_their_cells_show_them(
    reader: Reader, value: float, number_format: str, shown: str
) -> None:
    book: Any = xlwt.Workbook()
    sheet = book.add_sheet("S")
    sheet.write(0, 0, "value")
    sheet.write(0, 1, value, xlwt.easyxf(num_format_str=number_format))
    file = io.BytesIO()
    book.save(file)
    assert reader.lines(file.getvalue())[1:] == [f"value | {shown}"]


def test_errors_are_told(reader: Reader) -> None:
    data = written(lambda _, sheet: [sheet.write_formula("A1", "=1/0", None, "#DIV/0!"), sheet.write("B1", "end")])
    assert reader.lines(data)[1:] == ["#DIV/0! | end"]


def test_comments_stand_beside_their_cells_and_on_blank_ones(reader: Reader) -> None:
    def fill(sheet: Any) -> None:
        sheet.append(["deposit", 900])
        sheet["B1"].comment = Comment("agreed by\ntelephone", "Ann")
        sheet["C4"].comment = Comment("still open", "Ann")

    expected = ["deposit | 900 [comment: agreed by telephone]", " |  | [comment: still open]"]
    assert reader.lines(saved(fill))[1:] == expected


def test_a_thread_of_comments_is_told_once(reader: Reader) -> None:
    def fill(sheet: Any) -> None:
        sheet["A1"] = 900
        sheet["A1"].comment = Comment("[Threaded comment]\n\nYour version of Excel allows you to read", "Ann")

    with ZipFile(io.BytesIO(saved(fill))) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    related = (
        f'<Relationship Id="t1" Type="{kind}" Target="/xl/threadedComments/threadedComment1.xml"/></Relationships>'
    )
    name = "xl/worksheets/_rels/sheet1.xml.rels"
    parts[name] = parts[name].replace(b"</Relationships>", related.encode())
    space = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    thread = "".join(f'<threadedComment ref="A1"><text>{text}</text></threadedComment>' for text in ("why?", "agreed"))
    parts["xl/threadedComments/threadedComment1.xml"] = f'<t xmlns="{space}">{thread}</t>'.encode()
    assert reader.lines(zip_of(parts))[1:] == ["900 [comment: why?; agreed]"]


def test_hidden_sheets_columns_and_rows_are_read_and_marked(reader: Reader) -> None:
    def fill(book: Any, sheet: Any) -> None:
        for row in range(3):
            sheet.write_row(row, 0, ["Item", "Cost", "Margin"] if row == 0 else [f"item {row}", row, row * 2])
        sheet.set_column("C:C", None, None, {"hidden": True})
        sheet.set_row(1, None, None, {"hidden": True})
        drafts = book.add_worksheet("Drafts")
        drafts.write("A1", "not for the client")
        drafts.very_hidden()

    expected = ["S", "Item | Cost | Margin (hidden)", "item 1 | 1 | 2 (hidden)", "item 2 | 2 | 4"]
    assert reader.lines(written(fill)) == [*expected, "Drafts (hidden)", "not for the client"]
    found = sheets_extraction(reader.path, Omissions()).elements[-1]
    assert str(found.place) == "sheet=Drafts!A1:A1"


def test_a_far_cell_says_its_place(reader: Reader) -> None:
    def fill(sheet: Any) -> None:
        sheet["A1"], sheet["XFD1"], sheet["XFD1048576"] = "first", "right", "last"

    assert reader.lines(saved(fill))[1:] == ["first | XFD1: right", "XFD1048576: last"]


@pytest.mark.parametrize(
    "names",
    [
        {"workbook.xml": "workbook2.xml"},
        {"sheet1.xml": "page.xml", "styles.xml": "looks.xml", "sharedStrings.xml": "Words.xml"},
        {'Target="worksheets/': 'Target="/xl/worksheets/'},
        {'Target="xl/workbook.xml"': 'Target="/XL/Workbook.xml"'},
    ],
    ids=["main part", "other parts", "absolute", "case"],
)
def test_parts_are_found_by_their_relationships(reader: Reader, names: dict[str, str]) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write_row(0, 0, ["Quota", 0.5], book.add_format({"num_format": "0%"}))

    assert reader.lines(moved(written(fill), names))[1:] == ["Quota | 50%"]


def test_text_boxes_heads_of_pages_and_titles_of_charts_are_read_and_an_ordinary_book_lacks_nothing(
    reader: Reader,
) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write_column("A1", [1, 2, 3])
        sheet.insert_textbox("D2", "read me first")
        sheet.set_header("&C&BConfidential draft&RPage &P of &N")
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=S!$A$1:$A$3"})
        chart.set_title({"name": "Sales by month"})
        sheet.insert_chart("D9", chart)

    text = reader.text(written(fill))
    assert all(one in text for one in ("read me first", "Confidential draft", "Sales by month"))
    assert not reader.omissions


def test_ods_has_comments_hidden_rows_and_repeated_cells(reader: Reader) -> None:
    note = "<office:annotation><text:p>agreed</text:p></office:annotation>"
    share = 'office:value-type="percentage" office:value="0.475"'
    cell = f"<table:table-cell {share}>{note}<text:p>47.5%</text:p></table:table-cell>"
    twice = ods_cell("x").replace("office:", 'table:number-columns-repeated="2" office:', 1)
    empty = '<table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row>'
    rows = (
        f"<table:table-row>{cell}{twice}</table:table-row>"
        f'<table:table-row table:visibility="collapse">{ods_cell("kept")}</table:table-row>{empty}'
    )
    assert reader.lines(ods_of(rows))[1:] == ["47.5% [comment: agreed] | x | x", "kept (hidden)"]


def test_values_of_ods_whose_text_no_program_wrote_are_shown_by_their_type(reader: Reader) -> None:
    def cell(kind: str, value: str, name: str = "value", more: str = "", inside: str = "") -> str:
        return f'<table:table-cell office:value-type="{kind}" office:{name}="{value}"{more}>{inside}</table:table-cell>'

    formula = ' table:formula="of:=[.A1]*2"'
    cells = [cell("percentage", "0.475"), cell("float", "7"), cell("float", "0"), cell("currency", "12.5")]
    cells += [cell("time", "PT27H15M00S", "time-value"), cell("date", "2026-01-02", "date-value")]
    cells += [cell("float", "0", more=formula), cell("float", "14", more=formula)]
    cells += [cell("float", "42", inside="<text:p/>")]
    shown = "47.5% | 7 | 0 | 12.5 | 27:15:00 | 2026-01-02 | =A1*2 | 14 | 42 (hidden)"
    assert reader.lines(ods_of(f"<table:table-row>{''.join(cells)}</table:table-row>"))[1:] == [shown]
    assert reader.omissions == {"formula": 1}


def test_a_workbook_of_excel_97_that_ends_with_a_theme_is_no_archive(reader: Reader) -> None:
    theme = zip_of({"theme/theme1.xml": b"<a/>"})
    assert reader.lines(xls_of((0x896, bytes(12) + theme)))[1:] == ["Item | Amount", "a | 5"]


def test_binary_workbooks_have_their_values_and_say_that_errors_are_missing(reader: Reader) -> None:
    assert reader.lines(xlsb_of({(0, 0): 1, (1, 1): None, (2, 2): 2.5}))[1:] == ["1", " |  | 2.5"]
    assert reader.omissions == {"error": 1}
