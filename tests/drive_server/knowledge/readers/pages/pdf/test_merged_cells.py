"""A merged cell of a ruled table stands in its first row, and the values of two rows are never joined."""

from __future__ import annotations

import io
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from reportlab.platypus import SimpleDocTemplate, Table

from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Cells = list[list[str]]
Place = tuple[int, int]
"""The column and the row of a cell, from 0; negative ones from the end."""

GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")
REGIONS = [["Region", "Q1", "Q2"], ["North", "1", "2"], ["", "3", "4"], ["South", "5", "6"], ["", "7", "8"]]
REGIONS_MERGED = [((0, 1), (0, 2)), ((0, 3), (0, 4))]
WIDE_FIRST = [300.0, 70.0, 70.0]


def ruled(
    cells: Cells, spans: Sequence[tuple[Place, Place]], widths: Sequence[float], *styles: tuple[Any, ...]
) -> bytes:
    """Return a page with a table whose cells are ruled, merged ones as one."""
    commands: list[Any] = [
        *(styles or [GRID, ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]),
        *(("SPAN", *span) for span in spans),
    ]
    heights = None if "\n" in "".join(chain.from_iterable(cells)) else [18] * len(cells)
    file = io.BytesIO()
    SimpleDocTemplate(file, invariant=1).build([Table(cells, list(widths), heights, style=commands)])
    return file.getvalue()


def rows(folder: Path, data: bytes) -> list[list[str]]:
    """Return the cells of the page's only table."""
    (table,) = [element.text for element in read(folder, data).elements if element.kind == "table"]
    return [row.split(" | ") for row in table.split("\n")]


@pytest.mark.parametrize("place", ["TOP", "MIDDLE", "BOTTOM"])
@pytest.mark.parametrize("first", [50.0, 300.0])
def test_a_merged_first_column_joins_no_rows(tmp_path: Path, first: float, place: str) -> None:
    data = ruled(REGIONS, REGIONS_MERGED, [first, 70, 70], GRID, ("VALIGN", (0, 0), (-1, -1), place))
    assert rows(tmp_path, data) == REGIONS


@pytest.mark.parametrize(
    ("cells", "spans", "widths"),
    [
        pytest.param(REGIONS[1:], [((0, 0), (0, 1)), ((0, 2), (0, 3))], WIDE_FIRST, id="no header"),
        pytest.param(REGIONS[1:3], [((0, 0), (0, 1))], WIDE_FIRST, id="all rows in one"),
        pytest.param(
            [["Who", "Region", "n"], ["Ann", "North", "1"], ["Bea", "", "2"], ["Cem", "South", "3"]],
            [((1, 1), (1, 2))],
            [70, 300, 70],
            id="in the middle",
        ),
        pytest.param(
            [["Who", "n", "Region"], ["Ann", "1", "North"], ["Bea", "2", ""], ["Cem", "3", "South"]],
            [((2, 1), (2, 2))],
            [70, 70, 300],
            id="at the end",
        ),
        pytest.param(
            [
                ["Land", "Region", "Town", "n"],
                ["Alba", "North", "Ardle", "1"],
                ["", "", "Brae", "2"],
                ["", "South", "Cowal", "3"],
                ["", "", "Dunoon", "4"],
            ],
            [((0, 1), (0, 4)), ((1, 1), (1, 2)), ((1, 3), (1, 4))],
            [150, 150, 70, 70],
            id="several levels",
        ),
        pytest.param(
            [["Region", "Year", ""], ["", "2019", "2020"], ["North", "1", "2"], ["", "3", "4"]],
            [((0, 0), (0, 1)), ((1, 0), (2, 0)), ((0, 2), (0, 3))],
            WIDE_FIRST,
            id="header over two columns",
        ),
        pytest.param([*REGIONS, ["Total", "", "36"]], [*REGIONS_MERGED, ((0, 5), (1, 5))], WIDE_FIRST, id="total"),
        pytest.param(
            [*REGIONS, ["In thousands", "", ""]], [*REGIONS_MERGED, ((0, 5), (2, 5))], WIDE_FIRST, id="note over all"
        ),
    ],
)
def test_values_stay_in_their_rows_wherever_cells_are_merged(
    tmp_path: Path, cells: Cells, spans: Sequence[tuple[Place, Place]], widths: Sequence[float]
) -> None:
    assert rows(tmp_path, ruled(cells, spans, widths)) == cells


@pytest.mark.parametrize("first", [50.0, 300.0])
def test_without_an_outer_box_the_rows_stay_apart_too(tmp_path: Path, first: float) -> None:
    inner = [("INNERGRID", (0, 0), (-1, -1), 0.5, "black"), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]
    found = rows(tmp_path, ruled(REGIONS, REGIONS_MERGED, [first, 70, 70], *inner))
    assert [row[1:] for row in found if row[1]] == [row[1:] for row in REGIONS]


def test_cells_of_two_lines_are_joined_within_their_row_only(tmp_path: Path) -> None:
    cells = [
        ["Region", "Firm", "Place"],
        ["North and\nthe isles", "Orchard\nbrothers", "Mill\nLane"],
        ["", "Sawmill\nsisters", "Quay\nStreet"],
        ["South", "Bakery", "Market"],
    ]
    found = rows(tmp_path, ruled(cells, [((0, 1), (0, 2))], WIDE_FIRST))
    assert found == [[cell.replace("\n", " ") for cell in row] for row in cells]


@pytest.mark.parametrize("label", ["North and\nthe isles", "North\nand the\nisles"])
def test_a_label_of_several_lines_stands_whole_in_its_first_row(tmp_path: Path, label: str) -> None:
    cells = [REGIONS[0], [label, "1", "2"], *REGIONS[2:]]
    assert rows(tmp_path, ruled(cells, REGIONS_MERGED, WIDE_FIRST))[1:3] == [
        [label.replace("\n", " "), "1", "2"],
        ["", "3", "4"],
    ]


def test_values_of_a_column_without_rules_stay_in_their_rows(tmp_path: Path) -> None:
    cells = [["Region", "Q1", "Q2"], ["North", "1", "2"], ["East", "3", "4"], ["South", "5", "6"]]
    styles = [
        ("BOX", (0, 0), (-1, -1), 0.5, "black"),
        ("GRID", (1, 0), (-1, -1), 0.5, "black"),
        ("LINEBELOW", (0, 0), (-1, 0), 0.5, "black"),
    ]
    assert rows(tmp_path, ruled(cells, [], WIDE_FIRST, *styles)) == cells


def test_frames_within_cells_divide_no_rows(tmp_path: Path) -> None:
    button = Table([["open"]], [110], style=[("BOX", (0, 0), (-1, -1), 0.5, "black")])
    cells: list[list[object]] = [["Task", "State", "n"], ["Paint", button, "1"], ["Sweep", "done", "2"]]
    style: list[Any] = [GRID, ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]
    file = io.BytesIO()
    SimpleDocTemplate(file, invariant=1).build([Table(cells, [250, 116, 60], style=style)])
    assert rows(tmp_path, file.getvalue()) == [["Task", "State", "n"], ["Paint", "open", "1"], ["Sweep", "done", "2"]]


@pytest.mark.parametrize("height", [1, 2, 3, 5])
def test_no_cell_has_the_values_of_two_rows(tmp_path: Path, height: int) -> None:
    body = [[f"g{row // height}" if row % height == 0 else "", f"a{row}", f"b{row}"] for row in range(3 * height)]
    spans = [((0, 1 + group * height), (0, (group + 1) * height)) for group in range(3)]
    cells = [["Group", "a", "b"], *body]
    found = rows(tmp_path, ruled(cells, spans, WIDE_FIRST))
    assert found == cells
    assert not any(" " in cell for cell in chain.from_iterable(found))


def test_cells_may_be_merged_at_other_rows_in_each_column(tmp_path: Path) -> None:
    cells = [["Region", "n"], ["North", "10"], ["", "20"], ["South", ""], ["East", "40"], ["West", "50"]]
    spans = [((0, 1), (0, 2)), ((1, 2), (1, 3))]
    assert rows(tmp_path, ruled(cells, spans, [120, 70], GRID, ("VALIGN", (0, 0), (-1, -1), "TOP"))) == cells
