from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.knowledge import decode as decode_module
from drive_server.knowledge.decode import decode, decode_file
from tests.drive_server.knowledge.samples import LEAVE_ZH

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("plain, 中文, 😀 and עברית\r\n".encode(), "plain, 中文, 😀 and עברית\r\n", "utf-8"),
        (codecs.BOM_UTF8 + LEAVE_ZH.encode(), LEAVE_ZH, "utf-8-sig"),
        (LEAVE_ZH.encode("utf-16"), LEAVE_ZH, "utf-16"),
        (codecs.BOM_UTF16_BE + LEAVE_ZH.encode("utf-16-be"), LEAVE_ZH, "utf-16"),
        (LEAVE_ZH.encode("utf-32"), LEAVE_ZH, "utf-32"),
        (LEAVE_ZH.encode("gb18030"), LEAVE_ZH, "gb18030"),
        (f"Policy 2024: {LEAVE_ZH}\n".encode("gbk"), f"Policy 2024: {LEAVE_ZH}\n", "gb18030"),
        ("Le café de l'élan à Köln".encode("latin-1"), "Le café de l'élan à Köln", "cp1252"),
        ("It’s “quoted”".encode("cp1252"), "It’s “quoted”", "cp1252"),
    ],
)
def test_text_is_read_in_its_encoding(data: bytes, text: str, encoding: str) -> None:
    decoded = decode(data)
    assert decoded is not None
    assert (decoded.text, decoded.encoding, decoded.lossy, decoded.truncated) == (text, encoding, False, False)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        bytes(range(256)),
        b"\x01\x02\x03" * 100,
        "員工可以休十二週的帶薪育兒假。".encode("big5"),
        "Привет, как дела".encode("cp1251"),
    ],
)
def test_what_is_no_text_or_in_an_unknown_encoding_is_not_guessed_at(data: bytes) -> None:
    assert decode(data) is None


def test_damaged_utf8_is_read_and_said_to_be_lossy() -> None:
    decoded = decode(LEAVE_ZH.encode()[:-1])
    assert decoded is not None
    assert decoded.lossy
    assert decoded.text == LEAVE_ZH[:-1] + "\ufffd"


def test_gb18030_is_recognised_far_behind_a_long_ascii_beginning() -> None:
    text = "x" * 1_000_000 + LEAVE_ZH
    decoded = decode(text.encode("gb18030"))
    assert decoded is not None
    assert decoded.text == text


def test_line_ends_stay_as_they_are() -> None:
    decoded = decode(b"a\r\nb\rc\n")
    assert decoded is not None
    assert decoded.text == "a\r\nb\rc\n"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_unicode_text_comes_back_as_it_was(text: str) -> None:
    decoded = decode(text.encode())
    assert decoded is not None
    assert decoded.text == text.removeprefix("\ufeff")


def test_no_more_is_read_than_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode_module, "MAX_CHARACTERS", 10)
    path = tmp_path / "long.txt"
    path.write_text("育儿" * 8, encoding="utf-8")
    decoded = decode_file(path)
    assert decoded is not None
    assert (decoded.text, decoded.truncated) == ("育儿" * 5, True)
