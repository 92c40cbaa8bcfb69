"""The facts that the bytes of a PDF tell before it is parsed; a file is read once for all of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

_PIECE: Final = 1 << 20
_TAIL_BYTES: Final = 8192
_PICTURE: Final = b"/Image"
_ENDS: Final = (b"startxref", b"%%EOF")


@dataclass(frozen=True, slots=True)
class FirstLook:
    """A PDF: its bytes if they are few, else its path.

    `has_end`: it ends as a PDF does; pdfium repairs some that don't without saying so. `may_have_pictures`: it names
    pictures at all: the dictionary of a picture is never compressed (ISO 32000-2, section 7.5.7).
    """

    source: bytes | Path
    has_end: bool
    may_have_pictures: bool


def look_at(path: Path) -> FirstLook:
    """Read a file and return the facts that its bytes tell. Blocks."""
    with path.open("rb") as file:
        piece = file.read(_PIECE)
        if len(piece) < _PIECE:
            return FirstLook(piece, _has_end(piece[-_TAIL_BYTES:]), _PICTURE in piece)
        has_pictures = any(_PICTURE in some for some in _overlapping(piece, file))
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        return FirstLook(path, _has_end(file.read()), has_pictures)


def _has_end(tail: bytes) -> bool:
    return any(end in tail for end in _ENDS)


def _overlapping(piece: bytes, file: BinaryIO) -> Iterator[bytes]:
    """Yield a piece and those behind it, each with the end of the one before."""
    last = b""
    while piece:
        yield last + piece
        last, piece = piece[-len(_PICTURE) :], file.read(_PIECE)
