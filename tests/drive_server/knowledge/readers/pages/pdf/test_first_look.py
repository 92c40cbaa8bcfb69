"""The bytes of a PDF are looked at once: few of them are kept, many are read in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.readers.pages.pdf.first_look import look_at
from tests.drive_server.knowledge.drawing import drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from pathlib import Path

PIECE = 1 << 20
COMMENT = b"%" + b" " * 78 + b"\n"


def test_the_bytes_of_a_small_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.4 /Image startxref 0 %%EOF")
    look = look_at(path)
    assert look.source == path.read_bytes()
    assert look.has_end
    assert look.may_have_pictures


def test_a_small_file_may_lack_its_end_and_pictures(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.4 startxref" + b" " * 9000)
    look = look_at(path)
    assert not look.has_end
    assert not look.may_have_pictures


@pytest.mark.parametrize("place", [100, PIECE - 3, PIECE, 2 * PIECE - 3, 2 * PIECE + 50])
def test_a_picture_is_found_wherever_a_large_file_names_it(tmp_path: Path, place: int) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b" " * place + b"/Image" + b" " * (3 * PIECE - place) + b"%%EOF")
    look = look_at(path)
    assert look.source == path
    assert look.has_end
    assert look.may_have_pictures


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_a_large_file_without_end_or_pictures_has_none(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b" " * size)
    look = look_at(path)
    assert not look.has_end
    assert not look.may_have_pictures


def test_files_of_any_size_are_read(tmp_path: Path) -> None:
    data = drawn([(60, 700, "A lamp of brass hangs in the hall")])
    header, body = data.split(b"\n", 1)
    large = header + b"\n" + COMMENT * (2 * PIECE // len(COMMENT)) + body
    assert read(tmp_path, data).text == read(tmp_path, large).text == "A lamp of brass hangs in the hall"
