"""The command line: `drive-agent ...`. Everything it does in the drive goes through the service's HTTP endpoints."""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from api.cli.arguments import build_parser
from api.cli.failure import CommandError
from api.cli.invocation import again
from api.cli.texts import text
from drive_server.kernel.garbage_collector import paused_collector

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

__all__ = ["main"]


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed. Wrong usage exits with 2 (`SystemExit`)."""
    arguments = build_parser().parse_args(argv)
    _accept_any_text()
    try:
        code = command(arguments.target)(arguments)
        # An MCP session over standard output closes it at its end.
        if not sys.stdout.closed:
            sys.stdout.flush()
    except CommandError as error:
        return _fail(error.message, error.hint, again(arguments, error.attempt) if error.attempt else "")
    except KeyboardInterrupt:
        return _fail(text("stopped"))
    except BrokenPipeError:
        # Whoever read the output has gone; pointing it nowhere keeps the interpreter's own flush at exit quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def command(target: str) -> "Callable[[Namespace], int]":
    """Import the function that runs a command, given as `module:function` below this package."""
    module, _, function = target.partition(":")
    with paused_collector():
        imported = import_module(f"{__name__}.{module}")
    return cast("Callable[[Namespace], int]", getattr(imported, function))


def _accept_any_text() -> None:
    """Names and messages may hold characters that the terminal's encoding lacks: replace these rather than fail."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")


def _fail(message: str, hint: str = "", attempt: str = "") -> int:
    from api.cli.terminal import visible

    sys.stdout.flush()
    lines = [f"drive-agent: {message}", hint, text("try", command=attempt) if attempt else ""]
    sys.stderr.writelines(f"{visible(line)}\n" for line in lines if line)
    return 1
