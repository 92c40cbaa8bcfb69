"""The parser of a command: options among the values of one argument, and errors in the terminal's language."""

import argparse
import sys
from argparse import ONE_OR_MORE, ZERO_OR_MORE, Action, ArgumentParser
from typing import Any, Final, NoReturn

from api.cli.help import Help
from api.cli.texts import text, translated

MANY: Final = (ONE_OR_MORE, ZERO_OR_MORE)


class Parser(ArgumentParser):
    """A parser of a command whose options may also stand between the values of one argument."""

    _is_intermixed = False

    def __init__(self, *, formatter_class: Any = Help, **options: Any) -> None:
        super().__init__(formatter_class=formatter_class, **options)

    @property
    def actions(self) -> list[Action]:
        """Its options and arguments, one of which may have the parsers of its commands as `choices`."""
        return self._actions

    def format_usage(self) -> str:
        """Return the usage in English: while `argparse` parses, it cuts `usage: ` off by its length."""
        return self._usage("usage: ")

    def print_usage(self, file: Any = None) -> None:
        """Print the usage in the terminal's language."""
        self._print_message(self._usage(), file)

    def _usage(self, prefix: str | None = None) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups, prefix)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """Print the usage of the command and the error, and exit with 2."""
        self.print_usage(sys.stderr)
        self.exit(2, text("wrong_usage", prog=self.prog, message=message) + "\n")

    # The stub has overloads, by the type of the namespace.
    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        """Parse as `ArgumentParser` does, or as its `parse_known_intermixed_args`, which calls this in turn."""
        if self._is_intermixed or all(action.nargs not in MANY for action in self._get_positional_actions()):
            return super().parse_known_args(args, namespace)
        self._is_intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_intermixed = False


def _message(english: str) -> str:
    return translated("argparse", english)


def _message_of_count(one: str, other: str, count: int) -> str:
    return translated("argparse", one if count == 1 else other)


# `argparse` passes each message, before its values are in it, to these names, which are gettext's.
argparse.__dict__.update(_=_message, ngettext=_message_of_count)
