"""The texts of `--help` in the terminal's language, laid out by the room that their letters take there."""

import re
import unicodedata
from argparse import Action, HelpFormatter, RawDescriptionHelpFormatter
from collections.abc import Iterator
from typing import Any, Final

from api.cli import texts

WIDE: Final = frozenset("WF")
"""The classes of letters that take two columns (Unicode, annex 11)."""

CHINESE_LETTER: Final = "\u2e80-\u9fff\uff01-\uff60"
WORD: Final = re.compile(rf"(?:[{CHINESE_LETTER}]|[^\s{CHINESE_LETTER}]+)[，。；：、）？！]*\s*")
"""A part that stays on one line: no line begins with a sign that ends something."""


def translated(text: str) -> str:
    """Return a text of `--help` in the terminal's language."""
    return texts.translated("help", text)


class Help(HelpFormatter):
    """Lays out the help of a command."""

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add how the command is used."""
        super().add_usage(usage, actions, groups, translated("usage: ") if prefix is None else prefix)

    def start_section(self, heading: str | None) -> None:
        """Begin a section."""
        super().start_section(translated(heading) if heading else heading)

    def add_text(self, text: str | None) -> None:
        """Add a paragraph."""
        super().add_text(translated(text) if text else text)

    def _get_help_string(self, action: Action) -> str | None:
        return translated(action.help) if action.help else action.help

    def _split_lines(self, text: str, width: int) -> list[str]:
        return super()._split_lines(text, width) if text.isascii() else [*_lines(text, width)]

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.isascii():
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in _lines(text, width - len(indent)))


class PlainHelp(RawDescriptionHelpFormatter, Help):
    """The same, with paragraphs as they are written."""


def _lines(text: str, width: int) -> Iterator[str]:
    """Yield lines of at most so many columns; Chinese may break after any letter, other words stay whole."""
    line, room = "", width
    for word in WORD.findall(" ".join(text.split())):
        columns = sum(1 + (unicodedata.east_asian_width(letter) in WIDE) for letter in word)
        if line and columns > room:
            yield line.rstrip()
            line, room = "", width
        line, room = line + word, room - columns
    if line.strip():
        yield line.rstrip()
