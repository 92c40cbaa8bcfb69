"""Characters that mislead: not seen, turning the direction of a text, or none at all."""

import re
import unicodedata
from typing import Final

BIDI_CONTROLS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Bidirectional controls (Unicode Annex 9) reverse how a name is shown, so that `txt.exe` looks like `exe.txt`."""
NONCHARACTERS: Final = "\ufdd0-\ufdef\ufffe\uffff" + "".join(
    chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)
)
"""Code points that are no characters (Unicode, section 23.7), as a class of a regular expression."""
_INVISIBLE: Final = (
    "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
"""Controls, line ends, bidirectional controls, characters without a glyph, halves of surrogate pairs, tags."""
_NONCHARACTER: Final = re.compile(f"[{NONCHARACTERS}]")
UNSAFE: Final = re.compile(f"[{_INVISIBLE}{NONCHARACTERS}]")
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})


def is_noncharacter(char: str) -> bool:
    """Return whether Unicode promises that the code point will never be a character."""
    return _NONCHARACTER.match(char) is not None


def number_of(char: str) -> str:
    """Return the number of a character that must not stand as itself, such as `\\x1b` and `\\u{202e}`."""
    return f"\\x{ord(char):02x}" if char <= "\xff" else f"\\u{{{ord(char):x}}}"


def plain_line(text: str) -> str:
    """Return the text as one line without characters that can't be seen."""
    return " ".join(without_unsafe(text).split())


def without_unsafe(text: str) -> str:
    """Return the text with a space for each end of a line, and without other characters that can't be seen."""
    return UNSAFE.sub(_blank, text)


def isolated(text: str) -> str:
    """Return a text to stand within a sentence: one that runs from right to left turns nothing around it (UAX #9)."""
    is_turned = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text)
    return f"\u2068{text}\u2069" if is_turned else text


def _blank(match: re.Match[str]) -> str:
    return " " if match[0] in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029" else ""
