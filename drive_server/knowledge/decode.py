"""Bytes to text: UTF-8, UTF-16 and UTF-32 by their mark, GB18030, and Western European as the last resort."""

import codecs
import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from drive_server.knowledge.elements import MAX_CHARACTERS

SAMPLE_BYTES = 1 << 18
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
_MOST_CONTROLS = 0.005
_MOST_DAMAGE = 0.1
_LEAST_COMMON_HAN = 0.6
_MOST_ACCENTS = 0.25


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was read. `lossy`: bytes that are no text were replaced by U+FFFD, so it can't be written back.

    `truncated`: only the first `MAX_CHARACTERS` were kept.
    """

    text: str
    encoding: str
    lossy: bool = False
    truncated: bool = False


def decode(data: bytes) -> Decoded | None:
    """Return the text of a file's bytes; None if they are no text or their encoding can't be told."""
    return _decode(io.BytesIO(data))


def decode_file(path: Path) -> Decoded | None:
    """Return the text of a file; None as for `decode`. Reads no more than is kept. Blocks."""
    with path.open("rb") as file:
        return _decode(file)


def _decode(file: BinaryIO) -> Decoded | None:
    sample = file.read(SAMPLE_BYTES)
    marked = next((encoding for mark, encoding in _MARKS if sample.startswith(mark)), None)
    if marked:
        return _read(file, marked) or _read(file, marked, lossy=True)
    if _is_binary(sample):
        return None
    decoded = _read(file, "utf-8")
    if decoded:
        return decoded
    file.seek(0)
    return _without_utf8(file, _sample_beyond_ascii(file))


def _without_utf8(file: BinaryIO, sample: bytes) -> Decoded | None:
    if _is_damaged_utf8(sample):
        return _read(file, "utf-8", lossy=True)
    if _is_gb18030(sample):
        return _read(file, "gb18030") or _read(file, "gb18030", lossy=True)
    if sum(byte > 0x7F for byte in sample) <= _MOST_ACCENTS * len(sample):
        return _read(file, "cp1252") or _read(file, "latin-1")
    return None


def _read(file: BinaryIO, encoding: str, *, lossy: bool = False) -> Decoded | None:
    """Read at most what is kept; None if the bytes are not of this encoding."""
    file.seek(0)
    wrapper = io.TextIOWrapper(file, encoding, errors="replace" if lossy else "strict", newline="")
    try:
        text = wrapper.read(MAX_CHARACTERS + 1)
    except UnicodeError:
        return None
    finally:
        wrapper.detach()
    return Decoded(text[:MAX_CHARACTERS], encoding, lossy, len(text) > MAX_CHARACTERS)


def _is_binary(sample: bytes) -> bool:
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return b"\0" in sample or controls > _MOST_CONTROLS * len(sample)


def _sample_beyond_ascii(file: BinaryIO) -> bytes:
    """Return a sample that begins near the first byte that isn't ASCII, wherever in the file that is."""
    while block := file.read(SAMPLE_BYTES):
        if not block.isascii():
            first = next(index for index, byte in enumerate(block) if byte > 0x7F)
            return block[max(0, first - 64) :] + file.read(SAMPLE_BYTES // 4)
    return b""


def _is_damaged_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", errors="replace")
    beyond = [character for character in text if character > "\x7f"]
    return bool(beyond) and beyond.count("\ufffd") <= max(1, _MOST_DAMAGE * len(beyond)) < len(beyond)


def _is_gb18030(sample: bytes) -> bool:
    """Judge by how many double bytes are common Han (level 1 of GB 2312) or its punctuation.

    Almost any bytes decode as GB18030; text of other encodings hits rare characters.
    """
    text = sample.decode("gb18030", errors="replace")
    pairs = [encoded for character in text if (encoded := _double_byte(character))]
    common = sum(1 for lead, trail in pairs if (0xA1 <= lead <= 0xA3 or 0xB0 <= lead <= 0xD7) and trail >= 0xA1)
    return bool(pairs) and common >= _LEAST_COMMON_HAN * len(pairs)


def _double_byte(character: str) -> bytes | None:
    encoded = character.encode("gb18030")
    return encoded if len(encoded) == 2 else None
