from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from api.cli import texts
from api.cli.failure import CommandError

CODE = re.compile(r'(?:\btext|\bhint_of|Error\.of)\(\s*"([a-z_.]+)"')
SOURCE = Path(texts.__file__).parent


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("code", texts.TEXTS)
def test_a_sentence_says_the_same_in_both_languages(code: str) -> None:
    english, chinese = texts.TEXTS[code]

    assert fields(english) == fields(chinese)
    assert english
    assert chinese
    words = re.sub(r"\{\w+\}", "", english)
    assert bool(re.search("[A-Za-z]", words)) == bool(re.search("[\u4e00-\u9fff]", chinese))


def test_every_code_that_is_used_has_its_sentence() -> None:
    used = {code for path in SOURCE.rglob("*.py") for code in CODE.findall(path.read_text())}

    assert len(used) > 50
    assert used - texts.TEXTS.keys() - {"no_threads.hint"} == set()


@pytest.mark.parametrize(
    ("settings", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "zh_TW"}, "zh"),
    ],
)
def test_the_terminal_names_its_language(
    settings: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in texts.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    assert texts.language() == language


def test_an_error_has_its_hint_with_it() -> None:
    error = CommandError.of("is_folder", ref="/a")

    assert (error.message, error.hint) == ("/a is a folder.", "Add -r to take it with all that is in it.")
