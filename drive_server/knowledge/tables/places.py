"""The places of the cells that a result was made from."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from drive_server.knowledge.tables.table import Table

MAX_CELL_RANGES: Final = 20


def span_of(indexes: Iterable[int]) -> tuple[int, int]:
    """Return the first and the last of some columns."""
    found = list(indexes)
    return min(found, default=0), max(found, default=0)


def ranges_of(table: Table, positions: Sequence[int], span: tuple[int, int]) -> tuple[str, ...]:
    """Return the places of the rows, neighbours as one; of very many, one place from the first to the last.

    Rows between two rows of the data that are no data themselves (empty ones, totals) part the places.
    """
    rows = table.rows
    runs: list[tuple[int, int]] = []
    members: list[int] = []
    last = -1
    for position in positions:
        if position != last + 1 and members:
            runs += _without_totals(table, members)
            members = []
        members.append(rows[position][0])
        last = position
    runs += _without_totals(table, members) if members else []
    if len(runs) > MAX_CELL_RANGES:
        runs = [(runs[0][0], runs[-1][1])]
    return tuple(table.place(first, last, span) for first, last in runs)


def _without_totals(table: Table, numbers: Sequence[int]) -> list[tuple[int, int]]:
    cuts = [row for row in table.left_out_rows if numbers[0] < row < numbers[-1]]
    runs: list[tuple[int, int]] = []
    begin = 0
    for cut in cuts:
        end = bisect_left(numbers, cut)
        if begin < end:
            runs.append((numbers[begin], numbers[end - 1]))
            begin = end
    return [*runs, (numbers[begin], numbers[-1])]
