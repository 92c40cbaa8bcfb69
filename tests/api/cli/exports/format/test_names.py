"""Names in an export: what every file system takes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.exports.format.names import MAX_BYTES, REFUSED, RESERVED, key_of, safe_name

NAMES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=60), max_size=12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plan.md", "plan.md"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("LPT¹.log", "_LPT¹.log"),
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
    assert safe_name(name, ()) == expected


def test_names_that_a_disk_takes_for_the_same_get_numbers() -> None:
    taken = set[str]()
    given_names: list[str] = []
    for name in ("Plan.md", "plan.md", "PLAN.md", "Ä.md", "A\u0308.md"):
        safe = safe_name(name, taken)
        taken.add(key_of(safe))
        given_names.append(safe)
    assert given_names == ["Plan.md", "plan (2).md", "PLAN (3).md", "Ä.md", "Ä (2).md"]


@given(NAMES)
def test_any_names_become_different_names_that_any_disk_takes(names: list[str]) -> None:
    taken = set[str]()
    for name in names:
        safe = safe_name(name, taken)
        assert key_of(safe) not in taken
        taken.add(key_of(safe))
        assert 0 < len(safe.encode()) <= MAX_BYTES
        assert not REFUSED & set(safe)
        assert safe.strip(" .") or safe == "_"
        assert safe == safe.rstrip(" .")
        assert safe.partition(".")[0].rstrip().lower() not in RESERVED
        assert unicodedata.is_normalized("NFC", safe)
