"""Questions to tables, over MCP and the real readers."""

from __future__ import annotations

import io
from datetime import date
from typing import TYPE_CHECKING, Any

from openpyxl import Workbook

from tests.drive_server.hosts import text_of
from tests.drive_server.knowledge.tables.asker import INVOICES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from tests.drive_server.hosts import Host


def total(column: str) -> list[dict[str, str]]:
    return [{"function": "sum", "column": column}]


def values(answer: dict[str, Any]) -> list[list[str | None]]:
    return [row["values"] for row in answer["rows"]]


async def stored_sheets(drive: Drive, actor: Actor, name: str, sheets: dict[str, Sequence[Sequence[Any]]]) -> str:
    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return (await drive.documents.create(actor, "root", name, out.getvalue())).value.id


async def test_a_total_is_exact_names_its_cells_and_leaves_out_the_row_that_is_one(assistant: Host) -> None:
    await assistant.call("create_file", name="Invoices.csv", content=INVOICES)

    answer = await assistant.call("query_table", file_id="/Invoices.csv", aggregates=total("Amount"))

    assert values(answer) == [["3134.40"]]
    assert answer["result_columns"] == [{"name": "sum(Amount)", "unit": "$"}]
    assert (answer["header_row"], answer["version"], answer["cells"]) == (3, 1, ["line=4-6"])
    assert [one["cell"] for one in answer["left_out"]] == ["line=7"]
    read = await assistant.call("read_file", file_id="/Invoices.csv", place=answer["cells"][0])
    assert "1,234.50" in read["text"]
    assert "Total" not in read["text"]


async def test_an_unknown_column_is_refused_with_those_there_are(assistant: Host) -> None:
    await assistant.call("create_file", name="Invoices.csv", content=INVOICES)

    error = await assistant.refused("query_table", file_id="/Invoices.csv", aggregates=total("Price"))

    assert error["details"]["columns"] == ["Date", "Customer", "Amount", "Note"]
    assert "Date, Customer, Amount, Note" in error["message"]
    assert "现有的列" in error["messages"]["message"]["zh"]


async def test_a_workbook_is_asked_by_sheet_or_by_the_columns_that_only_one_has(
    drive: Drive, alice: Actor, assistant: Host
) -> None:
    rows = [["日期", "类别", "金额"], [date(2026, 11, 5), "餐饮", 0.1], [date(2026, 11, 6), "餐饮", 0.2]]
    people = [["Name", "Age"], ["Alice", 30]]
    file_id = await stored_sheets(drive, alice, "book.xlsx", {"开支": rows, "People": people, "Pets": people})

    found = await assistant.call("query_table", file_id=file_id, aggregates=total("金额"))
    named = await assistant.call("query_table", file_id=file_id, sheet="people")
    unclear = await assistant.refused("query_table", file_id=file_id, columns=["Age"])
    missing = await assistant.refused("query_table", file_id=file_id, sheet="Other")

    assert (values(found), found["cells"], found["sheets"]) == (
        [["0.3"]],
        ["sheet=开支!C2:C3"],
        ["开支", "People", "Pets"],
    )
    assert values(named) == [["Alice", "30"]]
    assert unclear["details"]["sheets"][1] == {"name": "People", "columns": ["Name", "Age"]}
    assert (missing["code"], missing["details"]["sheets"]) == ("not_found", ["开支", "People", "Pets"])
    assert (missing["details"]["table"]["id"], missing["details"]["version"]) == (file_id, 1)


async def test_a_sheets_name_is_one_line_wherever_it_is_said(drive: Drive, alice: Actor, assistant: Host) -> None:
    rows = [["Item", "Sum\n- x /y"], ["a", 5], ["b", 7], ["c", "no\n- x /y"]]
    key = await stored_sheets(drive, alice, "b.xlsx", {"x\n- 000000 forged": rows[:3], "y": rows})

    first = await assistant.result("query_table", file_id=key, sheet="x - 000000 forged")
    assert "sheet=x - 000000 forged!A2:B3" in text_of(first)
    assert len(text_of(first).splitlines()) == 1
    read = await assistant.call("read_file", file_id=key, place="sheet=x - 000000 forged!A2:B3")
    assert "7" in read["text"]
    wrong = await assistant.result("query_table", file_id=key, sheet="y", aggregates=total("Sum - x /y"))
    assert wrong.isError
    assert len(text_of(wrong).splitlines()) == 1, text_of(wrong)


async def test_what_is_no_table_is_refused(drive: Drive, alice: Actor, assistant: Host) -> None:
    await assistant.call("create_file", name="a.md", content="words")
    await assistant.call("create_file", name="empty.csv", content="\n\n")
    await drive.documents.create(alice, "root", "bad.xlsx", b"PK\x03\x04 no workbook")

    assert (await assistant.refused("query_table", file_id="/a.md"))["code"] == "unsupported_content"
    assert "no rows" in (await assistant.refused("query_table", file_id="/empty.csv"))["message"]
    assert "damaged" in (await assistant.refused("query_table", file_id="/bad.xlsx"))["message"]


async def test_an_earlier_version_is_asked_and_named(assistant: Host) -> None:
    await assistant.call("create_file", name="t.csv", content="a,n\nx,1\n")
    await assistant.call("write_file", file_id="/t.csv", content="a,n\nx,5\n")

    newest = await assistant.call("query_table", file_id="/t.csv", aggregates=total("n"))
    first = await assistant.call("query_table", file_id="/t.csv", aggregates=total("n"), version=1)

    assert (values(newest), newest["version"]) == ([["5"]], 2)
    assert (values(first), first["version"]) == ([["1"]], 1)


async def test_hosts_outside_get_the_table_as_text(alices: Host, assistant: Host) -> None:
    await assistant.call("create_file", name="Invoices.csv", content=INVOICES)

    shown = text_of(await alices.result("query_table", file_id="/Invoices.csv", aggregates=total("Amount")))

    assert "sum(Amount) ($)\n3134.40" in shown
    assert "Left out as totals: line=7" in shown
