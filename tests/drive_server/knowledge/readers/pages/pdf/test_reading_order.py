"""Lines are read as they stand on the page, however they were drawn."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.readers.pages.paragraphs import Line
from drive_server.knowledge.readers.pages.pdf.reading_order import in_reading_order
from tests.drive_server.knowledge.drawing import column, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

    from reportlab.pdfgen.canvas import Canvas

LEFT = ["The pumps are checked every", "month by the landlord, who", "writes down what was found", "and has it mended."]
RIGHT = ["Filters are changed by the", "tenant, who buys them from", "the shop in the yard and", "keeps the bills."]
THIRD = ["Lamps are changed by the", "town, which sends a man", "with a ladder as soon as", "it hears of one."]


def flat(folder: Path, data: bytes) -> str:
    return " ".join(read(folder, data).text.split())


def test_lines_drawn_last_to_first_are_turned_round(tmp_path: Path) -> None:
    texts = ["First came the", "rain and then the", "snow, and nobody", "went out."]
    data = drawn(column(72, 700, *texts)[::-1])
    assert flat(tmp_path, data) == " ".join(texts)


@pytest.mark.parametrize("columns", [(LEFT, RIGHT), (LEFT, RIGHT, THIRD)], ids=["two", "three"])
def test_columns_drawn_row_by_row_are_read_one_after_the_other(tmp_path: Path, columns: tuple[list[str], ...]) -> None:
    lefts = (50, 230, 410)
    lines = [column(left, 680, *texts) for left, texts in zip(lefts, columns, strict=False)]
    heading = [(50, 720, "A heading over the whole of the page, which is as wide as all of its columns together")]
    data = drawn([*heading, *chain.from_iterable(zip(*lines, strict=True))])
    assert flat(tmp_path, data).endswith(" ".join(" ".join(texts) for texts in columns))


def test_columns_drawn_one_after_the_other_stay_as_they_are(tmp_path: Path) -> None:
    data = drawn([*column(50, 700, *LEFT, *LEFT), *column(320, 700, *RIGHT)])
    assert flat(tmp_path, data) == " ".join([*LEFT, *LEFT, *RIGHT])


def test_a_head_that_was_drawn_last_comes_first_and_a_foot_that_was_drawn_first_last(tmp_path: Path) -> None:
    data = drawn([(72, 40, "Printed on a Monday."), *column(72, 700, *LEFT), (72, 760, "House rules.")])
    assert flat(tmp_path, data) == " ".join(["House rules.", *LEFT, "Printed on a Monday."])


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_turned_pages_and_turned_text_are_read_alike(tmp_path: Path, angle: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.translate(306, 396)
        canvas.rotate(angle)
        for left, baseline, text in column(-200, 100, *LEFT)[::-1]:
            canvas.drawString(left, baseline, text)

    assert flat(tmp_path, drawn(draw)) == " ".join(LEFT)


def test_hebrew_stays_in_the_order_of_its_letters() -> None:
    right, left = Line("שלום", 400, 450, 700, 12), Line("עולם", 100, 150, 700, 12)
    assert in_reading_order([right, left], list) == (right, left)


def test_words_divided_at_the_end_of_a_line_are_joined(tmp_path: Path) -> None:
    text = read(tmp_path, drawn(column(72, 700, "A contract on the inter-", "national carriage."))).text
    assert text == "A contract on the international carriage."


def test_a_hyphen_stays_if_the_word_has_one_elsewhere(tmp_path: Path) -> None:
    lines = column(72, 700, "A well-known house, well-", "known for its pre-", "and postwar North-", "South wall.")
    text = read(tmp_path, drawn(lines)).text
    assert text == "A well-known house, well-known for its pre- and postwar North-South wall."


def test_a_range_of_numbers_over_the_end_of_a_line_stays_whole(tmp_path: Path) -> None:
    lines = column(72, 700, "The terms of 2025-", "2026 are on pages 12-", "14 of the contract.")
    assert read(tmp_path, drawn(lines)).text == "The terms of 2025-2026 are on pages 12-14 of the contract."
