"""The cells of a file: rows of a comma-separated file with their lines, rows of sheets with their numbers."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from drive_server.knowledge.tables.cells import Cell
from drive_server.knowledge.tables.request import TableError
from drive_server.knowledge.text.decode import decode_file

MAX_ROWS: Final = 200_000
MAX_CELLS: Final = 2_000_000
MAX_COLUMNS: Final = 1_000
_SNIFFED_CHARACTERS: Final = 64_000
_SNIFFED_ROWS: Final = 100
_END: Final = "\x1e end of the rows"


@dataclass(slots=True)
class Grid:
    """The cells of a sheet (`name` is empty for a comma-separated file), each row with its number in the file.

    `totals` are the rows with a formula that adds up cells of its own column, `hidden` those that the sheet hides;
    `covered` has numbers and dates of merged areas for the other rows of the area, by row number and index.
    `has_errors`: some cells, nobody knows which, are errors. `far` are cells beyond a wide gap, by their place.
    """

    name: str
    rows: list[tuple[int, list[Cell]]]
    first_column: int = 0
    delimiter: str = ""
    totals: frozenset[int] = field(default_factory=frozenset[int])
    hidden: frozenset[int] = field(default_factory=frozenset[int])
    covered: dict[tuple[int, int], Cell] = field(default_factory=dict[tuple[int, int], Cell])
    has_errors: bool = False
    far: tuple[tuple[int, int, str], ...] = ()


def read_text_grid(path: Path) -> Grid:
    """Return the table of a comma-, semicolon- or tab-separated file. Blocks. Raises `TableError`."""
    decoded = decode_file(path)
    if decoded is None or decoded.lossy:
        raise TableError("table_damaged")
    if decoded.truncated:
        raise too_large()
    text = f"{decoded.text}\n{_END}"
    # The limit is the whole process's: others may need more.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    delimiter = _delimiter(decoded.text[:_SNIFFED_CHARACTERS])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[tuple[int, list[Cell]]] = []
    values: list[str] = []
    size = last = 0
    for values in reader:
        number, last = last + 1, reader.line_num
        if values == [_END]:
            break
        cells: list[Cell] = [value.strip() or None for value in values]
        if not any(cells) or (number == 1 and values[0].lower().startswith("sep=")):
            continue
        rows.append((number, cells))
        size += len(values)
        require_fits(len(rows), size, len(values))
    if values != [_END]:  # a quotation mark that nothing closes has made one cell of the rows after it
        raise TableError("table_damaged")
    return Grid("", rows, delimiter=delimiter)


def require_fits(rows: int, cells: int, width: int) -> None:
    """Raise `TableError` for a table beyond the limits."""
    if rows > MAX_ROWS or cells > MAX_CELLS or width > MAX_COLUMNS:
        raise too_large()


def too_large() -> TableError:
    """Return the error for a table beyond the limits."""
    return TableError("table_too_large", rows=MAX_ROWS, cells=MAX_CELLS)


def _delimiter(sample: str) -> str:
    """Return the delimiter that gives most of the first rows the same number of cells."""
    first = sample.split("\n", 1)[0].strip().lower()
    if first.startswith("sep=") and len(first) == 5:
        return first[-1]
    best, score = ",", 0.0
    for delimiter in (",", "\t", ";", "|"):
        widths = Counter(
            len(row) for row, _ in zip(_rows(sample, delimiter), range(_SNIFFED_ROWS), strict=False) if row
        )
        width, count = max(widths.items(), key=lambda entry: (entry[0] > 1, entry[1], entry[0]), default=(1, 0))
        share = count / max(1, widths.total())
        if width > 1 and share * (1 + width / 100) > score:
            best, score = delimiter, share * (1 + width / 100)
    return best


def _rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    except csv.Error:
        return
