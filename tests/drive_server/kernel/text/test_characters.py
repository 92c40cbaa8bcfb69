from __future__ import annotations

import unicodedata

import pytest

from drive_server.kernel.text.characters import CHARACTERS, fold, fold_case, fold_places, fold_words


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


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Résumé", "resume"),
        (unicodedata.normalize("NFD", "Résumé"), "resume"),
        ("naïve Müller Straße STRAẞE", "naive muller strasse strasse"),
        ("Łódź Ærø Đà Nẵng", "lodz aero da nang"),
        ("O’Brien OʼBrien O‘Brien O`Brien O＇Brien O´Brien", " ".join(["o'brien"] * 6)),
        ("ＡＢＣ１２３ ﬁnd", "abc123 find"),
        ("İSTANBUL ısı", "istanbul isi"),
        ("Άνθρωπος ΟΔΟΣ", "ανθρωποσ οδοσ"),
        ("ёлка замо́к", "елка замок"),
        ("مُحَمَّد أحمد שָׁלוֹם", "محمد احمد שלום"),
    ],
)
def test_words_are_compared_without_accents_and_with_one_apostrophe(text: str, folded: str) -> None:
    assert fold_words(text) == folded
    assert fold_words(fold_words(text)) == folded


@pytest.mark.parametrize("text", ["йод", "їжак", "がか パハ ぶ", "한국어", "हिन्दी", "ภาษาไทยนี้", "数据库"])
def test_marks_that_make_another_letter_stay(text: str) -> None:
    assert fold_words(text) == text
    assert fold_words(unicodedata.normalize("NFD", text)) == text


def test_phrases_are_compared_with_their_accents() -> None:
    assert fold_case("Résumé") == "résumé"


def test_the_places_of_a_folded_text_are_those_of_its_letters() -> None:
    folded, places = fold_places("Die Straße, das Résumé")
    assert folded == "die strasse, das resume"
    assert places[folded.index("resume")] == len("Die Straße, das ")
