from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.kernel.errors import InvalidNameError
from drive_server.services.tree.names import MAX_NAME_BYTES, clean_name, display_name, numbered_name


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
        ("\ufeff", "has nothing in it that can be seen"),
        ("\u200b\u200d\u2060", "has nothing in it that can be seen"),
        ("\u3164", "has nothing in it that can be seen"),
        ("\u2800\u00ad\u115f", "has nothing in it that can be seen"),
        ("\u200f\ufe0f", "has nothing in it that can be seen"),
        ("\u0301", "has nothing in it that can be seen"),
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
    "name",
    [
        "plan.md",
        "Résumé – naïve.md",
        "отчёт за май.docx",
        "Αναφορά.txt",
        "报告（最终版）.pdf",
        "C语言入门",
        "iPhone手机",
        "LINEแชท",
        "תוכנית עבודה.txt",
        "PDFקובץ.pdf",
        "تقرير.pdf",
        "می\u200cخواهم.txt",
        "क्\u200dष.txt",
        "ハンバーグ.md",
        "ﾊﾝﾊﾞｰｸﾞ",
        "ｐａｙ",
        "葛\U000e0100",
        "❤️ 1️⃣ 👩‍👩‍👧 👨🏽‍🚀 🏳️‍🌈",
        "m² 5 µm",
    ],
)
def test_honest_names_of_any_script_are_shown_as_they_are(name: str) -> None:
    assert clean_name(name) == name
    assert display_name(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("p\u0430yment.exe", "p\\u{430}yment.exe"),
        ("Appl\u0435 ID", "Appl\\u{435} ID"),
        ("g\u03bfogle", "g\\u{3bf}ogle"),
        ("\u0440\u0430y", "\u0440\u0430\\u{79}"),
        ("д\u043eкумeнт", "доку\u043c\\u{65}нт"),
        ("\U0001d429ay", "\\u{1d429}ay"),
        ("a\u200db", "a\\u{200d}b"),
        ("a\u200cb", "a\\u{200c}b"),
        ("👩\u200d\u200d👧", "👩\\u{200d}\\u{200d}👧"),
        ("a\ufe0fb", "a\\u{fe0f}b"),
        ("a\u3164b", "a\\u{3164}b"),
        ("a\u00adb", "a\\u{ad}b"),
        ("a\u061cb", "a\\u{61c}b"),
        ("\u200dא", "\\u{200d}א"),
        ("a\u2066b\u202ec", "a\\u{2066}b\\u{202e}c"),
    ],
)
def test_what_passes_for_something_else_is_marked(name: str, shown: str) -> None:
    assert display_name(name) == shown


def test_a_path_is_shown_name_by_name() -> None:
    assert display_name("/p\u0430y/报告/\ufe0fa\u200bb.md") == "/p\\u{430}y/报告/\\u{fe0f}a\\u{200b}b.md"
    assert display_name("/") == "/"


@given(st.text(max_size=60))
def test_nothing_invisible_is_left_in_what_is_shown(raw: str) -> None:
    shown = display_name(raw)
    hidden = {char for char in shown if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert hidden <= {"\u200c", "\u200d"}
    assert display_name(shown) == shown


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
