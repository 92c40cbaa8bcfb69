"""The installed command in a namespace of mounts of its own, in which some paths are mounted read-only.

Modes of files do nothing where tests run as root. `main` takes the paths, `--`, and the words of the command.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from typing import Final

from tests.e2e import command

CLONE_NEWNS: Final = 0x00020000


def can_mount() -> bool:
    """Return whether this machine lets its user mount in a namespace."""
    return (
        sys.platform == "linux"
        and subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0
    )


def mount_read_only(path: str, *inside: str) -> None:
    """Mount a path over itself, read-only; `inside` is a command before, such as nsenter's."""
    for options in (["--bind", path, path], ["-o", "remount,ro,bind", path]):
        subprocess.run([*inside, "mount", *options], check=True, capture_output=True)


def main(arguments: list[str]) -> int:
    """Mount, and run the command."""
    cut = arguments.index("--")
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for path in arguments[:cut]:
        mount_read_only(path)
    return command.main(arguments[cut + 1 :])
