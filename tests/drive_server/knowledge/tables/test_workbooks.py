"""Questions to workbooks, of whatever program: exact, or refused."""

from __future__ import annotations

import struct
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
from openpyxl import load_workbook

from drive_server.knowledge.readers.workbook.errors import xlsb_errors
from drive_server.knowledge.tables.request import Aggregate, Condition, Operator
from tests.drive_server.knowledge.binary_workbook import xls_of, xlsb_of
from tests.drive_server.knowledge.samples import zip_of
from tests.drive_server.knowledge.tables.asker import SUM, Asker, values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHEET = "xl/worksheets/sheet1.xml"


def test_formulas_that_were_never_computed_are_refused_and_sums_are_left_out(asker: Asker) -> None:
    cost = Aggregate("sum", "Cost")
    sums = asker.sheet(["Item", "Cost"], ["a", 5], ["b", 7], ["all", "=SUM(B2:B3)"]).answer(cost)
    refusal = asker.sheet(["Item", "Cost"], ["a", 5], ["b", "=B2*2"]).refused(cost)

    assert (values(sums), sums.left_out[0].cell) == ([("12",)], "sheet=Sheet!A4:B4")
    assert refusal.details["unreadable"] == [{"cell": "sheet=Sheet!B3:B3", "text": "=B2*2"}]
    assert refusal.code == "table_not_calculated"


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ({"A1": "Item", "B1": "Cost", "A2": "a", "B2": 5, "B3": "=B2*2"}, "B3:B3"),
        ({"A1": "Item", "B1": "Cost", "A2": "a", "B2": 5, "B9": "=B2*2"}, "B9:B9"),
        ({"B1": "Item", "C1": "Cost", "B2": "a", "C2": 5, "A3": "=1", "C3": "=B2*2"}, "C3:C3"),
    ],
)
def test_a_formula_without_value_beyond_the_values_is_refused_too(
    asker: Asker, cells: dict[str, Any], found: str
) -> None:
    asker.cells(cells)

    refusal = asker.refused(Aggregate("sum", "Cost"))

    assert refusal.details["unreadable"] == [{"cell": f"sheet=Sheet!{found}", "text": "=B2*2"}]


@pytest.mark.parametrize(
    "changes",
    [
        ((rb' r="[A-Z]+\d+"', b""),),
        ((rb' r="[A-Z]*\d+"', b""),),
        (
            (
                rb"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
                b"http://purl.oclc.org/ooxml/spreadsheetml/main",
            ),
            (
                rb"http://schemas.openxmlformats.org/officeDocument/2006/",
                b"http://purl.oclc.org/ooxml/officeDocument/",
            ),
        ),
    ],
    ids=["cells without places", "rows without places", "strict"],
)
def test_workbooks_of_other_programs_are_right_or_refused(asker: Asker, changes: Sequence[tuple[bytes, bytes]]) -> None:
    rows = [["Item", "Cost"], ["a", 5], ["b", 7]]
    right = asker.sheet(*rows).changed(*changes).answer(Aggregate("sum", "Cost"))
    refusal = asker.sheet(*rows, ["c", "=B2*2"]).changed(*changes).refused(Aggregate("sum", "Cost"))

    assert (values(right), right.cells) == ([("12",)], ("sheet=Sheet!B2:B3",))
    assert refusal.details["unreadable"] == [{"cell": "sheet=Sheet!B4:B4", "text": "=B2*2"}]


def test_a_filter_on_formulas_that_nobody_has_calculated_is_refused_and_not_answered_with_nothing(asker: Asker) -> None:
    asker.sheet(["Item", "Status"], ["a", '=IF(1,"paid","open")'], ["b", '=IF(0,"paid","open")'])

    operators: tuple[Operator, ...] = ("=", "contains", "not_contains", "starts_with")
    for operator in operators:
        refusal = asker.refused(filters=(Condition("Status", operator, ("paid",)),))
        assert refusal.code == "table_not_calculated"
    assert asker.refused(Aggregate("distinct", "Status")).code == "table_not_calculated"
    assert values(asker.answer(Aggregate("count")))[0] == ("2",)


def formatted(asker: Asker, rows: Sequence[Sequence[Any]], *formats: str) -> Asker:
    """Write a workbook with number formats for its columns."""
    asker.sheet(*rows)
    book = load_workbook(asker.path)
    for row in book.worksheets[0].iter_rows(min_row=2):
        for cell, code in zip(row, formats, strict=True):
            cell.number_format = code
    book.save(asker.path)
    return asker


def test_rows_show_what_the_cells_show_and_numbers_are_added_up_as_they_are(asker: Asker) -> None:
    day = datetime(2026, 1, 2)  # noqa: DTZ001 - cells have no zone
    rows = [["Day", "Share", "Code", "Hours"], [day, 0.475, 123, 27.25 / 24], [day, 0.25, 7, 0.25]]
    formatted(asker, rows, "dd.mm.yyyy", "0.0%", "00000", "[h]:mm")

    assert values(asker.answer())[0] == ("02.01.2026", "47.5%", "00123", "27:15")
    sums = asker.answer(Aggregate("sum", "Share"), Aggregate("sum", "Hours"))
    assert (values(sums)[0][0], sums.units) == ("0.725", ("", "days"))
    for one in (Condition("Share", ">", ("40%",)), Condition("Share", ">", ("0.4",)), Condition("Code", "=", ("123",))):
        assert [row[2] for row in values(asker.answer(filters=(one,)))] == ["00123"]
    assert len(values(asker.answer(filters=(Condition("Day", "=", ("2026-01-02",)),)))) == 2


def test_currencies_of_formats_are_not_added_up_together(asker: Asker) -> None:
    rows = [["Item", "Amount"], ["a", 5], ["b", 7]]
    one = formatted(asker, rows, "General", "[$€-2] #,##0.00").answer(SUM)
    assert (values(one), one.units) == ([("12",)], ("EUR",))
    book = load_workbook(asker.path)
    book.worksheets[0]["B3"].number_format = "$#,##0.00"
    book.save(asker.path)
    assert asker.refused(SUM).code == "table_units"


def test_a_far_cell_leaves_the_table_as_it_is_and_is_named(asker: Asker) -> None:
    asker.cells({"A1": "Item", "B1": "Amount", "A2": "a", "B2": 5, "XFD1048576": "far"})

    answer = asker.answer(SUM)

    assert values(answer) == [("5",)]
    assert [(one.cell, one.text) for one in answer.left_out] == [("sheet=Sheet!XFD1048576:XFD1048576", "far")]


def test_hidden_rows_count_and_the_answer_says_so(asker: Asker) -> None:
    asker.sheet(["Item", "Cost"], ["a", 5], ["b", 7], ["c", 9])
    asker.changed((rb'<row r="3"', b'<row r="3" hidden="1"'))

    answer = asker.answer(Aggregate("sum", "Cost"))
    without = asker.answer(Aggregate("sum", "Cost"), filters=(Condition("Item", "!=", ("b",)),))

    assert (values(answer), answer.hidden_rows, without.hidden_rows) == ([("21",)], 1, 0)


def test_numbers_of_sheets_are_as_they_are_shown_and_not_as_floats(asker: Asker) -> None:
    answer = asker.sheet(["Item", "Amount"], ["a", 0.1 + 0.2], ["b", 1234567.89]).answer(SUM)

    assert values(answer) == [("1234568.19",)]


def rewrite_sheet(path: Path, entry: str, old: str, new: str) -> None:
    """Change the XML of a workbook, as other programs write it."""
    with ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    assert old.encode() in parts[entry]
    parts[entry] = parts[entry].replace(old.encode(), new.encode())
    with ZipFile(path, "w") as book:
        for name, data in parts.items():
            book.writestr(name, data)


def test_errors_in_a_sheet_are_no_empty_cells(asker: Asker) -> None:
    asker.sheet(["Item", "Amount"], ["a", 5], ["b", 7])
    rewrite_sheet(asker.path, SHEET, '<c r="B3" t="n"><v>7</v>', '<c r="B3" t="e"><v>#DIV/0!</v>')

    assert asker.refused(SUM).details["unreadable"] == [{"cell": "sheet=Sheet!B3:B3", "text": "#DIV/0!"}]


def test_a_formula_that_was_computed_to_an_empty_text_is_empty(asker: Asker) -> None:
    asker.sheet(["Item", "Amount"], ["a", 5], ["b", "=IF(A3=1,1,A4)"])
    rewrite_sheet(asker.path, SHEET, '<c r="B3"><f>IF(A3=1,1,A4)</f><v></v>', '<c r="B3" t="str"><f>B4</f><v></v>')

    assert values(asker.answer(SUM)) == [("5",)]


def test_zeros_of_formulas_are_no_values_where_the_workbook_says_that_it_was_never_computed(asker: Asker) -> None:
    asker.sheet(["Item", "Amount"], ["a", 5], ["b", "=B2*2"])
    rewrite_sheet(asker.path, SHEET, "<f>B2*2</f><v></v>", "<f>B2*2</f><v>0</v>")
    never = asker.refused(SUM)
    rewrite_sheet(asker.path, "xl/workbook.xml", ' fullCalcOnLoad="1"', "")

    assert never.details["unreadable"] == [{"cell": "sheet=Sheet!B3:B3", "text": "=B2*2"}]
    assert values(asker.answer(SUM)) == [("5",)]


@pytest.mark.parametrize(("number", "amount"), [(1001, 100), ("1001", "￥100"), (datetime(2026, 11, 5), 100.0)])  # noqa: DTZ001 - cells have no zone
def test_values_of_merged_cells_are_of_all_their_rows_and_are_added_once(
    asker: Asker, number: object, amount: object
) -> None:
    asker.sheet(["No", "Amount", "Part"], [number, amount, 1], [None, None, 2], [None, "7", 4])
    book = load_workbook(asker.path)
    book.worksheets[0].merge_cells("A2:A3")
    book.worksheets[0].merge_cells("B2:B3")
    book.save(asker.path)
    part, count = Aggregate("sum", "Part"), Aggregate("count", "Amount")
    wanted = "2026-11-05" if isinstance(number, datetime) else "1001"

    assert values(asker.answer(SUM, count, part)) == [("107", "2", "7")]
    assert values(asker.answer(part, filters=(Condition("No", "=", (wanted,)),))) == [("3",)]
    assert values(asker.answer(part, group_by=("No",)))[0] == (wanted, "3")


@pytest.mark.parametrize(
    "cell",
    [
        (0x205, struct.pack("<HHHBB", 2, 1, 0, 7, 1)),
        (6, struct.pack("<HHHBBBBHHHIHH", 2, 1, 0, 2, 0, 7, 0, 0, 0xFFFF, 0, 0, 2, 0x171E)),
    ],
)
def test_errors_of_excel_97_are_refused_by_their_place(asker: Asker, cell: tuple[int, bytes]) -> None:
    asker.path = asker.path.with_suffix(".xls")
    asker.path.write_bytes(xls_of())
    whole = asker.answer(SUM)
    asker.path.write_bytes(xls_of(cell))

    assert values(whole) == [("5",)]
    assert asker.refused(SUM).details["unreadable"] == [{"cell": "sheet=Costs!B3:B3", "text": "#DIV/0!"}]
    assert values(asker.answer())[0] == ("a", "5")


@pytest.mark.parametrize(("kind", "found"), [(3, 1), (11, 1), (5, 0)])
def test_errors_of_binary_sheets_are_counted(kind: int, found: int) -> None:
    records = b"\x81\x01\x00" + b"\x07\x83\x01" + b"\0" * 131 + bytes((kind, 9)) + b"\0" * 9
    assert xlsb_errors(records) == found


def test_a_binary_workbook_with_errors_adds_nothing_up(asker: Asker) -> None:
    asker.path = asker.path.with_suffix(".xlsb")
    asker.path.write_bytes(xlsb_of({(0, 0): 5, (1, 0): 7}))
    assert values(asker.answer(Aggregate("sum", "column A"), header_row=0)) == [("12",)]
    asker.path.write_bytes(xlsb_of({(0, 0): 5, (1, 0): None, (2, 0): 7}))
    assert asker.refused(Aggregate("sum", "column A"), header_row=0).code == "table_errors"


def test_errors_of_open_document_are_refused_by_their_place(asker: Asker) -> None:
    asker.path = asker.path.with_suffix(".ods")
    five = '<table:table-cell office:value-type="float" office:value="5"/>'
    error = '<table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error"/>'
    asker.path.write_bytes(open_document(five, five))
    whole = asker.answer(SUM)
    asker.path.write_bytes(open_document(five, error))

    assert values(whole) == [("10",)]
    assert asker.refused(SUM).details["unreadable"] == [{"cell": "sheet=Costs!B3:B3", "text": "#N/A"}]


def open_document(*amounts: str) -> bytes:
    """Return a sheet of items with these cells as their amounts."""
    spaces = ("office", "table", "text"), "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
    names = " ".join(f'xmlns:{name}="{spaces[1].format(name)}"' for name in spaces[0])
    text = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    head = text.format("Item") + text.format("Amount")
    rows = (f"<table:table-row>{row}</table:table-row>" for row in (head, *(text.format("a") + one for one in amounts)))
    sheet = f'<table:table table:name="Costs">{"".join(rows)}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    content = f'<office:document-content {names} xmlns:calcext="urn:calcext">{body}</office:document-content>'
    media_type = "application/vnd.oasis.opendocument.spreadsheet"
    return zip_of(
        {
            "mimetype": media_type.encode(),
            "content.xml": content.encode(),
            "META-INF/manifest.xml": b'<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        }
    )
