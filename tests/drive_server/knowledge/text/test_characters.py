from __future__ import annotations

import pytest

from drive_server.knowledge.text.characters import CHARACTERS, fold, fold_case


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
