"""Standard input, output and error, for a person or a pipe."""

from __future__ import annotations

import json
import os
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from drive_server.kernel.escaping.characters import NONCHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from re import Match

Entry = TypeVar("Entry")

# Control characters could move the cursor or recolour the screen, and bidirectional overrides make a name read as
# another: both may come from file names and from models, so both are shown as plain signs.
_UNSAFE = re.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff{NONCHARACTERS}]"
)
_LINE_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})


def visible(text: str) -> str:
    """Return the text with controls, bidirectional ones too, lone surrogates and noncharacters escaped."""
    return _UNSAFE.sub(_escaped, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """Return a name or value as `visible` does, on one line."""
    return visible(text).translate(_LINE_BREAKS)


def _escaped(match: Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


class Terminal:
    """Prints to standard output (the answer) and error (notes), and reads answers from standard input.

    Without a terminal, with NO_COLOR or TERM=dumb, the output has no control codes. `machine` moves the text for people
    to standard error, so that standard output has only the data for a program.
    """

    def __init__(self, *, machine: bool = False) -> None:
        self.err = _console(sys.stderr)
        self.out = self.err if machine else _console(sys.stdout)
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        self._machine = machine
        self._column_open = False

    @property
    def animated(self) -> bool:
        """Say whether standard error is a terminal, where progress may be redrawn."""
        return self.err.is_terminal

    def say(self, text: str = "", style: str = "") -> None:
        """Print a line (or several) on standard output."""
        self._end_line()
        self.out.print(Text(visible(text), style=style))

    def say_markdown(self, text: str) -> None:
        """Print a Markdown text: on a terminal as it is meant to look, to a pipe as it is."""
        self._end_line()
        if not self.out.is_terminal:
            self.say(text)
            return
        from rich.markdown import Markdown

        # Addresses are printed beside their words: a link that only shows its words could lead anywhere.
        self.out.print(Markdown(visible(text), hyperlinks=False), soft_wrap=False)

    def note(self, text: str, style: str = "dim") -> None:
        """Print a line on standard error."""
        self._end_line()
        self.err.print(Text(visible(text), style=style))

    def stream(self, text: str) -> None:
        """Print a part of a text at once, without a line end."""
        if text:
            # Before it is written: Ctrl-C may come right after, and text printed then needs a line of its own.
            self._column_open = not text.endswith("\n")
            self.out.file.write(visible(text))
            self.out.file.flush()

    def _end_line(self) -> None:
        if self._column_open:
            self.out.print()
            self._column_open = False

    def ask(self, question: str) -> str | None:
        """Return the person's line, None at the end of standard input."""
        self._end_line()
        if self.interactive and not self._machine:
            return _ask_person(visible(question))
        self.out.print(Text(visible(question)), end="")
        line = sys.stdin.readline() if sys.stdin is not None else ""
        self.out.print(Text(visible_line(line.rstrip("\r\n"))))
        return line.rstrip("\r\n") if line else None


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201 - the output a program reads


def print_list(
    terminal: Terminal, entries: Sequence[Entry], line: Callable[[Entry], str], none: str = "", *, as_json: bool
) -> int:
    """Print entries as a JSON array, or a line each and a note if there are none. Return the exit code."""
    if as_json:
        print_json(entries)
        return 0
    for entry in entries:
        terminal.say(line(entry))
    if none and not entries:
        terminal.note(none)
    return 0


def _ask_person(question: str) -> str | None:
    import_module("readline")  # its import gives input() line editing
    try:
        return input(question)
    except EOFError:
        print()  # noqa: T201 - the line that Ctrl-D left open
        return None


def _console(stream: TextIO) -> Console:
    coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Console(
        file=stream,
        force_terminal=coloured,
        color_system="auto" if coloured else None,
        soft_wrap=True,
        markup=False,
        highlight=False,
        emoji=False,
    )


def padded(words: str, columns: int) -> str:
    """Return the words with spaces after them, so that they take so many columns of a terminal."""
    return words + " " * (columns - cell_len(words))


def format_size(size: int) -> str:
    """Return a number of bytes as a person reads it (powers of 1000)."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"
