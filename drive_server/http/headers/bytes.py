"""Headers of requests for bytes: conditions and ranges (RFC 9110, sections 13 and 14), media types, names."""

import re
from dataclasses import dataclass
from typing import Final

_RANGE = re.compile(r"bytes=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*", re.ASCII | re.IGNORECASE)

# HTTP clients send these when nobody chose a type: the file's name tells more.
UNCHOSEN: Final = frozenset(
    {"", "application/octet-stream", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}
)


class UnsatisfiableError(Exception):
    """The range begins after the end of the content."""


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes from `start` to `end` (exclusive)."""

    start: int
    end: int


def parse_range(header: str | None, size: int) -> Span | None:
    """Return the part of a content of `size` bytes that a Range header asks for; None for the whole of it.

    A header of another form, or with several ranges, is ignored, as section 14.2 allows. Raises `UnsatisfiableError`.
    """
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if not first:
        length = min(int(last), size)
        start, end = size - length, size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size or start >= end:
        raise UnsatisfiableError
    return Span(start, end)


def matches_etag(header: str | None, etag: str) -> bool:
    """Say whether an If-None-Match header names the etag (section 13.1.2, weak comparison)."""
    if not header:
        return False
    named = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return "*" in named or etag.removeprefix("W/") in named


def chosen_type(content_type: str) -> str | None:
    """Return the media type in a header, None for one that clients send without anybody's choice."""
    media_type = content_type.partition(";")[0].strip().lower()
    return None if media_type in UNCHOSEN else media_type
