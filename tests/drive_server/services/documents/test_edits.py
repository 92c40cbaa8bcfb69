from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.kernel.errors import EditMismatchError, InvalidInputError
from drive_server.services.documents.edits import MAX_EDITS, Edit, apply_edits, nearest_lines


def mismatch(text: str, *edits: Edit) -> EditMismatchError:
    with pytest.raises(EditMismatchError) as caught:
        apply_edits(text, edits)
    return caught.value


def test_each_edit_sees_what_the_earlier_ones_left() -> None:
    assert apply_edits("one two", [Edit("one", "three"), Edit("three two", "four")]) == "four"


def test_an_edit_that_matches_twice_is_refused_with_both_places() -> None:
    error = mismatch("a day\nb\na day\n", Edit("a day", "x"))
    assert error.details == {
        "edit": 1,
        "matches": 2,
        "candidates": [{"line": 1, "text": "a day"}, {"line": 3, "text": "a day"}],
    }


def test_places_that_overlap_are_two_places() -> None:
    assert mismatch("aaa", Edit("aa", "b")).details["matches"] == 2


def test_an_edit_that_matches_nothing_gets_the_nearest_lines_best_first() -> None:
    text = "Preamble\nEmployees get 30 days of leave.\nManagers get 35 days of leave.\nEnd\n"
    candidates = mismatch(text, Edit("Employees get 30 days leave", "x")).details["candidates"]
    assert [entry["line"] for entry in candidates] == [2, 3]
    assert candidates[0]["text"] == "Employees get 30 days of leave."


def test_near_misses_in_chinese_and_in_spelling_are_found() -> None:
    assert nearest_lines("前言\n员工每年享有三十天假期。\n", "员工每年有三十天的假期") == [
        {"line": 2, "text": "员工每年享有三十天假期。"}
    ]
    assert nearest_lines("you will receive it\n", "recieve") == [{"line": 1, "text": "you will receive it"}]
    assert nearest_lines("    indented   line here\n", "indented line here")[0]["line"] == 1


def test_of_a_long_line_the_part_around_the_near_miss_is_shown() -> None:
    paragraph = "Nothing of note is said here. " * 40 + "You have 30 days of leave. " + "Nor is it here. " * 40
    candidates = nearest_lines(f"Title\n{paragraph}\n", "You have 30 day off")
    assert candidates[0]["line"] == 2
    assert "You have 30 days of leave." in candidates[0]["text"]
    assert len(candidates[0]["text"]) <= 200


def test_nothing_near_gives_no_candidates() -> None:
    assert nearest_lines("abc\n", "zzzz") == []
    assert nearest_lines("", "zzzz") == []
    assert nearest_lines("abc", "\n \n") == []


@pytest.mark.parametrize("edits", [[], [Edit("", "x")], [Edit("a", "b")] * (MAX_EDITS + 1)])
def test_no_edits_empty_ones_and_too_many_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(InvalidInputError):
        apply_edits("a", edits)


def test_line_ends_of_windows_are_kept() -> None:
    text = "one\r\ntwo\r\nthree\r\n"
    assert apply_edits(text, [Edit("one\ntwo", "1\n2")]) == "1\r\n2\r\nthree\r\n"
    assert apply_edits(text, [Edit("one\r\ntwo", "1\r\n2")]) == "1\r\n2\r\nthree\r\n"
    assert apply_edits("one\r\ntwo\nthree", [Edit("two\nthree", "x\ny")]) == "one\r\nx\ny"


@pytest.mark.parametrize(
    ("text", "find"),
    [
        ("a" * 10_000_000, "a" * 5_000_000),
        ("a" * 10_000_000, "a" * 4_000 + "b"),
        ("a\n" * 5_000_000, "a" * 300 + "b"),
        ("ab" * 5_000_000, "ba" * 2_000_000 + "c"),
        (" " * 10_000_000, " " * 100 + "x"),
        ("word " * 2_000_000, "word words wordy worded wording"),
        (("lorem ipsum dolor sit amet " * 8 + "\n") * 45_000, "lorem ipsum dolor sat amet"),
    ],
)
def test_ten_megabytes_of_hostile_text_take_bounded_time(text: str, find: str) -> None:
    begun = process_time()
    assert mismatch(text, Edit(find, "x")).details["edit"] == 1
    assert process_time() - begun < 20


@given(st.text(), st.text(min_size=1), st.text(), st.text())
def test_one_edit_replaces_its_place_and_nothing_else(before: str, find: str, replacement: str, after: str) -> None:
    text = before + find + after
    if "\r" in text or sum(text.startswith(find, place) for place in range(len(text))) != 1:
        return
    assert apply_edits(text, [Edit(find, replacement)]) == before + replacement + after
