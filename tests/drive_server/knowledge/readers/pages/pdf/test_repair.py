"""A PDF whose end is cut off is read as far as it goes, and says that it is damaged."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader, PdfWriter

from tests.drive_server.knowledge.drawing import column, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

PAGES = drawn(*(column(72, 700, f"This is page {number}.") for number in ("one", "two", "three")))


@pytest.mark.parametrize("end", [b"trailer", b"startxref", b"xref"])
def test_a_file_without_its_end_is_read_with_a_reason(tmp_path: Path, end: bytes) -> None:
    extraction = read(tmp_path, PAGES[: PAGES.index(end)])
    assert extraction.state == "ready"
    assert [element.text for element in extraction.elements] == [
        "This is page one.",
        "This is page two.",
        "This is page three.",
    ]
    assert "damaged" in extraction.reason


def test_pages_are_found_without_the_root_that_lists_them(tmp_path: Path) -> None:
    without = PAGES[: PAGES.index(b"trailer")].replace(b"/Type /Catalog", b"/Type /Katalog")
    assert "This is page two." in read(tmp_path, without).text


def test_objects_in_packed_streams_are_found(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(PAGES)))
    file = io.BytesIO()
    writer.write(file)
    assert "This is page two." in read(tmp_path, file.getvalue()[: file.getvalue().rindex(b"xref")]).text


def test_a_whole_file_has_no_reason_and_rubbish_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, PAGES).reason == ""
    assert read(tmp_path, b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n").state == "failed"
    assert read(tmp_path, PAGES[:200]).state == "failed"
