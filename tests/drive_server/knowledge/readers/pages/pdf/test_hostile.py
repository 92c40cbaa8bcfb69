"""Damaged and made-up PDFs yield text, or a state with a reason; no error gets past the reader."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.drive_server.knowledge.drawing import column, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
RESOURCES = b"/Resources<</Font<</A 5 0 R>>>>"


def packed(*objects: bytes) -> bytes:
    """Return a PDF with these objects, numbered from 1."""
    data, places = b"%PDF-1.4\n", list[int]()
    for number, one in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    entries = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Root 1 0 R/Size %d>>\n" % (size, entries, size)
    return data + table + b"startxref\n%d\n%%%%EOF" % len(data)


def page(content: bytes, box: bytes = b"0 0 600 800", resources: bytes = RESOURCES) -> bytes:
    return packed(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R%s>>" % (box, resources),
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        FONT,
    )


def nested(depth: int) -> bytes:
    """Return a PDF whose only page lies so deep in its tree."""
    nodes = [
        b"<</Type/Pages/Kids[%d 0 R]/Count 1/Parent %d 0 R>>" % (number + 1, number - 1) for number in range(2, depth)
    ]
    return packed(b"<</Type/Catalog/Pages 2 0 R>>", *nodes, b"<</Type/Page/MediaBox[0 0 9 9]>>")


TEXT = b"BT /A 12 Tf 50 700 Td (hello there, world) Tj ET"
GAPPED = b"BT /A %s Tf 50 700 Td (hello     there, world) Tj 0 -1e20 Td (a    b) Tj ET"
ENDLESS = b"9" * 60
MADE = {
    "a page without an end": page(GAPPED % b"1e30", box=b"-1e38 -1e38 1e38 1e38"),
    "a page without a place": page(GAPPED % b"0", box=b"0 0 0 0"),
    "no font": page(TEXT, resources=b""),
    "numbers without an end": page(b"BT /A 12 Tf %s 0 0 1 5 7 Tm (hello   there, world) Tj ET" % ENDLESS),
    "rulings without an end": page((b"0 0 m 1e39 1e39 l S 0 0 %s 5 re S " % ENDLESS) * 30 + TEXT),
    "a tree of 3,000 levels": nested(3000),
    "a tree that is its own branch": packed(
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2000000000>>"
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_pdf_that_no_program_writes_yields_text_or_a_state(tmp_path: Path, name: str) -> None:
    extraction = read(tmp_path, MADE[name])
    assert (extraction.state == "ready" and extraction.text) or extraction.reason


BLANK = {
    "no content": packed(
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", b"<</Type/Page/MediaBox[0 0 9 9]>>"
    ),
    "a count without pages": packed(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 100000000>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
    ),
    "content that is cut": page(b"BT /A 12 Tf 50 700 Td (hello"),
    "content that is no program": page(b"\x00\xff" * 40),
    "a text without letters": page(b"BT /A 12 Tf ET"),
}


@pytest.mark.parametrize("name", BLANK)
def test_a_pdf_without_any_text_says_so(tmp_path: Path, name: str) -> None:
    extraction = read(tmp_path, BLANK[name])
    assert extraction.text == ""
    assert "1 page without text" in extraction.reason or extraction.state != "ready"


def test_a_blank_page_beside_others_is_not_worth_a_word(tmp_path: Path) -> None:
    assert read(tmp_path, drawn([(60, 700, "The first page has words.")], [])).reason == ""


def changed(data: bytes, source: random.Random) -> bytes:
    """Return a file with some bytes changed, a piece left out, or a table of places that leads nowhere."""
    kind = source.randrange(3)
    if kind == 0:
        copy = bytearray(data)
        for _ in range(source.randint(1, 60)):
            copy[source.randrange(len(copy))] = source.randrange(256)
        return bytes(copy)
    if kind == 1:
        first, last = sorted(source.sample(range(len(data)), 2))
        return data[:first] + data[last:]
    return data[: data.rfind(b"startxref")] + b"startxref\n%d\n%%%%EOF" % source.choice((-1, 2**31, 10**18, 40))


def rows(*texts: Sequence[str]) -> list[tuple[float, float, str]]:
    return [
        text
        for left, column_texts in zip((60, 200, 300), texts, strict=True)
        for text in column(left, 700, *column_texts)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_pdf_with_changed_bytes_yields_text_or_a_state(tmp_path: Path, seed: int) -> None:
    whole = drawn(rows(("Lamp", "Chair", "Bed"), ("2", "3", "1"), ("5.00", "7.00", "90.00")), column(60, 700, "Lamp"))
    extraction = read(tmp_path, changed(whole, random.Random(seed)))
    assert (extraction.state == "ready" and extraction.text) or extraction.reason
