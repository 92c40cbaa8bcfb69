"""The words of the page: complete in both languages, and none that nobody says."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

WEB = Path(__file__).parents[2] / "api" / "web"
FOLDERS = sorted(path.relative_to(WEB) for path in WEB.rglob("texts") if (path / "en.json").exists())
HOLE = re.compile(r"\{(\w+)\}")
LITERAL = re.compile(r"""["'`]([a-z_]+(?:\.[\w]+)+)["'`]""")
FAMILY = re.compile(r"`([a-z_]+(?:\.\w+)*\.)\$\{")
CALL = re.compile(r"""\btext\(\s*["']([^"']+)["']""")


def words(folder: Path, language: str) -> dict[str, Any]:
    return json.loads((WEB / folder / f"{language}.json").read_text())


@cache
def code() -> str:
    return "\n".join(path.read_text() for path in WEB.rglob("*.js") if "vendor" not in path.parts)


def holes(value: Any) -> set[str]:
    forms = value.values() if isinstance(value, dict) else [value]
    return {name for form in forms for name in HOLE.findall(form)}


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_both_languages_say_the_same(folder: Path) -> None:
    english, chinese = words(folder, "en"), words(folder, "zh")
    assert list(english) == list(chinese)
    for key, value in english.items():
        assert holes(value) == holes(chinese[key]), key
        assert value, key
        assert chinese[key], key


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_each_word_is_said_somewhere(folder: Path) -> None:
    said, families = set(LITERAL.findall(code())), tuple(FAMILY.findall(code()))
    assert [key for key in words(folder, "en") if key not in said and not key.startswith(families)] == []


def test_what_is_said_has_words() -> None:
    known = {key for folder in FOLDERS for key in words(folder, "en")}
    assert sorted(set(CALL.findall(code())) - known) == []


def test_no_two_rooms_have_words_of_one_name() -> None:
    keys = [key for folder in FOLDERS for key in words(folder, "en")]
    assert len(keys) == len(set(keys))
