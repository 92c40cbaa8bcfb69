"""Workbooks of Markdown tables or of comma-separated rows, by openpyxl. No text becomes a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from drive_server.knowledge.writers.package import as_xml_text, without_times
from drive_server.knowledge.writers.render import UnwritableError

MAX_ROWS: Final = 1_048_576
MAX_COLUMNS: Final = 16_384
MAX_CELL_CHARACTERS: Final = 32_767
MAX_TITLE_CHARACTERS: Final = 31
MAX_WIDTH: Final = 60
_NOT_IN_TITLES: Final = re.compile(r"[\[\]:*?/\\]")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.(?P<decimals>\d+))?")
_GROUPED: Final = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+(?:\.(?P<decimals>\d+))?")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_MAX_DIGITS: Final = 15
_FORMULA_SIGNS: Final = ("=", "+", "-", "@", "\t")


@dataclass(slots=True)
class _Sheet:
    """The rows of a sheet; `headers` are those that name columns."""

    title: str = ""
    rows: list[list[str]] = field(default_factory=list[list[str]])
    headers: list[int] = field(default_factory=list[int])


def workbook_of(text: str) -> bytes:
    """Return the workbook: a sheet for each table, named by the heading above it. Blocks. Raises `UnwritableError`."""
    clean = as_xml_text(text)
    book = Workbook()
    book.remove(book.worksheets[0])
    taken: set[str] = set()
    for sheet in _sheets(clean):
        target = book.create_sheet(_title(sheet.title, taken))
        _fill(target, sheet)
    book.properties.creator = None
    out = io.BytesIO()
    book.save(out)
    return without_times(out.getvalue())


def _sheets(text: str) -> list[_Sheet]:
    nodes = SyntaxTreeNode(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)).children
    if not any(node.type == "table" for node in nodes):
        rows = _separated(text)
        return [_Sheet(rows=rows, headers=[0] if len(rows) > 1 and len(rows[0]) > 1 else [])]
    sheets = [_Sheet()]
    for node in nodes:
        sheet = sheets[-1]
        if sheet.headers and node.type in ("table", "heading"):
            sheet = _Sheet()
            sheets.append(sheet)
        if node.type == "table":
            sheet.headers.append(len(sheet.rows))
            sheet.rows += [[_words(cell) for cell in row.children] for part in node.children for row in part.children]
        elif node.type == "heading" and not sheet.title:
            sheet.title = _words(node)
        else:
            sheet.rows += [[line] for line in _words(node).split("\n")]
    return sheets


def _separated(text: str) -> list[list[str]]:
    """Return the rows of a comma-, tab- or semicolon-separated text; else each line is a cell."""
    for delimiter in (",", "\t", ";"):
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
        except csv.Error:
            continue
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            return rows
    return [[line] for line in text.rstrip("\n").split("\n")]


def _words(node: SyntaxTreeNode) -> str:
    """Return the words of a node without markup; blocks and breaks are lines."""
    if node.type in ("softbreak", "hardbreak"):
        return "\n"
    if node.type in ("link", "image"):
        words = "".join(_words(child) for child in node.children) or node.content
        target = str(node.attrs.get("href", node.attrs.get("src", "")))
        return words if target in ("", words) else f"{words} ({target})".strip()
    if not node.children:
        return node.content.rstrip("\n")
    is_inline = node.type in ("inline", "strong", "em", "s")
    return ("" if is_inline else "\n").join(_words(child) for child in node.children)


def _title(wanted: str, taken: set[str]) -> str:
    clean = " ".join(_NOT_IN_TITLES.sub(" ", wanted).split()).strip("'")[:MAX_TITLE_CHARACTERS] or "Sheet1"
    clean = "Sheet1" if clean.casefold() == "history" else clean
    title, number = clean, 2
    while title.casefold() in taken:
        ending = f" ({number})"
        title, number = clean[: MAX_TITLE_CHARACTERS - len(ending)] + ending, number + 1
    taken.add(title.casefold())
    return title


def _fill(target: Any, sheet: _Sheet) -> None:
    if len(sheet.rows) > MAX_ROWS or any(len(row) > MAX_COLUMNS for row in sheet.rows):
        raise UnwritableError
    for number, row in enumerate(sheet.rows, start=1):
        for column, text in enumerate(row, start=1):
            if text:
                _write(target.cell(number, column), text, is_header=number - 1 in sheet.headers)
    _widen(target, sheet.rows)


def _write(cell: Any, text: str, *, is_header: bool) -> None:
    """Write a number or a day as one if it is read as the same again, all else as text: formulas too."""
    if len(text) > MAX_CELL_CHARACTERS:
        raise UnwritableError
    value, number_format = (text, "") if is_header else _typed(text)
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"
        cell.quotePrefix = value.startswith(_FORMULA_SIGNS)
    else:
        cell.number_format = number_format
    if is_header:
        cell.font = Font(bold=True)


def _typed(text: str) -> tuple[Any, str]:
    if _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text), "yyyy-mm-dd"
        except ValueError:
            return text, ""
    match = _NUMBER.fullmatch(text) or _GROUPED.fullmatch(text)
    if match is None or sum(map(str.isdigit, text)) > _MAX_DIGITS:
        return text, ""
    plain, decimals = text.replace(",", ""), match["decimals"]
    ending = f".{'0' * len(decimals)}" if decimals else ""
    return float(plain) if decimals else int(plain), f"{'#,##0' if ',' in text else '0'}{ending}"


def _widen(target: Any, rows: Iterable[Sequence[str]]) -> None:
    widths: dict[int, int] = {}
    for row in rows:
        for column, text in enumerate(row, start=1):
            width = sum(2 if character > "\u2e7f" else 1 for character in text[:MAX_WIDTH])
            widths[column] = max(widths.get(column, 0), min(MAX_WIDTH, width))
    for column, width in widths.items():
        target.column_dimensions[get_column_letter(column)].width = width + 2
