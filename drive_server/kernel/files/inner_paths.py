"""Paths that a list names, read from a file or sent by somebody: the one check that they stay below their folder."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

REFUSED: Final = frozenset('\\:*?"<>|')
"""Separators, drives and streams of Windows, and characters that no name there may have."""
DELETE: Final = "\x7f"
RESERVED: Final = frozenset({"con", "prn", "aux", "nul", "conin$", "conout$"}) | {
    f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"
}
"""Devices of Windows, with anything after a dot."""
_IS_JUNCTION: Final[Callable[[Path], bool]] = getattr(os.path, "isjunction", lambda _: False)
"""A junction of Windows is no symbolic link."""


class OuterPathError(OSError):
    """A path leads, or may lead on some system, to something that is not below its folder."""


def is_inner(path: str) -> bool:
    """Say whether a path, with slashes, leads to something below its folder on every system.

    No absolute path, `..`, drive, backslash, control character, device, or name that Windows takes for another one.
    """
    return bool(path) and all(_is_name(name) for name in path.split("/"))


def inner_path(root: Path, path: str) -> Path:
    """Return the path below a folder. Raises `OuterPathError` if it leads elsewhere, also over a link in the tree."""
    if not is_inner(path):
        raise OuterPathError(path)
    target = root
    for name in path.split("/"):
        target /= name
        if target.is_symlink() or _IS_JUNCTION(target):
            raise OuterPathError(path)
    return target


def _is_name(name: str) -> bool:
    if name in {"", ".", ".."} or name != name.rstrip(" ."):
        return False
    if any(char in REFUSED or char < " " or char == DELETE or "\ud800" <= char <= "\udfff" for char in name):
        return False
    return name.partition(".")[0].rstrip().lower() not in RESERVED
