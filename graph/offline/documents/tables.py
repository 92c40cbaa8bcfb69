"""Tables in texts: rows of spreadsheets, CSV and Markdown, the row that a question asks for, what bills come to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graph.offline.understanding.terms import terms

_FIGURE: Final = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
_RULE: Final = re.compile(r"^[\s|:+-]+$")
SUPERLATIVE: Final = re.compile(
    r"(?P<high>\b(?:most|highest|largest|biggest|greatest|best|top|max\w*)\b|最[多高大贵])"
    r"|(?P<low>\b(?:least|lowest|smallest|cheapest|fewest|worst|min\w*)\b|最[少低小便])",
    re.IGNORECASE,
)
AMOUNT: Final = re.compile(
    r"(?:\btotal\b|\bamount due\b|\bsum due\b|\bto pay\b|合计|总计|总额|总金额|应付)[^\d\n]{0,20}"
    r"(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>[A-Z]{3}\b|[€$£¥元])?",
    re.IGNORECASE,
)
"""What a bill comes to."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is written, the number of its line from 1, and its cells."""

    line: str
    number: int
    cells: tuple[str, ...]


def rows_of(text: str) -> list[Row]:
    """Return the rows of the text's first table, the header first; empty if it has none with figures."""
    found: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        mark = next((mark for mark in ("|", "\t", ",") if mark in line), "\0")
        cells = () if _RULE.match(line) else tuple(cell.strip() for cell in line.strip().strip("|").split(mark))
        if len(cells) > 1 and (not found or len(cells) == len(found[0].cells)):
            found.append(Row(line.strip(), number, cells))
        elif found and cells and line.strip():
            break
    return found if len(found) > 1 and any(_figure(cell) is not None for cell in found[1].cells) else []


def _figure(cell: str) -> float | None:
    found = _FIGURE.fullmatch(cell.strip("€$£¥元% "))
    return float(found[0].replace(",", "")) if found else None


def row_asked_for(rows: Sequence[Row], question: str) -> Row | None:
    """Return the row with the highest or lowest figure, or that is named, if the question names a column too."""
    asked = re.sub(
        "[一二三四五六七八九](?=月)", lambda digit: str("一二三四五六七八九".index(digit[0]) + 1), question.casefold()
    )
    wanted = set(terms(question))
    heads = enumerate(rows[0].cells[1:], 1) if rows else ()
    columns = [at for at, head in heads if wanted & set(terms(head)) or (len(head) > 1 and head in question)]
    if len(columns) != 1:
        return None
    degree = SUPERLATIVE.search(question)
    if degree:
        figures = [(value, row) for row in rows[1:] if (value := _figure(row.cells[columns[0]])) is not None]
        best = max if degree["high"] else min
        return best(figures, key=lambda pair: pair[0])[1] if figures else None
    named = [
        row
        for row in rows[1:]
        if row.cells[0] and re.search(rf"(?<![a-z\d]){re.escape(row.cells[0].casefold())}(?![a-z\d])", asked)
    ]
    return named[0] if len(named) == 1 else None
