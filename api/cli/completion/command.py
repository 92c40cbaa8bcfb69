"""Prints the script of a shell, or the items of the drive that a script asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace


def completion(arguments: Namespace) -> int:
    """Print the script for a shell, or the paths that complete the last word of a line."""
    if arguments.line:
        from api.cli.completion.items import paths_for

        lines = paths_for(arguments.line)
    else:
        from api.cli.arguments import build_parser
        from api.cli.completion.grammar import commands_of
        from api.cli.completion.scripts import SCRIPTS

        lines = [SCRIPTS[arguments.shell]([*commands_of(build_parser())])]
    for line in lines:
        print(line)  # noqa: T201 - the output a shell reads
    return 0
