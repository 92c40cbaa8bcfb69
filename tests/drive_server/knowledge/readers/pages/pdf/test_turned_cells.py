"""Text that runs up or down in a table is read in its cell, and letters one below the other are a word or rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.knowledge.drawing import drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

    from reportlab.pdfgen.canvas import Canvas

ROWS = [("Item", "Qty", "Price"), ("Lamp", "2", "5.00"), ("Chair", "3", "7.00"), ("Bed", "1", "90.00")]


def by_column(canvas: Canvas) -> None:
    for column, left in enumerate((60, 200, 300)):
        for row, texts in enumerate(ROWS):
            canvas.drawString(left, 700 - 16 * row, texts[column])


def test_digits_of_a_column_that_was_drawn_at_once_stand_in_their_rows(tmp_path: Path) -> None:
    def ruled(canvas: Canvas) -> None:
        canvas.grid([55, 195, 295, 380], [712 - 16 * number for number in range(5)])
        by_column(canvas)

    found = [element.text for element in read(tmp_path, drawn(ruled)).elements]
    assert found == ["\n".join(map(" | ".join, ROWS))]


def test_digits_below_a_head_are_not_one_word(tmp_path: Path) -> None:
    (table,) = read(tmp_path, drawn(by_column)).elements
    assert table.text == "\n".join(map(" | ".join, ROWS))


def test_letters_one_below_the_other_are_a_word_of_their_cell(tmp_path: Path) -> None:
    def stacked(canvas: Canvas) -> None:
        canvas.grid([60, 200, 220, 240], [720, 640, 620, 600])
        canvas.drawString(65, 645, "Item")
        for column, word in enumerate(("MON", "TUE")):
            for number, letter in enumerate(word):
                canvas.drawString(205 + 20 * column, 700 - 13 * number, letter)
        for row, texts in enumerate((("Lamp", "1", "2"), ("Bed", "4", ""))):
            for left, text in zip((65, 205, 225), texts, strict=True):
                canvas.drawString(left, 626 - 20 * row, text)

    found = [element.text for element in read(tmp_path, drawn(stacked)).elements]
    assert found == ["Item | MON | TUE\nLamp | 1 | 2\nBed | 4 | "]


def test_a_word_beside_the_rows_of_a_merged_cell_stays_whole(tmp_path: Path) -> None:
    def merged(canvas: Canvas) -> None:
        for depth in (700, 600):
            canvas.line(60, depth, 320, depth)
        for depth in (680, 660, 640, 620):
            canvas.line(90, depth, 320, depth)
        for left in (60, 90, 200, 320):
            canvas.line(left, 600, left, 700)
        for number, letter in enumerate("NORTH"):
            canvas.drawString(70, 686 - 20 * number, letter)
        for number, texts in enumerate((("Lamps", "12"), ("Beds", "7"), ("Rugs", "9"), ("Pots", "4"), ("Pans", "2"))):
            for left, text in zip((95, 205), texts, strict=True):
                canvas.drawString(left, 686 - 20 * number, text)

    assert (
        read(tmp_path, drawn(merged)).text == "NORTH | Lamps | 12\n | Beds | 7\n | Rugs | 9\n | Pots | 4\n | Pans | 2"
    )


def test_turned_heads_stand_in_their_columns(tmp_path: Path) -> None:
    def turned(canvas: Canvas) -> None:
        canvas.grid([60, 200, 230, 270], [720, 640, 620, 600])
        canvas.drawString(65, 645, "Item, as on the list")
        for left, lines in ((220, ["Weight"]), (243, ["Price", "in pounds"])):
            for number, text in enumerate(lines):
                canvas.saveState()
                canvas.translate(left + 14 * number, 645)
                canvas.rotate(90)
                canvas.drawString(0, 0, text)
                canvas.restoreState()
        for row, texts in enumerate((("Lamp of brass", "1", "2"), ("Bed of oak", "", "6"))):
            for left, text in zip((65, 205, 235), texts, strict=True):
                canvas.drawString(left, 626 - 20 * row, text)

    assert (
        read(tmp_path, drawn(turned)).text
        == "Item, as on the list | Weight | Price in pounds\nLamp of brass | 1 | 2\nBed of oak |  | 6"
    )
