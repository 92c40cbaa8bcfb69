"""Command lines for a person to type: with the data directory, the settings and the address as they were given."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

DATA_DIR: Final = "DRIVE_DATA_DIR"
WITHOUT_ADDRESS: Final = frozenset({"serve", "mcp", "doctor", "completion"})
"""Commands that talk to no service at --url."""


def command_line(
    words: Sequence[str], *, data_dir: Path | str | None = None, config: Path | None = None, url: str = ""
) -> str:
    """Return a line of a shell that runs `drive-agent` with these words."""
    line = [_command_name(), *words]
    if config:
        line += ["--config", str(config.absolute())]
    if url:
        line += ["--url", url]
    environment = f"{DATA_DIR}={shlex.quote(str(data_dir))} " if data_dir else ""
    return environment + shlex.join(line)


def again(arguments: Namespace, words: Sequence[str]) -> str:
    """Return the line that runs another command where this one works."""
    url = "" if words[0] in WITHOUT_ADDRESS else str(getattr(arguments, "url", None) or "")
    return command_line(words, data_dir=os.environ.get(DATA_DIR), config=getattr(arguments, "config", None), url=url)


def _command_name() -> str:
    """Return the name to type for this command: its virtual environment need not be on the PATH."""
    if shutil.which("drive-agent"):
        return "drive-agent"
    return os.path.relpath(sys.argv[0]) if os.path.exists(sys.argv[0]) else sys.argv[0]  # noqa: PTH110 - as typed
