from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.readers.source.html import html_parts
from drive_server.knowledge.text.omissions import Omissions

if TYPE_CHECKING:
    from pathlib import Path


def texts(markup: str) -> list[str]:
    return [part.text for part in html_parts(markup)]


def test_the_title_of_a_page_is_its_first_heading(tmp_path: Path) -> None:
    markup = "<html><head><title>Lease\n 2026</title></head><body><svg><title>Arrow</title></svg><p>See.</p></body>"
    (tmp_path / "blob").write_text(markup)
    extraction = extract(tmp_path / "blob", "a.html", "")
    assert [(one.kind, one.text) for one in extraction.elements] == [("title", "Lease 2026"), ("text", "See.")]


def test_the_text_that_stands_for_a_picture_is_read_where_the_picture_is() -> None:
    omissions = Omissions()
    markup = (
        "<p>See <img src='a' alt='plan of the second floor'>, <img src='rule' alt=''><img src='dot' width='1'>.</p>"
    )
    (part,) = html_parts(markup, omissions=omissions)
    assert part.text == "See plan of the second floor , ."
    assert omissions.counts == {}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "<tr><th rowspan=2>Site<th colspan=2>Output<tr><th>2024<th>2025<tr><td>Mill<td>31<td>32",
            "Site | Output |\n | 2024 | 2025\nMill | 31 | 32",
        ),
        ("<tr><td rowspan=3>A<td>1<tr><td>2<tr><td>3<tr><td>B<td>4", "A | 1\n | 2\n | 3\nB | 4"),
        ("<tr><td>1<td rowspan=2>x<td>2<tr><td>3<td>4", "1 | x | 2\n3 |  | 4"),
        ("<tr><td>1<td rowspan=2>x<tr><td>3<tr><td>5<td>6", "1 | x\n3 |\n5 | 6"),
        ("<tr><td colspan='two'>1<td rowspan='-3'>2<tr><td colspan=0>3", "1 | 2\n3"),
    ],
)
def test_what_a_cell_covers_in_other_rows_and_columns_stays_blank(rows: str, expected: str) -> None:
    assert texts(f"<table>{rows}</table>") == [expected]


def test_a_span_without_end_does_not_fill_the_memory() -> None:
    (table,) = texts(f"<table><tr><td colspan={10**9} rowspan={10**30}>a<td>b<tr><td>c</table>")
    assert len(table) < 1_000


def test_an_equation_is_read_by_its_alternative_text() -> None:
    assert texts("<p>So <math alttext='E = mc^2'><mi>E</mi></math> holds.</p>") == ["So E = mc^2 holds."]
