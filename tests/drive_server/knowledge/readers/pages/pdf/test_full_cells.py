"""Texts of neighbours that fill their cells are told apart by the lines between them, where pdfium sees one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.knowledge.drawing import drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportlab.pdfgen.canvas import Canvas

ROW = 18
TOP = 700
HEAD = ["Itemnumber", "Quantities", "Deliveryday"]
ROWS = [["4711-0815", "12,000,00", "2026-03-01"], ["4711-0816", "14,000,00", "2026-03-02"]]


def edges_for(canvas: Canvas, texts: Sequence[str], left: float = 72) -> list[float]:
    """Return the lines of columns that are hardly wider than these texts."""
    edges = [left]
    for text in texts:
        edges.append(edges[-1] + canvas.stringWidth(text) + 3)
    return edges


def draw_box(canvas: Canvas, edges: Sequence[float], rows: int) -> None:
    for edge in edges:
        canvas.line(edge, TOP, edge, TOP - rows * ROW)
    for number in range(rows + 1):
        canvas.line(edges[0], TOP - number * ROW, edges[-1], TOP - number * ROW)


def draw_cells(canvas: Canvas, edges: Sequence[float], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows, start=1):
        for edge, text in zip(edges, row, strict=False):
            canvas.drawString(edge + 1.5, TOP - number * ROW + 5, text)


def table(*rows: Sequence[str], widths: Sequence[str] = HEAD) -> bytes:
    def draw(canvas: Canvas) -> None:
        edges = edges_for(canvas, widths)
        draw_box(canvas, edges, len(rows))
        draw_cells(canvas, edges, rows)
        draw_pair(canvas)

    return drawn(draw)


def draw_pair(canvas: Canvas) -> None:
    """Draw two rows with a wide gap, so that the page is known to have some."""
    for number, text in enumerate(("Freight", "Duty")):
        canvas.drawString(72, 300 - number * 14, text)
        canvas.drawString(300, 300 - number * 14, f"{number + 1}00.00")


def test_texts_of_neighbours_that_fill_their_cells_are_told_apart(tmp_path: Path) -> None:
    text = read(tmp_path, table(HEAD, *ROWS)).text
    assert "\n".join(" | ".join(row) for row in (HEAD, *ROWS)) in text


def test_numbers_that_fill_their_cells_are_never_one_number(tmp_path: Path) -> None:
    text = read(
        tmp_path,
        table(["Jan.", "Feb.", "Mar."], ["1110", "2220", "3330"], ["4440", "5550", "6660"], widths=["0000"] * 3),
    ).text
    assert "1110 | 2220 | 3330" in text
    assert "4440 | 5550 | 6660" in text


def test_a_text_that_runs_over_the_line_of_an_empty_cell_stays_whole(tmp_path: Path) -> None:
    long = "Wolverhampton"
    text = read(tmp_path, table(HEAD, ["Southampton and on", "", "2026"], ["4711", long + "iiii", ""])).text
    assert "Southampton and on" in text
    assert long + "iiii" in text


def test_a_heading_over_two_columns_without_a_line_between_them_stays_whole(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        edges = edges_for(canvas, HEAD)
        draw_box(canvas, (edges[0], edges[-1]), 1)
        canvas.drawString(edges[0] + 1.5, TOP - ROW + 5, "Articles and quantities by the day")
        for edge in edges:
            canvas.line(edge, TOP - ROW, edge, TOP - 4 * ROW)
        for number in range(2, 5):
            canvas.line(edges[0], TOP - number * ROW, edges[-1], TOP - number * ROW)
        draw_cells(canvas, edges, [[], HEAD, *ROWS])
        draw_pair(canvas)

    text = read(tmp_path, drawn(draw)).text
    assert "Articles and quantities by the day" in text
    assert "\n".join(" | ".join(row) for row in (HEAD, *ROWS)) in text
