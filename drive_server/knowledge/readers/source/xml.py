"""Elements of XML under the names of the elements that they are in, each with its place in the text.

Only tags are told from text: nothing is expanded, loaded or built, and time is linear in the text's length.
"""

import re
from collections import Counter
from collections.abc import Iterator

from drive_server.knowledge.readers.source.nested import LEAST_NAMED, BrokenNestError, Nest
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
    """Return what stands in the first `limit` characters, small things together; as code, if tags don't match."""
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
            nest.open(token.start(), token.end(), f"{called}[{number}]" if number > 1 else called, LEAST_NAMED)
        elif token[0].strip():
            nest.hold(*_trimmed(token))
    if names and stop == len(text):
        raise BrokenNestError
    return nest


def _called(name: str, attributes: str) -> str:
    """Return an element's name without its prefix, and what tells it from others of that name."""
    called = _CALLED.search(attributes)
    local = name.rpartition(":")[2]
    return f"{local} {called[1]}" if called else local


def _trimmed(token: re.Match[str]) -> tuple[int, int]:
    words = token[0]
    start = token.start() + len(words) - len(words.lstrip())
    return start, start + len(words.strip())
