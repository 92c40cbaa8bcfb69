"""The envelope in which Outlook packs attachments for other mail programs: winmail.dat (MS-OXTNEF)."""

import struct
from collections.abc import Iterator

_SIGNATURE = b"\x78\x9f\x3e\x22"
_HEADER = struct.Struct("<BII")  # level, attribute, length; a checksum of two bytes follows the data
_KEY_BYTES = _CHECKSUM_BYTES = 2
_BODY, _RENDER_DATA, _TITLE, _DATA = 0x0002800C, 0x00069002, 0x00018010, 0x0006800F


def is_tnef(data: bytes) -> bool:
    """Return whether data begins as such an envelope."""
    return data.startswith(_SIGNATURE)


def unpacked(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files in an envelope, by name; its plain text, if it has any, has none. Stops where it is cut off."""
    name, content = "", b""
    for attribute, value in _attributes(data):
        if attribute == _BODY:
            yield "", value.rstrip(b"\0")
        elif attribute == _RENDER_DATA:  # begins an attachment
            if content:
                yield name, content
            name, content = "", b""
        elif attribute == _TITLE:
            name = _text(value)
        elif attribute == _DATA:
            content = value
    if content:
        yield name, content


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    position = len(_SIGNATURE) + _KEY_BYTES
    while position + _HEADER.size <= len(data):
        _, attribute, length = _HEADER.unpack_from(data, position)
        start = position + _HEADER.size
        yield attribute, data[start : start + length]
        position = start + length + _CHECKSUM_BYTES


def _text(value: bytes) -> str:
    value = value.split(b"\0")[0]
    for encoding in ("utf-8", "gb18030"):
        try:
            return value.decode(encoding)
        except UnicodeError:
            continue
    return value.decode("latin-1")
