from __future__ import annotations

import pytest

from drive_server.knowledge.text.characters import (
    CHARACTERS,
    fold,
    fold_case,
    replace_noncharacters,
    without_noncharacters,
)
from drive_server.knowledge.text.elements import Part, join


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("員工請假規則與軟體下載", "员工请假规则与软体下载"),
        ("衞生、衛生、裏面、裡面", "卫生、卫生、里面、里面"),
        ("ＡＢＣ１２％", "ABC12%"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("ﬁle №5", "file No5"),
        ("plain text, naïve café", "plain text, naïve café"),
        ("", ""),
        ("😀 שלום", "😀 שלום"),
    ],
)
def test_what_is_written_in_two_ways_has_one_form(written: str, same: str) -> None:
    assert fold(written) == same
    assert fold(same) == same


def test_simplified_text_stays_as_it_is() -> None:
    text = "年假制度、员工每年享有十五天带薪假期。发票编号为准。后来里面只有一台"
    assert fold(text) == text


def test_no_form_leads_to_another_form() -> None:
    text = "".join(line[1] for line in CHARACTERS.read_text(encoding="utf-8").splitlines())
    assert fold(text) == text


def test_case_and_spaces_do_not_count_where_letters_are_compared() -> None:
    assert fold_case("  Straße \n\t ＭＡＸ  ") == "strasse max"
    assert fold_case("𝐁𝐎𝐋𝐃 ſ") == "bold s"


@pytest.mark.parametrize("code", [0x0, 0x1B, 0x81, 0xD800, 0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF])
def test_code_points_that_are_no_characters_get_into_no_text(code: int) -> None:
    assert without_noncharacters(f"inter{chr(code)}national") == "international"
    assert replace_noncharacters(f"inter{chr(code)}national") == "inter\ufffdnational"
    assert join([Part("text", f"inter{chr(code)}national"), Part("text", chr(code))]).text == "international"


def test_letters_of_all_scripts_tabs_and_line_ends_stay() -> None:
    text = "naïve 育儿假 שלום 👍\u200d\t\r\n\u00ad\ue000\ufffd"
    assert without_noncharacters(text) == replace_noncharacters(text) == text
    assert without_noncharacters("one\x0btwo\x0cthree") == "one two three"
    assert replace_noncharacters("one\x0btwo\x0cthree") == "one\x0btwo\x0cthree"
