"""Names that every file system takes, and that stand in one folder together however it compares them.

The one rule for names that leave the drive together: zip files, exports, and files that the command line fetches,
on every system, as nobody knows where they go next. Other names stay as they are.
"""

import unicodedata
from collections.abc import Container, Sequence
from typing import Final

from drive_server.kernel.escaping.characters import BIDI_CONTROLS
from drive_server.kernel.files.inner_paths import RESERVED

MAX_BYTES: Final = 255
"""UTF-8 bytes of a name on most disks; the drive's own limit, too."""
MAX_SUFFIX: Final = 16
REPLACEMENT: Final = "_"
REFUSED: Final = frozenset('<>:"/\\|?*')
REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cn", "Cs", "Zl", "Zp"})
"""Controls, lone surrogates, line ends; and code points without a character in Unicode, which Apple's file system
refuses."""


def portable_names(names: Sequence[str], most: int = MAX_BYTES) -> list[str]:
    """Return a name for each item of one folder, no two alike: those that need no other name keep theirs.

    A folder of 100,000 items takes about a second.
    """
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    safe = [_replaced(name) for name in names]
    found = [*safe]
    for place in sorted(range(len(names)), key=lambda place: (safe[place] != names[place], place)):
        first = numbers.get(key_of(safe[place]), 1)
        found[place], numbers[key_of(safe[place])] = _free(safe[place], taken, most, first)
        taken.add(key_of(found[place]))
    return found


def portable_name(name: str, taken: Container[str] = (), most: int = MAX_BYTES) -> str:
    """Return a name like this one, of `most` bytes, of which `key_of` is not taken.

    Characters that some system refuses become `_`; dots and spaces at the end go; a device's name gets an `_`.
    """
    return _free(_replaced(name), taken, most, 1)[0]


def key_of(name: str) -> str:
    """Return the form that file systems compare if they fold case or decompose letters."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFC", name).casefold())


def shortened(name: str, mark: str, most: int = MAX_BYTES) -> str:
    """Put a mark before the suffix, and cut the stem so that the whole has no more bytes than that."""
    stem, suffix = split_suffix(name)
    room = most - len(f"{mark}{suffix}".encode())
    if not mark and len(stem.encode()) <= room:
        return name
    return stem.encode()[:room].decode("utf-8", "ignore").rstrip(" .") + mark + suffix


def split_suffix(name: str) -> tuple[str, str]:
    """Return the stem and the suffix with its dot; one that is too long is none."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or not suffix or len(suffix.encode()) > MAX_SUFFIX or " " in suffix:
        return name, ""
    return stem, dot + suffix


def _free(safe: str, taken: Container[str], most: int, number: int) -> tuple[str, int]:
    """Return the first name that is free, with this number or a higher one; and the number after it."""
    while key_of(free := shortened(safe, f" ({number})" if number > 1 else "", most)) in taken:
        number += 1
    return free, number + 1


def _replaced(name: str) -> str:
    text = unicodedata.normalize("NFC", name)
    text = "".join(REPLACEMENT if _is_refused(char) else char for char in text).rstrip(" .") or REPLACEMENT
    stem, dot, rest = text.partition(".")
    return f"{stem}{REPLACEMENT}{dot}{rest}" if stem.rstrip().lower() in RESERVED else text


def _is_refused(char: str) -> bool:
    return char in REFUSED or char in BIDI_CONTROLS or unicodedata.category(char) in REFUSED_CATEGORIES
