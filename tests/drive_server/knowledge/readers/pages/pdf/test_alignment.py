"""Rows of cells half a line apart, and tables whose columns were drawn one after the other, are seen where they are."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from tests.drive_server.knowledge.drawing import Text, column, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

LEFT = [
    "the lamp in the hall was lit",
    "by a woman who had never",
    "seen the house before and",
    "did not know that it had",
]
RIGHT = [
    "in spring the river rose and",
    "took the bridge with it so",
    "that the village was cut off",
    "from the market, and people",
]
ITEMS = ("Item", "Lamp", "Chair", "Bed", "Rug")
TABLES = {
    "three columns": (ITEMS, ("Qty", "2", "3", "1", "4"), ("Price", "5.00", "7.00", "90.00", "12.00")),
    "two columns": (ITEMS, ("Price", "$5.00", "$7.00", "$90.00", "$12.00")),
    "words and numbers": (ITEMS, ("Colour", "red", "tan", "oak", "sky"), ("Share", "5 %", "7 %", "80 %", "8 %")),
}
NO_TABLES = {
    "lists": (("Lamp", "Chair", "Bed", "Rug"), ("Baker", "Miller", "Smith", "Cooper")),
    "verses": (
        ("The lamp is lit,", "the hall is still,", "a woman waits", "upon the hill."),
        ("The river rose,", "the bridge is gone,", "the boats are out", "until the dawn."),
    ),
    "prose": (tuple(LEFT), tuple(RIGHT)),
    "addresses": (("Ada Quill", "Mill Lane 4", "Brayford"), ("Berta Stone", "High Street 19", "Oldham")),
    "numbered lines": (("1", "2", "3", "4"), tuple(LEFT)),
}


def by_columns(*columns: tuple[str, ...], top: float = 700) -> list[Text]:
    return [text for number, texts in enumerate(columns) for text in column(60 + 150 * number, top, *texts, pitch=18)]


@pytest.mark.parametrize("name", TABLES)
def test_columns_with_numbers_that_were_drawn_one_after_the_other_are_a_table(tmp_path: Path, name: str) -> None:
    before, after = [(60, 760, "The goods of the house are these.")], [(60, 500, "Nothing else is left in it.")]
    elements = read(tmp_path, drawn([*before, *by_columns(*TABLES[name]), *after])).elements
    (table,) = [element.text for element in elements if element.kind == "table"]
    assert table == "\n".join(" | ".join(row) for row in zip(*TABLES[name], strict=True))
    assert [element.text for element in elements if element.kind != "table"] == [before[0][2], after[0][2]]


def test_labels_and_values_that_were_drawn_one_after_the_other_stand_beside_each_other(tmp_path: Path) -> None:
    data = drawn(by_columns(("Name:", "Street:", "Town:"), ("Ada Quill", "Mill Lane 4", "Brayford")))
    assert read(tmp_path, data).text.split("\n\n") == ["Name: Ada Quill", "Street: Mill Lane 4", "Town: Brayford"]


@pytest.mark.parametrize("name", NO_TABLES)
def test_columns_without_values_stay_as_they_were_drawn(tmp_path: Path, name: str) -> None:
    extraction = read(tmp_path, drawn(by_columns(*NO_TABLES[name])))
    assert not any(element.kind == "table" for element in extraction.elements)
    assert " ".join(extraction.text.split()) == " ".join(chain.from_iterable(NO_TABLES[name]))


@pytest.mark.parametrize("lower", [5, 7, -5, -7])
@pytest.mark.parametrize("pitch", [14, 16, 20])
def test_columns_of_prose_half_a_line_apart_are_read_one_after_the_other(
    tmp_path: Path, lower: float, pitch: float
) -> None:
    lines = zip(column(60, 700, *LEFT, pitch=pitch), column(320, 700 - lower, *RIGHT, pitch=pitch), strict=True)
    text = read(tmp_path, drawn(list(chain.from_iterable(lines)))).text
    assert " ".join(text.split()) == " ".join([*LEFT, *RIGHT])


@pytest.mark.parametrize("lower", [0, 4, 6])
def test_rows_that_nearly_touch_are_no_one_row(tmp_path: Path, lower: float) -> None:
    names, prices = ("Lamps of brass", "Chairs of oak", "Beds", "Rugs"), ("12", "7", "3", "22")
    cells = zip(column(60, 700, *names, pitch=12), column(300, 700 - lower, *prices, pitch=12), strict=True)
    text = read(tmp_path, drawn(list(chain.from_iterable(cells)))).text
    words = " ".join(text.replace("|", " ").split())
    assert words == " ".join(chain.from_iterable(zip(names, prices, strict=True)))


def test_a_raised_number_behind_a_line_moves_no_line(tmp_path: Path) -> None:
    lines = [
        text
        for number, words in enumerate(LEFT)
        for text in ((60, 700 - 16 * number, words), (330, 706 - 16 * number, "1"))
    ]
    assert "|" not in read(tmp_path, drawn([*lines[:3], (60, 600, "The end.")])).text


COSTS = ("Freight to the harbour", "Duty of the customs", "Insurance of the goods", "Storage for a week")
SUMS = ("120.00", "37.50", "12.75", "88.00")


@pytest.mark.parametrize("size", [9, 12])
@pytest.mark.parametrize("off", [-4, 3, 5])
def test_sums_drawn_after_their_labels_and_up_to_half_a_line_off_stand_in_their_rows(
    tmp_path: Path, off: float, size: float
) -> None:
    lines = [*column(72, 700, *COSTS), *column(300, 700 - off, *SUMS), (72, 400, "Nothing else is to be paid.")]
    text = read(tmp_path, drawn(lines, size=size)).text
    assert [row for row in text.split("\n") if row] == [
        *(f"{cost} | {total}" for cost, total in zip(COSTS, SUMS, strict=True)),
        "Nothing else is to be paid.",
    ]


@pytest.mark.parametrize(
    ("texts", "pitch"), [(RIGHT, 14), (SUMS, 15.5)], ids=["prose half a line off", "sums at another pitch"]
)
def test_columns_that_do_not_keep_to_rows_stay_one_after_the_other(
    tmp_path: Path, texts: tuple[str, ...], pitch: float
) -> None:
    data = drawn([*column(72, 700, *COSTS), *column(320, 696, *texts, pitch=pitch)])
    assert " ".join(read(tmp_path, data).text.split()) == " ".join([*COSTS, *texts])
