"""Elements of JSON (RFC 8259) and of JSON lines, under the keys that lead to them, each with its place in the text."""

import json
import re
from collections.abc import Iterator

from drive_server.knowledge.readers.source.nested import MIN_NAMED, MIN_NUMBERED, BrokenNestError, Nest
from drive_server.knowledge.readers.source.sections import nested_elements
from drive_server.knowledge.text.elements import Element

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]++|\\.?)*+(?:"(?P<key>\s*+:)?|\Z))|(?P<open>[\[{])|(?P<close>[\]}])"""
    r"""|//[^\n]*+|/\*.*?(?:\*/|\Z)|(?P<bare>[^\s"\[\]{},:/]++|/)""",
    re.DOTALL,
)
_CLOSING = {"[": "]", "{": "}"}
_MAX_KEY = 100


def json_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield the values of the first `limit` characters, small ones together; as code, if brackets don't match."""
    return nested_elements(_nest, text, limit)


class _Brackets:
    """The open brackets, and the number of values in each so far."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._counts = [0]

    def count(self) -> int:
        """Return the number of the value that begins here, from 0."""
        self._counts[-1] += 1
        return self._counts[-1] - 1

    def open(self, bracket: str) -> None:
        """Go into a value."""
        self._open.append(bracket)
        self._counts.append(0)

    def close(self, bracket: str) -> None:
        """Leave a value. Raises `BrokenNestError` if it did not begin with such a bracket."""
        if not self._open or _CLOSING[self._open.pop()] != bracket:
            raise BrokenNestError
        self._counts.pop()


def _nest(text: str, stop: int) -> Nest:
    nest, brackets = Nest(), _Brackets()
    key: tuple[int, str] | None = None
    for token in _TOKEN.finditer(text, 0, stop):
        start = key[0] if key else token.start()
        if token["key"]:
            key = token.start(), _name(token["string"][: -len(token["key"])])
            continue
        if token["close"]:
            brackets.close(token["close"])
            nest.close(token.end())
        elif token["open"]:
            number = brackets.count()
            name = key[1] if key else str(number) if nest.depth or number else ""
            nest.open(start, token.end(), name, MIN_NAMED if key or not name else MIN_NUMBERED)
            brackets.open(token["open"])
        elif token["string"] or token["bare"]:
            brackets.count()
            nest.add(start, token.end())
        key = None
    if nest.depth and stop == len(text):
        raise BrokenNestError
    return nest


def _name(quoted: str) -> str:
    """Return a key without quotes and escapes."""
    try:
        return " ".join(str(json.loads(quoted, strict=False)).split())[:_MAX_KEY]
    except ValueError:
        return quoted.strip('"')[:_MAX_KEY]
