"""Reads from the parsers the words that shells complete: commands, options, their values, arguments by place."""

from __future__ import annotations

import re
from argparse import REMAINDER, SUPPRESS, Action
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from api.cli.help import translated
from api.cli.parser import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.cli.parser import Parser

PROGRAM: Final = "drive-agent"
FILES: Final = "@files"
ITEMS: Final = "@items"
LOCAL_FILES: Final = frozenset({"DIR", "FILE", "TARGET"})
"""The names of arguments that are files of this computer."""
DRIVE_ITEMS: Final = "PATH"
"""The name of arguments that are items of the drive."""
TARGETS: Final[dict[tuple[str, ...], str]] = {("get",): FILES, ("put",): ITEMS}
"""For `get` and `put`: the kind of target that their later arguments may name, beside the kind of the first one."""


@dataclass(frozen=True, slots=True)
class Argument:
    """The kinds of words that complete an argument.

    `place` counts the arguments without an option from 0; with `is_last`, all later places complete the same way.
    """

    place: int
    is_last: bool
    kinds: tuple[str, ...]


@dataclass(slots=True)
class Command:
    """A command: the words of its `path`, and the words that may follow; `values` has those of each option."""

    path: tuple[str, ...]
    subcommands: dict[str, str] = field(default_factory=dict[str, str])
    options: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    arguments: list[Argument] = field(default_factory=list[Argument])

    @property
    def key(self) -> str:
        """Return the words of the path, with spaces between them."""
        return " ".join(self.path)

    @property
    def words(self) -> str:
        """Return the names of subcommands and options, with spaces between them."""
        return " ".join([*self.subcommands, *self.options])


def commands_of(parser: Parser, path: tuple[str, ...] = ()) -> Iterator[Command]:
    """Yield the command of a parser, then its subcommands."""
    command = Command(path)
    below: dict[str, Parser] = {}
    place = 0
    for action in parser.actions:
        if isinstance(action.choices, dict):
            below = action.choices
            helps = {choice.dest: translated(choice.help or "") for choice in _choices_of(action)}
            command.subcommands = {name: helps.get(name, "") for name in below}
        elif action.option_strings:
            _add_option(command, action)
        else:
            _add_argument(command, action, place)
            place += 1
    yield command
    for name, parser_below in below.items():
        yield from commands_of(parser_below, (*path, name))


def _add_option(command: Command, action: Action) -> None:
    if action.help == SUPPRESS:
        return
    summary = re.sub(r"\s+", " ", translated(action.help or "") % {"default": action.default, "prog": PROGRAM})
    values = tuple(map(str, action.choices or ())) or (ITEMS if action.metavar == DRIVE_ITEMS else FILES,)
    for option in action.option_strings:
        command.options[option] = summary
        if action.nargs != 0 and action.nargs != REMAINDER:
            command.values[option] = values


def _add_argument(command: Command, action: Action, place: int) -> None:
    command.subcommands.update(dict.fromkeys(map(str, action.choices or ()), ""))
    kinds = _kinds_of(action)
    if not kinds:
        return
    target = TARGETS.get(command.path)
    is_many = action.nargs in MANY
    command.arguments.append(Argument(place, is_many and not target, kinds))
    if target:
        command.arguments.append(Argument(place + 1, is_many, (*kinds, target)))


def _kinds_of(action: Action) -> tuple[str, ...]:
    if action.metavar == DRIVE_ITEMS:
        return (ITEMS,)
    return (FILES,) if action.metavar in LOCAL_FILES else ()


def _choices_of(action: Action) -> list[Action]:
    return getattr(action, "_choices_actions", [])
