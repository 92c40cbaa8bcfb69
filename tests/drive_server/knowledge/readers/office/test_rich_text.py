"""Rich Text: automatic numbers, notes, comments, heads and feet of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.readers.extract import extract

if TYPE_CHECKING:
    from pathlib import Path


def lines(folder: Path, body: bytes) -> list[str]:
    path = folder / "blob"
    path.write_bytes(rb"{\rtf1\ansi " + body + b"}")
    extraction = extract(path, "a.rtf", "")
    assert (extraction.state, extraction.reason) == ("ready", "")
    return [element.text for element in extraction.elements]


def test_notes_and_comments_follow_their_paragraph_and_margins_come_last_and_once(tmp_path: Path) -> None:
    heads = rb"{\header Draft\par}{\headerl Draft\par}{\footer Page\par}"
    body = rb"Body{\footnote \pard a note} goes on{\*\annotation \pard ask}.\par Next\par"
    assert lines(tmp_path, heads + body) == ["Body goes on.", "a note", "ask", "Next", "Draft", "Page"]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (rb"1.\tab ", "1. Scope"),
        (rb"Article 2\tab ", "Article 2 Scope"),
        (rb"(iv)\tab ", "(iv) Scope"),
        (rb"\u8226?\tab ", "Scope"),
        (rb"o\tab ", "Scope"),
    ],
)
def test_automatic_numbers_are_read_and_dots_are_not(tmp_path: Path, label: bytes, expected: str) -> None:
    assert lines(tmp_path, rb"{\listtext\pard\plain " + label + rb"}\ls1 Scope\par") == [expected]


def test_a_note_in_a_table_stays_out_of_its_cells(tmp_path: Path) -> None:
    table = rb"\trowd\intbl name{\footnote \pard a note}\cell pay\cell\row\pard The end\par"
    assert lines(tmp_path, table) == ["name | pay", "a note", "The end"]
