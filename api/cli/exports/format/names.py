"""Names that every file system takes, and that stand in one folder together however it compares them."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Container

MAX_BYTES: Final = 120
"""UTF-8 bytes of a name: 143 is what an encrypting file system leaves of 255."""
MAX_PATH: Final = 180
"""UTF-16 units of a path below the export: Windows has 260 for all of it."""
LONGEST_SUFFIX: Final = 16
REPLACEMENT: Final = "_"
REFUSED: Final = frozenset('<>:"/\\|?*')
REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
RESERVED: Final = frozenset({"con", "prn", "aux", "nul", "conin$", "conout$"}) | {
    f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"
}
"""Devices of Windows, whatever follows a dot."""


def safe_name(name: str, taken: Container[str]) -> str:
    """Return a name like this one of which `key_of` is not taken. Writing from right to left stays, controls go."""
    text = unicodedata.normalize("NFC", name)
    text = "".join(REPLACEMENT if _is_refused(char) else char for char in text).rstrip(" .").lstrip()
    if not text or text.partition(".")[0].rstrip().lower() in RESERVED:
        text = REPLACEMENT + text
    free, number = shortened(text, ""), 2
    while key_of(free) in taken:
        free, number = shortened(text, f" ({number})"), number + 1
    return free


def key_of(name: str) -> str:
    """Return what file systems compare that fold case or decompose letters."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFC", name).casefold())


def shortened(name: str, mark: str, most: int = MAX_BYTES) -> str:
    """Put a mark before the suffix, and cut the stem so that the whole has no more bytes than that."""
    stem, suffix = split_suffix(name)
    room = most - len(f"{mark}{suffix}".encode())
    return stem.encode()[:room].decode("utf-8", "ignore").rstrip(" .") + mark + suffix


def split_suffix(name: str) -> tuple[str, str]:
    """Return the stem and the suffix with its dot; what is too long for one is none."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or not suffix or len(suffix.encode()) > LONGEST_SUFFIX or " " in suffix:
        return name, ""
    return stem, dot + suffix


def length_of(path: str) -> int:
    """Return the length of a path in UTF-16 units."""
    return len(path.encode("utf-16-le")) // 2


def _is_refused(char: str) -> bool:
    return char in REFUSED or unicodedata.category(char) in REFUSED_CATEGORIES
