"""Elements of XML under the names of those that they are in, each with its place; nothing is expanded or loaded."""

import re
from collections import Counter
from collections.abc import Iterator

from drive_server.knowledge.readers.source.nested import MIN_NAMED, BrokenNestError, Nest
from drive_server.knowledge.readers.source.sections import nested_elements
from drive_server.knowledge.text.elements import Element

_NAME = r"[^\s<>/!?=\"'][^\s<>/=\"']*+"
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<![^\[>]*+(?:\[[^\]]*+\])?[^>]*+>?"
    rf"|<(?P<close>/)(?P<closed>{_NAME})\s*+>"
    rf"""|<(?P<name>{_NAME})(?P<attributes>(?:[^"'<>]++|"[^"<]*+"|'[^'<]*+')*+)>"""
    r"|(?P<text>[^<]++)|<",
    re.DOTALL,
)
_CALLED = re.compile(r"""\b(?:name|id|key|title)\s*=\s*["']([^"']{1,60})["']""")


def xml_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield the elements of the first `limit` characters, small ones together; as code, if tags don't match."""
    return nested_elements(_nest, text, limit)


def _nest(text: str, stop: int) -> Nest:
    nest = Nest()
    names: list[str] = []
    counts: list[Counter[str]] = [Counter()]
    for token in _TOKEN.finditer(text, 0, stop):
        if token["close"]:
            if not names or names.pop() != token["closed"]:
                raise BrokenNestError
            counts.pop()
            nest.close(token.end())
        elif token["name"] and not token["attributes"].endswith("/"):
            called = _called(token["name"], token["attributes"])
            counts[-1][called] += 1
            number = counts[-1][called]
            names.append(token["name"])
            counts.append(Counter())
            nest.open(token.start(), token.end(), f"{called}[{number}]" if number > 1 else called, MIN_NAMED)
        elif token[0].strip():
            nest.add(*_trimmed(token))
    if names and stop == len(text):
        raise BrokenNestError
    return nest


def _called(name: str, attributes: str) -> str:
    """Return an element's name without its prefix, with its own `name`, `id`, `key` or `title` attribute."""
    called = _CALLED.search(attributes)
    local = name.rpartition(":")[2]
    return f"{local} {called[1]}" if called else local


def _trimmed(token: re.Match[str]) -> tuple[int, int]:
    words = token[0]
    start = token.start() + len(words) - len(words.lstrip())
    return start, start + len(words.strip())
