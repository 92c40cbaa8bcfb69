"""Bidirectional controls in running text (Unicode, UAX #9): overrides are taken out, all others end with their line.

An override shows `gpj.exe` as `exe.jpg`, and a control left open turns the words behind it, which may be ours.
Embeddings and isolates that are closed stay, as texts in Hebrew and Arabic need them.
"""

import re
from typing import Final

_OVERRIDES: Final = "\u202d\u202e"
_EMBEDDINGS: Final = "\u202a\u202b"
_ISOLATES: Final = "\u2066\u2067\u2068"
_END_OF_EMBEDDING: Final = "\u202c"
_END_OF_ISOLATE: Final = "\u2069"
_CONTROL: Final = re.compile(r"[\u202a-\u202e\u2066-\u2069]|[\n\r\x1c-\x1e\x85\u2029]")
MAX_OPEN: Final = 125
"""The greatest depth that UAX #9 knows (BD2); deeper controls are taken out."""


class BidiFilter:
    """Filters a text delta by delta; the joined output does not depend on where the deltas were cut."""

    def __init__(self) -> None:
        self._open: list[str] = []

    def feed(self, delta: str) -> str:
        """Return the delta without overrides, and with open controls closed before the end of a line."""
        return _CONTROL.sub(self._written, delta)

    def end(self) -> str:
        """Return the characters that close the open controls."""
        closing = "".join(map(_end_of, reversed(self._open)))
        self._open.clear()
        return closing

    def _written(self, match: re.Match[str]) -> str:
        sign = match[0]
        if sign in _OVERRIDES:
            self._begin(sign)
            return ""
        if sign in _EMBEDDINGS + _ISOLATES:
            return sign if self._begin(sign) else ""
        if sign == _END_OF_EMBEDDING:
            return self._end_embedding()
        if sign == _END_OF_ISOLATE:
            return self._end_isolate()
        return self.end() + sign

    def _begin(self, sign: str) -> bool:
        fits = len(self._open) < MAX_OPEN
        if fits:
            self._open.append(sign)
        return fits

    def _end_embedding(self) -> str:
        """Inside an isolate, ignore the end of an outer embedding; the end of an override goes with its beginning."""
        if not self._open or self._open[-1] in _ISOLATES:
            return ""
        return _end_of(self._open.pop())

    def _end_isolate(self) -> str:
        """Close it with all that began in it."""
        if not any(sign in _ISOLATES for sign in self._open):
            return ""
        closing = ""
        while (sign := self._open.pop()) not in _ISOLATES:
            closing += _end_of(sign)
        return closing + _END_OF_ISOLATE


def without_overrides(text: str) -> str:
    """Return a whole text filtered, for itself."""
    if text.isascii() or not _CONTROL.search(text):
        return text
    found = BidiFilter()
    return found.feed(text) + found.end()


def _end_of(sign: str) -> str:
    if sign in _OVERRIDES:
        return ""
    return _END_OF_ISOLATE if sign in _ISOLATES else _END_OF_EMBEDDING
