"""Tables are read as rows with their blank cells; what only looks like one is left alone."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table

from drive_server.knowledge.readers.pages.paragraphs import Line
from drive_server.knowledge.readers.pages.pdf.tables import find_runs
from tests.drive_server.knowledge.drawing import Text, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def rows(*texts: tuple[str, ...], lefts: tuple[float, ...] = (60, 200, 300)) -> list[Text]:
    return [
        (left, 700 - 16 * number, text)
        for number, row in enumerate(texts)
        for left, text in zip(lefts, row, strict=False)
        if text
    ]


def built(*story: Flowable) -> bytes:
    file = io.BytesIO()
    SimpleDocTemplate(file, invariant=1).build(list(story))
    return file.getvalue()


def tables(folder: Path, data: bytes) -> list[str]:
    return [element.text for element in read(folder, data).elements if element.kind == "table"]


def test_aligned_gaps_make_a_table_with_its_blank_cells(tmp_path: Path) -> None:
    data = drawn(rows(("Item", "Qty", "Price"), ("Lamp", "", "5.00"), ("Chair", "3", "7.00"), ("Bed", "1", "")))
    assert tables(tmp_path, data) == ["Item | Qty | Price\nLamp |  | 5.00\nChair | 3 | 7.00\nBed | 1 | "]


def test_the_lines_of_a_ruled_cell_are_joined(tmp_path: Path) -> None:
    style = getSampleStyleSheet()["BodyText"]
    long = Paragraph("a lamp of brass that hangs in the hall and has not been lit for years", style)
    grid = [("GRID", (0, 0), (-1, -1), 0.5, "black")]
    data = built(
        Table([["Item", "Note", "Price"], ["Lamp", long, "5.00"], ["Chair", "", "7.00"]], [80, 120, 80], style=grid)
    )
    assert tables(tmp_path, data) == [
        "Item | Note | Price\n"
        "Lamp | a lamp of brass that hangs in the hall and has not been lit for years | 5.00\n"
        "Chair |  | 7.00"
    ]


def test_a_table_goes_on_over_the_page(tmp_path: Path) -> None:
    data = built(Table([[f"row {number}", str(number * 7), "x"] for number in range(90)], [80, 80, 80]))
    found = "\n".join(tables(tmp_path, data))
    assert all(f"row {number} | {number * 7} | x" in found for number in range(90))


def test_lists_labels_and_contents_are_no_tables(tmp_path: Path) -> None:
    bullets = rows(("1.", "wash the cups"), ("2.", "dry the cups"), ("3.", "put them away"), lefts=(60, 90))
    assert tables(tmp_path, drawn(bullets)) == []
    labels = rows(("Tenant:", "Quillfeather"), ("Street:", "Mill Lane 4"), ("Rent:", "410"), lefts=(60, 160))
    assert tables(tmp_path, drawn(labels)) == []
    assert "Tenant: Quillfeather\n" in read(tmp_path, drawn(labels)).text
    contents = [(60.0, 700.0 - 16 * number, f"Part {number} {'.' * 60} {number * 9}") for number in range(1, 6)]
    assert tables(tmp_path, drawn(contents)) == []


def test_two_rows_are_too_few_for_a_table_and_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    extraction = read(tmp_path, drawn(rows(("Item", "Qty", "Price"), ("Lamp", "2", "5.00"))))
    assert [element.text for element in extraction.elements] == ["Item Qty Price", "Lamp 2 5.00"]


def test_mirrored_columns_are_no_table_of_thousands_of_cells(tmp_path: Path) -> None:
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    canvas.transform(-1, 0, 0, 1, 595, 0)
    for line in range(14):
        canvas.drawString(60 + line % 3, 700 - 14 * line, "columns of words that go on and")
        canvas.drawString(320 + line % 4, 700 - 14 * line, "on in the mirror of a printer")
    canvas.save()
    extraction = read(tmp_path, file.getvalue())
    assert len(extraction.text) < 2000
    assert extraction.text.count("mirror") == 14


def test_a_piece_over_others_leaves_no_gutter_beneath_it() -> None:
    wide, within, right = Line("a", 0, 148, 10, 10), Line("b", 10, 20, 10, 10), Line("c", 150, 200, 10, 10)
    rows = [[line._replace(baseline=500.0 - 12 * row) for line in (wide, within, right)] for row in range(4)]
    assert list(find_runs(rows)) == []


def as_rectangles(canvas: Canvas, left: float, bottom: float, width: float, height: float) -> None:
    canvas.rect(left, bottom, width, height)


def as_closed_lines(canvas: Canvas, left: float, bottom: float, width: float, height: float) -> None:
    path = canvas.beginPath()
    path.moveTo(left, bottom)
    path.lineTo(left, bottom + height)
    path.lineTo(left + width, bottom + height)
    path.lineTo(left + width, bottom)
    path.close()
    canvas.drawPath(path)


def as_one_line_around(canvas: Canvas, left: float, bottom: float, width: float, height: float) -> None:
    path = canvas.beginPath()
    path.moveTo(left + width, bottom)
    path.lineTo(left, bottom)
    path.lineTo(left, bottom + height)
    path.lineTo(left + width, bottom + height)
    path.lineTo(left + width, bottom)
    canvas.drawPath(path)


def in_turned_coordinates(canvas: Canvas, left: float, bottom: float, width: float, height: float) -> None:
    canvas.saveState()
    canvas.rotate(90)
    canvas.rect(bottom, -left - width, height, width)
    canvas.restoreState()


def as_diamonds(canvas: Canvas, left: float, bottom: float, width: float, height: float) -> None:
    middle, level = left + width / 2, bottom + height / 2
    path = canvas.beginPath()
    path.moveTo(left, level)
    for x, y in ((middle, bottom + height), (left + width, level), (middle, bottom), (left, level)):
        path.lineTo(x, y)
    canvas.drawPath(path)


def cells(draw: Callable[[Canvas, float, float, float, float], None]) -> bytes:
    """Return a page of two rows of three cells of a spreadsheet; the lines of a cell stand close to each other."""
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    canvas.setFont("Helvetica", 8)
    for row in range(2):
        for column in range(3):
            draw(canvas, 60 + 90 * column, 700 - 40 * row, 90, 40)
        for line in range(2):
            for column in range(3):
                canvas.drawString(64 + 90 * column, 726 - 40 * row - 12 * line, f"{row}{column}{'ab'[line]}")
    canvas.save()
    return file.getvalue()


@pytest.mark.parametrize("draw", [as_rectangles, as_closed_lines, as_one_line_around, in_turned_coordinates])
def test_cells_are_those_of_a_table_however_their_edges_are_drawn(
    tmp_path: Path, draw: Callable[[Canvas, float, float, float, float], None]
) -> None:
    assert tables(tmp_path, cells(draw)) == ["00a 00b | 01a 01b | 02a 02b\n10a 10b | 11a 11b | 12a 12b"]


def test_shapes_around_words_are_no_cells(tmp_path: Path) -> None:
    assert "00a 00b" not in "".join(tables(tmp_path, cells(as_diamonds)))


@pytest.mark.parametrize("dots", ["..............", "...", ". . . .", "…"])
def test_the_lines_of_a_table_of_contents_keep_their_numbers(tmp_path: Path, dots: str) -> None:
    titles = {"Foreword": "3", "The lamp": "12", "The chair": "57", "Index": "101"}
    lines = [
        text
        for number, (title, page) in enumerate(titles.items())
        for text in ((60, 700 - 16 * number, f"{title} {dots}"), (300, 700 - 16 * number, page))
    ]
    found = [element.text for element in read(tmp_path, drawn(lines)).elements]
    assert found == [f"{title} {dots} {page}" for title, page in titles.items()]


def test_a_title_of_two_lines_keeps_its_number(tmp_path: Path) -> None:
    lines = [
        (60, 700, "Foreword .......................................... 3"),
        (60, 686, "The lamp in the hall, and of those who"),
        (60, 672, "lit it in the years since ........................ 12"),
    ]
    assert read(tmp_path, drawn(lines)).text == (
        "Foreword .......................................... 3\n\n"
        "The lamp in the hall, and of those who lit it in the years since ........................ 12"
    )


def spread(canvas: Canvas, words: str, baseline: float, width: float) -> None:
    """Draw the words of a line over a width, with blanks of one size between them."""
    single = words.split()
    widths = [canvas.stringWidth(word, "Helvetica", 12) for word in single]
    left, blank = 60.0, (width - sum(widths)) / (len(single) - 1)
    for word, own in zip(single, widths, strict=True):
        canvas.drawString(left, baseline, word)
        left += own + blank


def test_a_justified_text_with_wide_blanks_is_no_table(tmp_path: Path) -> None:
    lines = ["the lamp in hall", "lit by a woman", "never seen the house", "did not know that", "stood empty for years"]

    def justified(canvas: Canvas) -> None:
        for number, line in enumerate(lines):
            spread(canvas, line, 700 - 14 * number, 220)

    elements = read(tmp_path, drawn(justified)).elements
    assert [(element.kind, element.text) for element in elements] == [("text", " ".join(lines))]


def test_rows_with_even_blanks_that_stand_below_each_other_are_a_table(tmp_path: Path) -> None:
    data = drawn(rows(("Mon", "Tue", "Wed"), ("two", "six", "ten"), ("red", "tan", "sky"), ("oak", "ash", "elm")))
    assert tables(tmp_path, data) == ["Mon | Tue | Wed\ntwo | six | ten\nred | tan | sky\noak | ash | elm"]


def test_lists_beside_each_other_are_read_one_after_the_other(tmp_path: Path) -> None:
    texts = [("Bring a lamp", "Call the baker"), ("Bring a chair", "Pay the bill"), ("Leave it", "Lock the door")]
    lines = [
        text
        for number, (one, other) in enumerate(texts)
        for text in ((60, 700 - 16 * number, f"\u2022 {one}"), (300, 700 - 16 * number, f"\u2022 {other}"))
    ]
    found = read(tmp_path, drawn(lines)).text
    assert "|" not in found
    assert found.index("Leave it") < found.index("Call the baker")
