"""Decoding of bytes: by a byte order mark, as UTF-8, as the page declares, or by detection."""

import codecs
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from drive_server.knowledge.text.elements import MAX_CHARACTERS
from drive_server.knowledge.text.encodings import (
    declared_encoding,
    encodings_of_language,
    guessed_encoding,
    wide_encoding,
)

SAMPLE_BYTES = 1 << 18
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
_MAX_CONTROLS = 0.005
_MAX_DAMAGE = 0.1
_HEAD_BYTES = 1024
_SHIFTED = b"\x1b$B"  # how Japanese begins in ISO-2022-JP, whose bytes are all ASCII


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was read.

    `lossy`: some bytes became U+FFFD; `truncated`: it is only the beginning; `doubtful`: it may be in another encoding.
    """

    text: str
    encoding: str
    lossy: bool = False
    truncated: bool = False
    doubtful: bool = False


def decode(data: bytes) -> Decoded | None:
    """Return the text of a file's bytes; None if they are no text or their encoding is unclear."""
    return _decode(io.BytesIO(data))


def decode_file(path: Path) -> Decoded | None:
    """Return the text of a file; None as for `decode`. Reads at most `MAX_CHARACTERS`. Blocks."""
    with path.open("rb") as file:
        return _decode(file)


def _decode(file: BinaryIO) -> Decoded | None:
    sample = file.read(SAMPLE_BYTES)
    marked = next((encoding for mark, encoding in _MARKS if sample.startswith(mark)), None)
    if marked:
        return _read(file, marked) or _read(file, marked, lossy=True)
    if _is_binary(sample):
        return _read_wide(file, sample)
    if _SHIFTED in sample and (decoded := _read(file, "iso2022_jp")):
        return decoded
    decoded = _read(file, "utf-8")
    if decoded:
        return decoded
    return _without_utf8(file, sample[:_HEAD_BYTES]) or _read_wide(file, sample)


def _read_wide(file: BinaryIO, sample: bytes) -> Decoded | None:
    wide = wide_encoding(sample)
    return _read(file, wide) if wide else None


def _without_utf8(file: BinaryIO, head: bytes) -> Decoded | None:
    """Decode as declared or, if that fails, by detection."""
    declared = declared_encoding(head)
    if declared and declared != "utf-8" and (decoded := _read(file, declared)):
        return decoded
    file.seek(0)
    sample = _sample_beyond_ascii(file)
    if _is_damaged_utf8(sample):
        return _read(file, "utf-8", lossy=True)
    found = guessed_encoding(sample, encodings_of_language(head))
    if not found.encoding:
        return None
    wider = "latin-1" if found.encoding == "cp1252" else ""
    decoded = _read(file, found.encoding) or (_read(file, wider) if wider else _read(file, found.encoding, lossy=True))
    return replace(decoded, doubtful=found.doubtful) if decoded else None


def _read(file: BinaryIO, encoding: str, *, lossy: bool = False) -> Decoded | None:
    """Read at most `MAX_CHARACTERS`; None if the bytes are not of this encoding."""
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
    return b"\0" in sample or controls > _MAX_CONTROLS * len(sample)


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
    return bool(beyond) and beyond.count("\ufffd") <= max(1, _MAX_DAMAGE * len(beyond)) < len(beyond)
