import unicodedata

import pytest

from api.cli.importing.scan import decoded, importable_name


@pytest.mark.parametrize(
    "name",
    ["plan.md", "报告 2026.docx", "👩‍👧 family.png", "مرحبا.txt", ".hidden", "a" * 255, "e\u0301.txt"],
)
def test_a_name_that_the_drive_takes_is_kept_in_nfc(name: str) -> None:
    assert importable_name(name, ()) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("a\nb.txt", "a_b.txt"),
        ("back\\slash.txt", "back_slash.txt"),
        ("bell\x07", "bell_"),
        ("evil\u202etxt.exe", "evil_txt.exe"),
        (" spaces ", "spaces"),
        (" ", "_"),
        (b"caf\xe9.txt".decode("utf-8", "surrogateescape"), "caf\ufffd.txt"),
    ],
)
def test_a_name_that_the_drive_refuses_is_replaced_by_one_like_it(raw: str, name: str) -> None:
    assert importable_name(raw, ()) == name


def test_a_name_that_is_too_long_is_cut_between_characters_and_keeps_its_suffix() -> None:
    name = importable_name("报" * 100 + ".markdown", ())
    assert name.endswith("报.markdown")
    assert 250 < len(name.encode()) <= 255


def test_the_same_name_in_two_forms_becomes_two_names() -> None:
    first = importable_name("é.txt", ())
    second = importable_name("e\u0301.txt", {first})
    assert (first, second) == ("é.txt", "é (2).txt")
    assert importable_name("é.txt", {first, second}) == "é (3).txt"
    assert importable_name("a" * 255, {"a" * 255}) == "a" * 251 + " (2)"


def test_bytes_that_are_no_text_are_shown_as_unreadable() -> None:
    assert decoded(b"\xff\xfe".decode("utf-8", "surrogateescape")) == "\ufffd\ufffd"
