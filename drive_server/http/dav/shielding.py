"""Paths on their way through wsgidav, which reads a destination as an address: `;`, `?` and line ends would cut it.

A noncharacter with the number of the character stands for each of them, and for itself, so that no two paths are one.
"""

import re
from typing import Final

SHIELD: Final = "\ufdd0"
BY_ID: Final = f"/{SHIELD}id{SHIELD}"
"""The beginning of a path that leads to an item by its id; no shielded path begins so."""
_SPECIAL: Final = re.compile(f"[?;#\x00-\x1f\x7f{SHIELD}]")
_SHIELDED: Final = re.compile(f"{SHIELD}([0-9a-f]+){SHIELD}")


def shielded(path: str) -> str:
    """Return the path as wsgidav gets it."""
    return _SPECIAL.sub(lambda match: f"{SHIELD}{ord(match[0]):x}{SHIELD}", path)


def plain(path: str) -> str:
    """Return the path, or a name of it, that was shielded."""
    return _SHIELDED.sub(lambda match: chr(int(match[1], 16)), path)
