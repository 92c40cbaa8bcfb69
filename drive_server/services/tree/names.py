"""The rules for the names of items: which are valid, when two are the same, and how one is shown."""

import unicodedata
from collections.abc import Iterator
from itertools import groupby

from drive_server.kernel.errors import InvalidNameError
from drive_server.kernel.escaping.characters import BIDI_CONTROLS, is_noncharacter
from drive_server.kernel.messages import Message
from drive_server.services.tree.lookalikes import (
    JOINERS,
    is_blank,
    is_joined,
    is_selecting,
    is_selector,
    is_visible,
    letters_of_another_script,
    passes_for_ascii,
)

MAX_NAME_BYTES = 255
RESERVED = frozenset({".", ".."})
SEPARATORS = frozenset("/\\")
SLASH_LOOK_ALIKES = frozenset("\u2044\u2215\u2216\u29f5\u29f8\u29f9")
FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def clean_name(raw: str) -> str:
    """Return the name in its stored form, NFC with its case kept. Two names are the same if these are equal.

    Raises `InvalidNameError` for an empty name and one of which nothing can be seen, `.`, `..`, separators, control
    and bidirectional override characters, lone surrogates, noncharacters, spaces at the ends, and more than 255 bytes
    of UTF-8.
    """
    if len(raw) > 4 * MAX_NAME_BYTES:
        raise _refused("name_long")
    name = unicodedata.normalize("NFC", raw)
    problem = _problem(name)
    if problem:
        raise _refused(problem)
    return name


def display_name(name: str) -> str:
    """Return the name as it may stand in a message: invisible and misleading characters are escaped."""
    if name.isascii() and name.isprintable():
        return name
    return "".join(_shown_word(name, start, end) for start, end in _words(name))


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
        (not name, "name_empty"),
        (name in RESERVED, "name_reserved"),
        (any(char in SEPARATORS for char in name), "name_slash"),
        (any(unicodedata.category(char) in FORBIDDEN_CATEGORIES for char in name), "name_control"),
        (any(is_noncharacter(char) for char in name), "name_noncharacter"),
        (any(char in BIDI_CONTROLS for char in name), "name_bidi"),
        (name != name.strip(), "name_spaces"),
        (not any(is_visible(char) for char in name), "name_invisible"),
        (len(name.encode(errors="replace")) > MAX_NAME_BYTES, "name_long"),
    )
    return next((code for found, code in checks if found), None)


def _refused(problem: str) -> InvalidNameError:
    message = Message.of("invalid_name", problem=Message.of(problem), limit=MAX_NAME_BYTES)
    return InvalidNameError(message, details={"limit": MAX_NAME_BYTES})


def _words(name: str) -> Iterator[tuple[int, int]]:
    """Yield where the runs of letters with their marks, and the runs of everything else, begin and end."""
    for _, run in groupby(range(len(name)), key=lambda place: unicodedata.category(name[place])[0] in "LM"):
        places = list(run)
        yield places[0], places[-1] + 1


def _shown_word(name: str, start: int, end: int) -> str:
    strangers = letters_of_another_script(name[start:end])
    return "".join(
        _escaped(name[place]) if _misleads(name, place) or name[place] in strangers else name[place]
        for place in range(start, end)
    )


def _escaped(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"


def _misleads(name: str, place: int) -> bool:
    char = name[place]
    if char in JOINERS:
        return not is_joined(name, place)
    if is_selector(char):
        return not is_selecting(name, place)
    category = unicodedata.category(char)
    is_odd_space = category == "Zs" and char not in " \u3000"
    is_hidden = category == "Cf" or category in FORBIDDEN_CATEGORIES or is_blank(char) or is_noncharacter(char)
    return is_odd_space or is_hidden or char in SLASH_LOOK_ALIKES or passes_for_ascii(char)
