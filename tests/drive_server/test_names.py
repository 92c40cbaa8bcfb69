from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.errors import InvalidNameError
from drive_server.names import MAX_NAME_BYTES, clean_name, display_name, numbered_name


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "Plan.md",
        "报告",
        "📄",
        "👩‍👩‍👧",
        "a b",
        "...",
        "-rf",
        "~",
        "CON",
        "é" * 127,
        "x" * 255,
        "תוכנית",
        "a：b／c",
    ],
)
def test_ordinary_names_of_any_script_pass_unchanged(name: str) -> None:
    assert clean_name(name) == name


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "is empty"),
        (".", "is reserved"),
        ("..", "is reserved"),
        ("a/b", "contains a slash"),
        ("..\\b", "contains a slash"),
        ("a\0b", "contains a control character"),
        ("a\nb", "contains a control character"),
        ("a\x7f", "contains a control character"),
        ("a\x85", "contains a control character"),
        ("a\u2028b", "contains a control character"),
        ("a\ud800", "contains a control character"),
        ("gpj.\u202eexe", "contains a character that reverses the text direction"),
        ("a\u2066b", "contains a character that reverses the text direction"),
        (" a", "begins or ends with a space"),
        ("a\u3000", "begins or ends with a space"),
        ("a" * 256, "is too long"),
        ("报" * 86, "is too long"),
        ("a" * 4096, "is too long"),
    ],
)
def test_names_that_mislead_or_break_things_are_refused(name: str, problem: str) -> None:
    with pytest.raises(InvalidNameError) as caught:
        clean_name(name)
    assert caught.value.message == f"The name {problem}."


def test_composed_and_decomposed_names_are_one_and_limits_count_the_composed_one() -> None:
    decomposed = unicodedata.normalize("NFD", "é" * 127)
    assert clean_name(decomposed) == "é" * 127


@given(st.text(max_size=300))
def test_a_clean_name_is_clean(raw: str) -> None:
    try:
        name = clean_name(raw)
    except InvalidNameError:
        return
    assert clean_name(name) == name
    assert 0 < len(name.encode()) <= MAX_NAME_BYTES


def test_marks_that_can_not_be_seen_are_shown_escaped() -> None:
    assert display_name("a\u200fb\u200bc") == "a\\u{200f}b\\u{200b}c"
    assert display_name("a\u2215b\u00a0c") == "a\\u{2215}b\\u{a0}c"
    assert display_name("报告　📄👩‍👧.md") == "报告　📄👩‍👧.md"


@pytest.mark.parametrize(
    ("name", "second"),
    [("plan.md", "plan (2).md"), ("plan", "plan (2)"), (".env", ".env (2)"), ("a.tar.gz", "a.tar (2).gz")],
)
def test_a_second_of_the_same_name_is_numbered_before_its_suffix(name: str, second: str) -> None:
    assert numbered_name(name, 2) == second


@given(st.text(min_size=1, max_size=255), st.integers(2, 10**9))
def test_a_numbered_name_is_a_name(raw: str, number: int) -> None:
    try:
        name = clean_name(raw)
    except InvalidNameError:
        return
    assert clean_name(numbered_name(name, number))
