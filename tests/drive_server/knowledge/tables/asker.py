"""Asks the table in a file that a test writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from openpyxl import Workbook

from drive_server.knowledge.tables.query import query_table
from drive_server.knowledge.tables.request import Aggregate, Refusal, TableAnswer, TableQuery

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


INVOICES = """\
Invoices of 2026

Date,Customer,Amount,Note
2026-11-05,ACME,"$1,234.50",
2026-11-07,Beta,"$2,000.00",paid
2026-12-01,acme,($100.10),
Total,,"$3,134.40",
"""


SUM = Aggregate("sum", "Amount")


class Asker:
    """Asks the table in a file that it writes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "t.csv"
        self.path.write_text(INVOICES)

    def text(self, text: str) -> Asker:
        """Write a comma-separated table."""
        self.path.write_text(text)
        return self

    def column(self, *cells: str) -> Asker:
        """Write a table of the amounts."""
        return self.text("No,Amount\n" + "".join(f'{number},"{cell}"\n' for number, cell in enumerate(cells)))

    def sheet(self, *rows: Sequence[Any]) -> Asker:
        """Write a workbook, whose formulas nobody has computed."""
        self.path = self.path.with_suffix(".xlsx")
        book = Workbook()
        for row in rows:
            book.worksheets[0].append(list(row))
        book.save(self.path)
        return self

    def cells(self, cells: dict[str, Any]) -> Asker:
        """Write a workbook with these cells."""
        self.sheet()
        book = Workbook()
        for place, value in cells.items():
            book.worksheets[0][place] = value
        book.save(self.path)
        return self

    def changed(self, *changes: tuple[bytes, bytes]) -> Asker:
        """Change what the parts of the workbook say."""
        with ZipFile(self.path) as book:
            parts = {name: book.read(name) for name in book.namelist()}
        with ZipFile(self.path, "w") as book:
            for name, data in parts.items():
                for pattern, new in changes:
                    data = re.sub(pattern, new, data)  # noqa: PLW2901 - one change after the other
                book.writestr(name, data)
        return self

    def answer(self, *aggregates: Aggregate, **query: Any) -> TableAnswer:
        """Ask what has to be answered."""
        found = query_table(TableQuery(aggregates=aggregates, **query), self.path, self.path.name, "")
        assert isinstance(found, TableAnswer), found
        return found

    def refused(self, *aggregates: Aggregate, **query: Any) -> Refusal:
        """Ask what has to be refused."""
        found = query_table(TableQuery(aggregates=aggregates, **query), self.path, self.path.name, "")
        assert isinstance(found, Refusal), found
        return found


def values(answer: TableAnswer) -> list[tuple[str | None, ...]]:
    return [row.values for row in answer.rows]
