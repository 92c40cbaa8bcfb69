"""Rulings between cells make a table, also without a box around it; rulings between columns of prose make none."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from reportlab.platypus import SimpleDocTemplate, Table

from tests.drive_server.knowledge.drawing import column, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

    from reportlab.pdfgen.canvas import Canvas

Cells = list[list[str]]
THREE = [
    ["Item", "Qty", "Price"],
    ["Lamp of brass\nfor the hall", "2", "5.00"],
    ["Chair of oak\nwith arms", "3\nboxes", "7.00"],
    ["Bed", "1", "90.00\neach"],
]
TWO = [row[:2] for row in THREE]
FOUR = [[*row, "a\nb" if number else "Note"] for number, row in enumerate(THREE)]
STYLES: dict[str, list[Any]] = {
    "no box": [("INNERGRID", (0, 0), (-1, -1), 0.5, "black")],
    "no sides": [
        ("LINEAFTER", (0, 0), (-2, -1), 0.5, "black"),
        ("LINEABOVE", (0, 0), (-1, -1), 0.5, "black"),
        ("LINEBELOW", (0, -1), (-1, -1), 0.5, "black"),
    ],
    "no top": [("LINEAFTER", (0, 0), (-1, -1), 0.5, "black"), ("LINEBELOW", (0, 0), (-1, -2), 0.5, "black")],
}


@pytest.mark.parametrize("place", ["TOP", "MIDDLE"])
@pytest.mark.parametrize("cells", [TWO, THREE, FOUR], ids=["two", "three", "four"])
@pytest.mark.parametrize("style", ["no box", "no sides"])
def test_cells_of_two_lines_are_joined_without_a_box(tmp_path: Path, style: str, cells: Cells, place: str) -> None:
    file = io.BytesIO()
    table = Table(cells, 110, style=[*STYLES[style], ("VALIGN", (0, 0), (-1, -1), place)])
    SimpleDocTemplate(file, invariant=1).build([table])
    (element,) = read(tmp_path, file.getvalue()).elements
    assert element.text == "\n".join(" | ".join(cell.replace("\n", " ") for cell in row) for row in cells)


PROSE = ["the lamp in the hall was", "lit by a woman who had", "never seen the house and", "did not know that it had"]


def newspaper(canvas: Canvas) -> None:
    for level in (720, 500, 280):
        canvas.line(50, level, 560, level)
    for left in (215, 385):
        canvas.line(left, 280, left, 720)
    for left in (55, 225, 395):
        for number, (x, y, text) in enumerate(column(left, 700, *PROSE * 7)):
            if number < 14 or y < 480:
                canvas.drawString(x, y, text)


def underlined(canvas: Canvas) -> None:
    canvas.line(300, 100, 300, 720)
    for level in (700, 500, 300):
        canvas.drawString(60, level + 4, "A heading with a line")
        canvas.line(60, level, 290, level)
        for x, y, text in column(60, level - 20, *PROSE) + column(320, level - 20, *PROSE):
            canvas.drawString(x, y, text)


@pytest.mark.parametrize("draw", [newspaper, underlined])
def test_rulings_between_columns_of_prose_make_no_table(tmp_path: Path, draw: Any) -> None:
    extraction = read(tmp_path, drawn(draw))
    assert not any(element.kind == "table" for element in extraction.elements)
    assert " ".join(PROSE) in " ".join(extraction.text.split())
