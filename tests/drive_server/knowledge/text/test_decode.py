from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.knowledge.text import decode as decode_module
from drive_server.knowledge.text.decode import decode, decode_file
from tests.drive_server.knowledge.samples import LEAVE_ZH

if TYPE_CHECKING:
    from pathlib import Path


ENCODED = [
    ("員工可以休十二週的帶薪育兒假。需要提前三十天申請，並得到主管的批准。", "cp950"),
    ("従業員は十二週間の有給育児休暇を取得できます。", "cp932"),
    ("従業員は十二週間の有給育児休暇を取得できます。", "euc_jp"),
    ("従業員は十二週間の有給育児休暇を取得できます。", "iso2022_jp"),
    ("직원은 십이 주의 유급 육아 휴직을 사용할 수 있습니다.", "cp949"),
    ("Сотрудники могут взять двенадцать недель отпуска. Заявление подаётся.", "cp1251"),
    ("Plain words, as some programs of Windows write them.", "utf-16-le"),
    ("Plain words, as some programs of old write them.", "utf-16-be"),
    ("员工可以休十二周的带薪育儿假。需要提前三十天申请。", "utf-16-le"),
    ("Сотрудники могут взять двенадцать недель отпуска.", "utf-16-be"),
    ("Сотрудники могут взять двенадцать недель отпуска.", "koi8-r"),
    ("Акт приёма работ", "cp1251"),
    ("Акт приёма работ", "koi8-r"),
    ("ПРИКАЗ ДИРЕКТОРА", "cp1251"),
    ("ПРИКАЗ ДИРЕКТОРА", "koi8-r"),
    ("ДОГОВОР", "cp1251"),
    ("ФАМИЛИЯ;СУММА\nИВАНОВ;15", "koi8-r"),
    ("ΣΥΜΒΑΣΗ ΜΙΣΘΩΣΗΣ", "cp1253"),
    ("Καλημέρα σας, κύριε", "cp1253"),
    ("ข้อตกลงการเช่าบ้านและที่ดิน", "cp874"),
    ("اتفاقية إيجار المنزل", "cp1256"),
    ("Umowa najmu została podpisana w środę, żółty dom", "cp1250"),
    ("鋼材,40\n板,7\n", "cp932"),
    ("髙橋,35,名古屋\\n", "cp932"),
    ("漢字ｶﾅ,①,㈱山田\n髙﨑,12", "cp932"),
    ("№1,鋼材", "cp932"),
    ("品名,ｶﾅ\n木材,ﾓｸｻﾞｲ", "cp932"),
    ("租赁合同,45\n", "gb18030"),
    ("계약서 제1조", "cp949"),
]


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
        ("Größe über alles".encode("cp1252"), "Größe über alles", "cp1252"),
        *((text.encode(encoding), text, encoding) for text, encoding in ENCODED),
        *((f"id;name\n1;{text}\n".encode(encoding), f"id;name\n1;{text}\n", encoding) for text, encoding in ENCODED),
    ],
)
def test_text_is_read_in_its_encoding(data: bytes, text: str, encoding: str) -> None:
    decoded = decode(data)
    assert decoded is not None
    assert (decoded.text, decoded.encoding, decoded.lossy, decoded.truncated) == (text, encoding, False, False)


@pytest.mark.parametrize("text", ["Договор", "שלום", "สัญญา", "合同第一条"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_word_alone_in_utf_16_without_a_mark_is_read(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (text, encoding)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        bytes(range(256)),
        b"\x01\x02\x03" * 100,
        b"\0\1\2\3",
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


@pytest.mark.parametrize(
    "head",
    [
        '<?xml version="1.0" encoding="windows-1253"?><a>{}</a>',
        "<html><head><meta charset=windows-1253></head>{}</html>",
        '<meta http-equiv="Content-Type" content="text/html; charset=WINDOWS-1253">{}',
        "#!/usr/bin/python\n# -*- coding: cp1253 -*-\nprint('{}')",
    ],
)
def test_a_text_that_says_its_encoding_is_believed(head: str) -> None:
    text = head.format("Καλημέρα σας")
    decoded = decode(text.encode("cp1253"))
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (text, "cp1253")


@pytest.mark.parametrize("name", ["utf-8", "gb2312", "klingon", "base64", "rot13", "utf-16", "idna"])
def test_a_text_that_says_a_wrong_encoding_is_not(name: str) -> None:
    text = f"<meta charset={name}>{LEAVE_ZH}"
    for encoding in ("utf-8", "gb18030"):
        decoded = decode(text.encode(encoding))
        assert decoded is not None
        assert decoded.text == text


@pytest.mark.parametrize(
    ("language", "encoding", "words"), [("zh-TW", "cp950", "四"), ("ru", "koi8-r", "хеш"), ("he", "cp1255", "שם")]
)
def test_the_language_that_a_page_says_it_is_in_decides_about_few_words(
    language: str, encoding: str, words: str
) -> None:
    page = f"<html lang='{language}'><p>{words}</p></html>"
    decoded = decode(page.encode(encoding))
    assert decoded is not None
    assert decoded.text == page
