"""Addresses of passages: as an MCP resource, and as a page for people. Pure."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

SCHEME: Final = "drive"
FILES: Final = "files"
PAGE: Final = "/f"
"""Where the pages are on which a file opens at a passage."""
_KEPT_IN_FRAGMENTS: Final = "=!:,-"
_NUMBERS: Final = frozenset({"version", "start", "end"})
_DIGITS: Final = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of one version of a file: offsets in characters, and its place as a person would look for it."""

    file_id: str
    version: int
    start: int
    end: int
    place: str = ""

    @property
    def uri(self) -> str:
        """The address as a resource: `drive://files/ID?version=3&start=120&end=480#page=2`."""
        return f"{SCHEME}://{FILES}/{self._rest}"

    def address(self, site: str) -> str:
        """Return the address of the page that opens the file there; `site` is the service's own, or empty."""
        return f"{site.rstrip('/')}{PAGE}/{self._rest}"

    @property
    def anchor(self) -> str:
        """The fragment of the address."""
        return self.place or "passage"

    @property
    def _rest(self) -> str:
        query = urlencode({"version": self.version, "start": self.start, "end": self.end})
        return f"{quote(self.file_id, safe='')}?{query}#{quote(self.anchor, safe=_KEPT_IN_FRAGMENTS)}"


@dataclass(frozen=True, slots=True)
class PassageAddress:
    """A parsed address of a passage: a version of a file, and offsets or else a place in it."""

    ref: str
    version: int | None
    start: int | None
    end: int | None
    place: str


def parse_passage(uri: str) -> PassageAddress | None:
    """Read the address of a passage; None for other addresses, which have neither query nor fragment."""
    parts = urlsplit(uri)
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    ref = unquote(parts.path.removeprefix("/"))
    is_one = parts.scheme == SCHEME and parts.netloc == FILES and ref and (parameters or parts.fragment)
    numbers = {name: int(value) for name, value in parameters if name in _NUMBERS and _DIGITS.fullmatch(value)}
    if not is_one or len(numbers) != len(parameters):
        return None
    start, end = numbers.get("start"), numbers.get("end")
    place = unquote(parts.fragment) if start is None and end is None else ""
    return PassageAddress(ref, numbers.get("version"), start, end, place)
