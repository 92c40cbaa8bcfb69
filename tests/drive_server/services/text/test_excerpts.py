from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.services.text.excerpts import Wanted, cut


def wanted(
    start: int | None = None, end: int | None = None, first: int | None = None, last: int | None = None
) -> Wanted:
    return Wanted(start, end, first, last, limit=1_000)


@pytest.mark.parametrize(
    ("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2), ("a\r\nb\r\n", 2)]
)
def test_lines_are_counted_as_an_editor_counts_them(text: str, lines: int) -> None:
    assert cut(text, wanted()).total_lines == lines


@given(st.text(alphabet="ab\n报", max_size=40), st.integers(1, 12), st.integers(0, 6))
def test_lines_asked_for_are_the_lines_answered(text: str, first: int, more: int) -> None:
    span = cut(text, wanted(first=first, last=first + more))
    expected = "".join(text.splitlines(keepends=True)[first - 1 : first + more])
    assert text[span.start : span.end] == expected
    if expected:
        assert (span.first_line, span.last_line) == (first, first + len(expected.splitlines()) - 1)


@given(st.text(alphabet="ab\n报", max_size=40), st.integers(0, 50), st.integers(0, 50))
def test_characters_asked_for_are_the_characters_answered(text: str, start: int, length: int) -> None:
    span = cut(text, wanted(start=start, end=start + length))
    assert text[span.start : span.end] == text[start : start + length]
    assert 1 <= span.first_line <= span.last_line <= max(1, span.total_lines)
