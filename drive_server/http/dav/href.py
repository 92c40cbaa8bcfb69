"""Addresses of items in answers; and paths on their way through wsgidav, which reads a destination as an address.

A `;`, a `?` or a line end would cut such an address. So each of them is replaced by its number between two
noncharacters, and so is that noncharacter itself: no two paths become one.
"""

import re
from typing import Final
from urllib.parse import quote

SAFE: Final = "/!*'(),$-_|.~"
SHIELD: Final = "\ufdd0"
BY_ID: Final = f"/{SHIELD}id{SHIELD}"
"""The beginning of a path that leads to an item by its id; no shielded path begins so."""
_SPECIAL: Final = re.compile(f"[?;#\x00-\x1f\x7f{SHIELD}]")
_SHIELDED: Final = re.compile(f"{SHIELD}([0-9a-f]+){SHIELD}")


def href_of(mount: str, path: str, *, is_folder: bool) -> str:
    """Return the address of a path below the mount; folders end with a slash."""
    return quote(f"{mount}{path}" if not is_folder or path.endswith("/") else f"{mount}{path}/", safe=SAFE)


def shielded(path: str) -> str:
    """Return the path as wsgidav gets it."""
    return _SPECIAL.sub(lambda match: f"{SHIELD}{ord(match[0]):x}{SHIELD}", path)


def plain(path: str) -> str:
    """Return the path, or a name of it, that was shielded."""
    return _SHIELDED.sub(lambda match: chr(int(match[1], 16)), path)
