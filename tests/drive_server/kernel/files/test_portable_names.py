"""Names that leave the drive: what every file system takes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.kernel.files.portable_names import MAX_BYTES, REFUSED, RESERVED, key_of, portable_name, portable_names

NAMES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=60), max_size=12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plan.md", "plan.md"),
        ("CON", "CON_"),
        ("con.txt", "con_.txt"),
        ("nul.tar.gz", "nul_.tar.gz"),
        ("COM9 .txt", "COM9 _.txt"),
        ("LPT¹.log", "LPT¹_.log"),
        ("CONTRACT.txt", "CONTRACT.txt"),
        ("com10.txt", "com10.txt"),
        ("minutes: final.txt", "minutes_ final.txt"),
        ("bell\x07.txt", "bell_.txt"),
        ("👩\u200d💻 Größe.md", "👩\u200d💻 Größe.md"),
        ("..env", "..env"),
        ("a:b?.md", "a_b_.md"),
        ("dots...", "dots"),
        ("report ", "report"),
        ("דוח שנתי.txt", "דוח שנתי.txt"),
        ("safe\u202etxt.exe", "safe_txt.exe"),
        ("年度报告.docx", "年度报告.docx"),
        ("...", "_"),
    ],
)
def test_a_name_stays_as_it_is_unless_some_disk_refuses_it(name: str, expected: str) -> None:
    assert portable_name(name, ()) == expected


def test_names_that_a_disk_takes_for_the_same_get_numbers() -> None:
    taken = set[str]()
    given_names: list[str] = []
    for name in ("Plan.md", "plan.md", "PLAN.md", "Ä.md", "A\u0308.md"):
        safe = portable_name(name, taken)
        taken.add(key_of(safe))
        given_names.append(safe)
    assert portable_names(["Plan.md", "plan.md", "PLAN.md", "Ä.md", "A\u0308.md"]) == given_names
    assert given_names == ["Plan.md", "plan (2).md", "PLAN (3).md", "Ä.md", "Ä (2).md"]


def test_what_needs_no_other_name_keeps_its_own() -> None:
    assert portable_names(["a*b.txt", "a?b.txt", "a_b.txt", "A_B.TXT"]) == [
        "a_b (3).txt",
        "a_b (4).txt",
        "a_b.txt",
        "A_B (2).TXT",
    ]


@given(NAMES)
def test_any_names_become_different_names_that_any_disk_takes(names: list[str]) -> None:
    taken = set[str]()
    for name in names:
        safe = portable_name(name, taken)
        assert key_of(safe) not in taken
        taken.add(key_of(safe))
        assert 0 < len(safe.encode()) <= MAX_BYTES
        assert not REFUSED & set(safe)
        assert safe.strip(" .") or safe == "_"
        assert safe == safe.rstrip(" .")
        assert safe.partition(".")[0].rstrip().lower() not in RESERVED
        assert unicodedata.is_normalized("NFC", safe)
