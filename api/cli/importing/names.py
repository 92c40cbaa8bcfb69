"""Turn names of this computer into names of the drive: NFC, with refused characters replaced."""

import unicodedata
from collections.abc import Container

MAX_NAME_BYTES = 255
REPLACEMENT = "_"
LONGEST_SUFFIX = 16
REFUSED_CHARACTERS = frozenset("/\\\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def decoded(raw: str) -> str:
    """Return a name from the file system as text in NFC; bytes that are not UTF-8 become U+FFFD."""
    return unicodedata.normalize("NFC", raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def is_text(raw: str) -> bool:
    """Return whether a name from the file system is UTF-8."""
    return raw.isascii() or not any("\udc80" <= char <= "\udcff" for char in raw)


def importable_name(raw: str, taken: Container[str]) -> str:
    """Return a name that the drive accepts and that is not taken, as close to the raw one as possible."""
    name = "".join(REPLACEMENT if _is_refused(char) else char for char in decoded(raw)).strip()
    name = _within_limit(name or REPLACEMENT, "")
    if name in {".", ".."}:
        name = REPLACEMENT
    number, free = 2, name
    while free in taken:
        free = _within_limit(name, f" ({number})")
        number += 1
    return free


def _is_refused(char: str) -> bool:
    return char in REFUSED_CHARACTERS or unicodedata.category(char) in REFUSED_CATEGORIES


def _within_limit(name: str, mark: str) -> str:
    """Put a mark before the suffix, and cut the stem so that the whole has 255 bytes at most."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix) > LONGEST_SUFFIX:
        stem, dot, suffix = name, "", ""
    tail = f"{mark}{dot}{suffix}"
    return stem.encode()[: MAX_NAME_BYTES - len(tail.encode())].decode("utf-8", "ignore").rstrip() + tail
