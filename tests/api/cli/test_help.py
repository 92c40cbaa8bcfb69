"""`--help` of every command in the terminal's language, with a Chinese text for every English one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from api.cli import main
from api.cli.arguments import build_parser
from api.cli.completion.fish import fish_script
from api.cli.completion.grammar import commands_of
from api.cli.texts import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.cli.parser import Parser

HAN = re.compile("[\u4e00-\u9fff]")
SUPPRESSED = "==SUPPRESS=="
CHINESE = TEXTS.value("help", "zh")


def parsers(parser: Parser, path: str = "") -> Iterator[tuple[str, Parser]]:
    """Yield all parsers, by the words that lead to them."""
    yield path, parser
    for action in parser.actions:
        if isinstance(action.choices, dict):
            for name, below in action.choices.items():
                yield from parsers(below, f"{path} {name}".strip())


def texts_of(parser: Parser) -> Iterator[str]:
    """Yield the English texts of a parser: its own, those of its options, arguments and commands."""
    yield from (text for text in (parser.description, parser.epilog) if text)
    for action in parser.actions:
        choices = getattr(action, "_choices_actions", [])
        yield from (one.help for one in (action, *choices) if one.help and one.help != SUPPRESSED)


def test_every_text_of_every_command_has_its_chinese_and_none_is_left_over() -> None:
    named = {text for _, parser in parsers(build_parser()) for text in texts_of(parser)}

    assert named - CHINESE.keys() == set()
    assert CHINESE.keys() - named == {"usage: ", "positional arguments", "options"}


@pytest.mark.parametrize("english", CHINESE, ids=lambda text: text[:40])
def test_a_chinese_text_has_the_same_fields_and_is_chinese(english: str) -> None:
    def fields(text: str) -> set[str]:
        return set(re.findall(r"%\(\w+\)s|DRIVE_\w+|--[a-z]+\b", text))

    assert fields(CHINESE[english]) == fields(english)
    assert HAN.search(CHINESE[english])


@pytest.mark.parametrize("columns", ["40", "100"])
def test_the_help_of_every_command_is_chinese_in_a_chinese_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for path, parser in parsers(build_parser()):
        shown = " ".join(parser.format_help().split())
        assert shown.startswith(f"用法：{f'drive-agent {path}'.strip()}"), path
        assert "选项" in shown
        assert [text for text in texts_of(parser) if "%" not in text and " " in text and text in shown] == []
    assert "下载文件" in fish_script([*commands_of(build_parser())])


def test_a_command_shows_its_chinese_help_with_its_whole_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for line in (["get", "--help"], ["trash", "list", "--help"]):
        with pytest.raises(SystemExit):
            main(line)
        assert capsys.readouterr().out.startswith(f"用法：drive-agent {' '.join(line[:-1])}")


def test_the_help_is_english_in_any_other_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    assert [path for path, parser in parsers(build_parser()) if HAN.search(parser.format_help())] == []


def test_chinese_lines_are_no_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    get = dict(parsers(build_parser()))["get"]
    widths = [
        len(line) + len(re.findall("[\u3000-\u9fff\uff00-\uffef]", line)) for line in get.format_help().split("\n")
    ]
    assert max(widths) <= 60
