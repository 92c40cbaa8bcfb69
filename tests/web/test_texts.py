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
IDENTIFIER = re.compile(r"""\bid: ["'][^"']*["']""")
LITERAL = re.compile(r"""["'`]([a-z_]+(?:\.[\w]+)+)["'`]""")
FAMILY = re.compile(r"`([a-z_]+(?:\.\w+)*\.)\$\{")
FILES = (".css", ".js", ".json", ".md", ".txt")
FORMS = {"en": {"one", "other"}, "zh": {"other"}}
"""What a plural has: Chinese has one form for all numbers."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key is there twice"
    return dict(pairs)


def words(folder: Path, language: str) -> dict[str, Any]:
    return json.loads((WEB / folder / f"{language}.json").read_text(), object_pairs_hook=once)


@cache
def code() -> str:
    return "\n".join(path.read_text() for path in WEB.rglob("*.js") if "vendor" not in path.parts)


def forms(value: Any) -> list[str]:
    return list(value.values()) if isinstance(value, dict) else [value]


def holes(value: Any) -> set[str]:
    return {name for form in forms(value) for name in HOLE.findall(form)}


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_both_languages_say_the_same(folder: Path) -> None:
    english, chinese = words(folder, "en"), words(folder, "zh")
    assert list(english) == list(chinese)
    for key, value in english.items():
        assert holes(value) == holes(chinese[key]), key
        assert isinstance(value, dict) == isinstance(chinese[key], dict), key


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_no_word_is_empty_and_each_plural_whole(folder: Path, language: str) -> None:
    for key, value in words(folder, language).items():
        assert all(form.strip() for form in forms(value)), key
        if isinstance(value, dict):
            assert set(value) == FORMS[language], key


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_each_word_is_said_somewhere(folder: Path) -> None:
    said, families = set(LITERAL.findall(code())), tuple(FAMILY.findall(code()))
    assert [key for key in words(folder, "en") if key not in said and not key.startswith(families)] == []


def test_what_is_said_has_words() -> None:
    """A string that begins like a key is one: `"files.copy"` is, `"files.js"` is a file."""
    known = {key for folder in FOLDERS for key in words(folder, "en")}
    beginnings = {key.split(".")[0] for key in known}
    said = {
        key
        for key in LITERAL.findall(IDENTIFIER.sub("", code()))
        if key.split(".")[0] in beginnings and not key.endswith(FILES)
    }
    assert sorted(said - known) == []
    families = {key for key in FAMILY.findall(code()) if key.split(".")[0] in beginnings}
    assert [family for family in families if not any(key.startswith(family) for key in known)] == []


def test_no_two_rooms_have_words_of_one_name() -> None:
    keys = [key for folder in FOLDERS for key in words(folder, "en")]
    assert len(keys) == len(set(keys))
