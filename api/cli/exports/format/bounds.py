"""Files of an export read within bounds: their maker may have made them to fill the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api.cli.failure import CommandError
from api.cli.terminal import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

MAX_LINE_BYTES: Final = 16 << 20
"""The entry of an item: 100 versions, and the shares and links of thousands."""
MAX_WHOLE_BYTES: Final = 64 << 20
"""Bytes of documents that are read whole: a thread, the memories, a manifest that somebody laid out anew."""
MAX_LIST_BYTES: Final = 16 << 30
"""All lines of a list together."""


class TooLongError(CommandError):
    """A file, or a line of one, is larger than is read."""


def lines_of(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the lines of a list. Raises `TooLongError` for one that is too long, or too many."""
    total = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        total += len(line)
        if len(line) > MAX_LINE_BYTES or total > MAX_LIST_BYTES:
            raise too_long(name, MAX_LINE_BYTES if len(line) > MAX_LINE_BYTES else MAX_LIST_BYTES)
        yield line


def first_line(file: BinaryIO) -> bytes | None:
    """Return the first line; None if it is too long."""
    line = file.readline(MAX_LINE_BYTES + 1)
    return line if len(line) <= MAX_LINE_BYTES else None


def whole(file: BinaryIO, name: str) -> bytes:
    """Return a file. Raises `TooLongError` for one that is too long."""
    body = file.read(MAX_WHOLE_BYTES + 1)
    if len(body) > MAX_WHOLE_BYTES:
        raise too_long(name, MAX_WHOLE_BYTES)
    return body


def too_long(name: str, limit: int) -> TooLongError:
    """Return the error for a file that is not read."""
    return TooLongError.of("list_too_long", name=name, limit=format_size(limit))
