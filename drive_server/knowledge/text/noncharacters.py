"""Code points that are no characters of a text, so that none reaches the index or a model."""

import re
from typing import Final

_BREAKS: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_NO_CHARACTERS: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
    + "]"
)
"""Control characters but tab and line ends, halves of surrogate pairs, noncharacters (Unicode, section 23.7)."""


def without_noncharacters(text: str) -> str:
    """Drop the code points that are no characters of a text; those that end a line or page become blanks."""
    if not _has_noncharacters(text):
        return text
    return _NO_CHARACTERS.sub("", _BREAKS.sub(" ", text))


def replace_noncharacters(text: str) -> str:
    """Put U+FFFD in the place of code points that are no characters, so that all offsets stay; page breaks stay too."""
    if not _has_noncharacters(text):
        return text
    return _NO_CHARACTERS.sub(lambda match: match[0] if _BREAKS.match(match[0]) else "\ufffd", text)


def _has_noncharacters(text: str) -> bool:
    """Return whether a text has any. The expression takes sixty times as long as to see that all else is printed."""
    if text.replace("\n", "").replace("\xa0", "").isprintable():
        return False
    return _NO_CHARACTERS.search(text) is not None
