"""The work of a reader's process: a question to the table in a file."""

import csv
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs
from python_calamine import CalamineError

from drive_server.knowledge.formats import HEAD_BYTES, format_of
from drive_server.knowledge.memory import without_collections
from drive_server.knowledge.tables.answer import TableSession
from drive_server.knowledge.tables.grid import Grid, read_text_grid
from drive_server.knowledge.tables.request import Refusal, TableAnswer, TableError, TableQuery
from drive_server.knowledge.tables.sheets import read_workbook
from drive_server.knowledge.tables.table import Table, table_in
from drive_server.knowledge.text.unreadable import UnreadableError, state_of

_LIMITS: Final = {
    "PanicException": "table_damaged",  # how Rust's failed assertions arrive here: of no module to import
    "OutOfMemoryException": "table_too_slow",
    "OutOfRangeException": "table_too_slow",
}
"""Errors of calamine and of DuckDB, which is imported late."""


def query_table(query: TableQuery, path: Path, name: str, media_type: str) -> TableAnswer | Refusal:
    """Return the answer of the table in a file, or why there is none. Blocks. Raises `OSError`."""
    try:
        with without_collections():
            grids = _grids(path, name, media_type)
            return _answer(_chosen(grids, query), query, [grid.name for grid in grids if grid.name])
    except TableError as error:
        return error.refusal
    except UnreadableError as error:
        return Refusal("table_locked" if state_of(error.kind) == "needs_password" else "table_damaged")
    except (csv.Error, zipfile.BadZipFile, CalamineError, etree.XMLSyntaxError, KeyError):
        return Refusal("table_damaged")
    except MemoryError:
        return Refusal("table_too_slow")
    except BaseException as error:
        if type(error).__name__ not in _LIMITS:
            raise
        return Refusal(_LIMITS[type(error).__name__])


def _answer(table: Table, query: TableQuery, sheets: Sequence[str]) -> TableAnswer | Refusal:
    """Return the answer, or the refusal with the columns that there are."""
    try:
        return TableSession(table, query, sheets).answer()
    except TableError as error:
        details = {"columns": list(table.names), **error.refusal.details}
        return replace(error.refusal, details=details)


def _grids(path: Path, name: str, media_type: str) -> list[Grid]:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if format_of(name, media_type, head).is_text:
        return [read_text_grid(path)]
    return read_workbook(path)


def _chosen(grids: Sequence[Grid], query: TableQuery) -> Table:
    """Return the table that is asked: of the sheet that is named, or the only one with all named columns."""
    named = [grid for grid in grids if grid.rows]
    if not named:
        raise TableError("table_empty")
    sheets = [grid.name for grid in named]
    if query.sheet and sheets != [""]:
        found = [grid for grid in named if grid.name.casefold().strip() == query.sheet.casefold().strip()]
        if not found:
            raise TableError("table_no_sheet", {"sheets": sheets}, name=query.sheet, sheets=", ".join(sheets))
        return table_in(found[0], query)
    tables = [table_in(grid, query) for grid in named]
    columns = _columns(query)
    fitting = [table for table in tables if _has(table, columns)] if columns else tables[:1]
    if len(tables) > 1 and len(fitting) != 1:
        details = {"sheets": [{"name": table.grid.name, "columns": list(table.names)} for table in tables]}
        shown = "; ".join(f"{table.grid.name} ({', '.join(table.names)})" for table in tables)
        raise TableError("table_which_sheet", details, sheets=shown[:2_000])
    return (fitting or tables)[0]


def _columns(query: TableQuery) -> list[str]:
    named = [*query.columns, *query.group_by, *(one.column for one in query.filters)]
    return [*named, *(one.column for one in query.aggregates if one.column)]


def _has(table: Table, columns: Sequence[str]) -> bool:
    try:
        for name in columns:
            table.index_of(name)
    except TableError:
        return False
    return True
