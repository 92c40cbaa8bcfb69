"""JSON as programs send it: half a surrogate pair, which JSON can write and no text can hold, becomes U+FFFD.

Languages with UTF-16 texts cut an emoji in two, and write one half as `\\ud83d` (RFC 8259, section 8.2).
"""

import re
from typing import Any, Final

import orjson

_ESCAPES: Final = re.compile(
    rb"(?P<cut>\\(?:u(?:[dD](?:[89abAB](?:[0-9a-fA-F](?:[0-9a-fA-F](?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?)?)?"
    rb"|[c-fC-F][0-9a-fA-F]?)?)?)?\Z)"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\.",
    re.DOTALL,
)
"""An escape that is cut off by the end, a pair, a half, or another escape: `\\\\ud83d` is a backslash and a word."""
_HALVES: Final = re.compile(rb"\\u[dD]")
_LONGEST: Final = 12
"""Bytes of the escapes of a pair."""
_REPLACEMENT: Final = rb"\ufffd"
_ENCODED_HALF: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""The three bytes that a program writes which encodes a half as if it were a character."""


class WholeCharacters:
    """Takes JSON in pieces, and returns it with U+FFFD in the place of each escaped half; no piece gets longer."""

    def __init__(self) -> None:
        self._cut = b""

    def feed(self, piece: bytes) -> bytes:
        """Return the piece, without an escape at its end that may continue."""
        if not self._cut and _HALVES.search(piece) is None and b"\\" not in piece[-_LONGEST:]:
            return piece
        text, self._cut = self._cut + piece, b""
        return _ESCAPES.sub(self._whole, text)

    def end(self) -> bytes:
        """Return the bytes that were held back."""
        cut, self._cut = self._cut, b""
        return cut

    def _whole(self, found: re.Match[bytes]) -> bytes:
        if found["cut"] is not None:
            self._cut = found["cut"]
            return b""
        return found[0] if found["half"] is None else _REPLACEMENT


def with_whole_characters(data: bytes) -> bytes:
    """Return JSON, or any bytes, with U+FFFD in the place of each half of a surrogate pair."""
    reader = WholeCharacters()
    text = reader.feed(data) + reader.end()
    return _ENCODED_HALF.sub("\ufffd".encode(), text)


def read_json(data: bytes | bytearray) -> Any:
    """Return the value of JSON in UTF-8. Raises `orjson.JSONDecodeError`, a ValueError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        mended = with_whole_characters(bytes(data))
        if mended == data:
            raise
    return orjson.loads(mended)
