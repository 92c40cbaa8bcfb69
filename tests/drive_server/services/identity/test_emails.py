from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.kernel.errors import InvalidInputError
from drive_server.services.identity.emails import has_lookalike, normalise_email


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("Ana@Example.COM", "ana@example.com"),
        (" bob+lists@sub.example.co.uk ", "bob+lists@sub.example.co.uk"),
        ("me@localhost", "me@localhost"),
        ("李雷@例子.公司", "李雷@例子.公司"),
        ("Jose\u0301@example.com", "jos\u00e9@example.com"),
        ("STRASSE@example.com", "strasse@example.com"),
        ("straße@example.com", "strasse@example.com"),
        ("डाटा@उदाहरण.भारत", "डाटा@उदाहरण.भारत"),
    ],
)
def test_an_address_is_stored_in_one_form(raw: str, stored: str) -> None:
    assert normalise_email(raw) == stored


@pytest.mark.parametrize(
    "raw",
    [
        "",
        " ",
        "@",
        "ana",
        "ana@",
        "@example.com",
        "ana@@example.com",
        "ana@example..com",
        "ana@.example.com",
        "ana@example.com.",
        "ana@-example.com",
        ".ana@example.com",
        "a..na@example.com",
        "ana @example.com",
        "ana@exam ple.com",
        "ana@example.com\nBcc: eve@example.com",
        "ana\x00@example.com",
        "ana\u202e@example.com",
        "ana\u200b@example.com",
        "\ud800@example.com",
        "<ana@example.com>",
        "Ana <ana@example.com>",
        '"ana"@example.com',
        "ana@[127.0.0.1]",
        "ana@example.com,bob@example.com",
        "ana@example.com/../x",
        "a" * 65 + "@example.com",
        "ana@" + "a" * 64 + ".com",
        "ana@" + "a." * 200 + "com",
        "a" * 1_000_000,
    ],
)
def test_what_is_no_address_is_refused(raw: str) -> None:
    with pytest.raises(InvalidInputError):
        normalise_email(raw)


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_the_stored_form_is_its_own_stored_form(local: str, domain: str) -> None:
    try:
        stored = normalise_email(f"{local}@{domain}")
    except InvalidInputError:
        return
    assert normalise_email(stored) == stored
    assert unicodedata.is_normalized("NFC", stored)


@pytest.mark.parametrize("raw", ["ſam@example.com", "sam@e\u212aample.com", "strasse@straße.de", "ﬁn@a.de", "İ@a.de"])
def test_an_address_with_letters_that_fold_into_plain_ones_is_known(raw: str) -> None:
    assert has_lookalike(raw)


@pytest.mark.parametrize(
    "raw", ["Ana+x@Example.com", "ÉLISE@exämple.com", "e\u0301lise@a.fr", "张伟@例子.中国", "νίκος@a.gr"]
)
def test_letters_of_other_scripts_are_no_plain_ones(raw: str) -> None:
    assert not has_lookalike(raw)
