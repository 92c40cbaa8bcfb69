"""Addresses beside each other are read one after the other; tables of words and numbers stay tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.knowledge.drawing import drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

Block = tuple[str, ...]

ADDRESSES: dict[str, tuple[Block, ...]] = {
    "numbers behind streets": (
        ("Ada Quill", "Mill Lane 4", "Brayford", "England"),
        ("Berta Stone", "High Street 19", "Oldham", "Scotland"),
    ),
    "numbers before streets": (
        ("Ada Quill", "4 Mill Lane", "Brayford", "LN1 1AA"),
        ("Berta Stone", "19b High Street", "Oldham", "OL4 2XY"),
    ),
    "heads": (
        ("Bill to:", "Quill Ltd.", "4 Mill Lane", "Springfield, IL 62701"),
        ("Ship to:", "Stone Inc.", "1900 Harbour Road", "Portland, OR 97201"),
    ),
    "codes before places": (
        ("Ada Quill", "Mühlweg 4", "12345 Brayheim", "Deutschland"),
        ("Berta Stein", "Hauptstraße 19", "54321 Oldenburg", "Deutschland"),
    ),
    "three": (
        ("Ada Quill", "Mill Lane 4", "Brayford"),
        ("Berta Stone", "High Street 19", "Oldham"),
        ("Cem Ash", "Quay Road 7", "Cowal"),
    ),
}
TABLES: dict[str, tuple[Block, ...]] = {
    "words and numbers": (("Item", "Lamp", "Chair", "Bed"), ("Price", "12", "7", "90")),
    "words": (("Item", "Lamp", "Chair", "Bed"), ("Colour", "red", "brown", "white")),
    "people and their streets": (
        ("Name", "Ada Quill", "Berta Stone", "Cem Ash"),
        ("Street", "Mill Lane 4", "High Street 19", "Quay Road 7"),
    ),
    "goods with sizes": (("Board", "Oak 40", "Ash 30", "Elm 20"), ("Box", "Pine 10", "Fir 12", "Yew 14")),
    "streets and places": (
        ("Mill Lane 4", "High Street 19", "Quay Road 7"),
        ("Brayford", "Oldham", "Cowal"),
    ),
    "goods of which some have sizes": (("Board", "Oak 40", "Ash", "Elm 20"), ("Box", "Pine 10", "Fir", "Yew 14")),
    "dates": (("Begin", "3 May", "Lent", "7 June"), ("End", "4 May", "2 June", "9 June")),
}


def row_by_row(*blocks: Block) -> bytes:
    return drawn(
        [
            (60 + 180 * column, 700 - 14 * number, text)
            for number, row in enumerate(zip(*blocks, strict=True))
            for column, text in enumerate(row)
        ]
    )


@pytest.mark.parametrize("name", ADDRESSES)
def test_addresses_beside_each_other_are_read_one_after_the_other(tmp_path: Path, name: str) -> None:
    elements = read(tmp_path, row_by_row(*ADDRESSES[name])).elements
    assert [element.text for element in elements] == [line for block in ADDRESSES[name] for line in block]


@pytest.mark.parametrize("name", TABLES)
def test_columns_with_one_kind_of_values_are_a_table(tmp_path: Path, name: str) -> None:
    (table,) = read(tmp_path, row_by_row(*TABLES[name])).elements
    assert table.kind == "table"
    assert table.text == "\n".join(" | ".join(row) for row in zip(*TABLES[name], strict=True))
