from __future__ import annotations

import re

from api.cli.texts import TEXTS
from api.cli.whole_drive_texts import WHOLE_DRIVE

FIELD = re.compile(r"\{(\w+)")


def test_no_code_stands_for_another_sentence_elsewhere() -> None:
    assert {code: TEXTS[code] for code in WHOLE_DRIVE} == WHOLE_DRIVE


def test_both_languages_have_the_same_fields() -> None:
    assert {
        code for code, pair in WHOLE_DRIVE.items() if len({frozenset(FIELD.findall(text)) for text in pair}) > 1
    } == set()
