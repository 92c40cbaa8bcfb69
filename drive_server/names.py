"""The rules for the names of items: what may be one, when two are the same, and how one is shown."""

import unicodedata

from drive_server.errors import InvalidNameError

MAX_NAME_BYTES = 255
RESERVED = frozenset({".", ".."})
BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
SEPARATORS = frozenset("/\\")
SLASH_LOOK_ALIKES = frozenset("\u2044\u2215\u2216\u29f5\u29f8\u29f9")
ZERO_WIDTH_JOINER = "\u200d"
FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
HINT = "Use a name of 1 to 255 bytes without slashes, control characters or spaces at its ends."


def clean_name(raw: str) -> str:
    """Return the name in its stored form, NFC with its case kept. Two names are the same if these are equal.

    Raises `InvalidNameError` for an empty name, `.`, `..`, separators, control and bidirectional override
    characters, lone surrogates, spaces at the ends, and more than 255 bytes of UTF-8.
    """
    if len(raw) > 4 * MAX_NAME_BYTES:
        raise _refused("is too long")
    name = unicodedata.normalize("NFC", raw)
    problem = _problem(name)
    if problem:
        raise _refused(problem)
    return name


def display_name(name: str) -> str:
    """Return the name as it may stand in a message: what is invisible or looks like a separator is escaped."""
    return "".join(f"\\u{{{ord(char):x}}}" if _misleads(char) else char for char in name)


def numbered_name(name: str, number: int) -> str:
    """Return `plan (2).md` for `plan.md` and 2, cut so that it stays within the limit."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix) > 16:
        stem, dot, suffix = name, "", ""
    tail = f" ({number}){dot}{suffix}"
    room = MAX_NAME_BYTES - len(tail.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip() + tail


def _problem(name: str) -> str | None:
    checks = (
        (not name, "is empty"),
        (name in RESERVED, "is reserved"),
        (any(char in SEPARATORS for char in name), "contains a slash"),
        (any(unicodedata.category(char) in FORBIDDEN_CATEGORIES for char in name), "contains a control character"),
        (any(char in BIDI_CONTROLS for char in name), "contains a character that reverses the text direction"),
        (name != name.strip(), "begins or ends with a space"),
        (len(name.encode(errors="replace")) > MAX_NAME_BYTES, "is too long"),
    )
    return next((text for found, text in checks if found), None)


def _refused(problem: str) -> InvalidNameError:
    return InvalidNameError(f"The name {problem}.", hint=HINT, details={"limit": MAX_NAME_BYTES})


def _misleads(char: str) -> bool:
    if char in SLASH_LOOK_ALIKES:
        return True
    category = unicodedata.category(char)
    if category == "Cf":
        return char != ZERO_WIDTH_JOINER
    return category in FORBIDDEN_CATEGORIES or (category == "Zs" and char not in " \u3000")
