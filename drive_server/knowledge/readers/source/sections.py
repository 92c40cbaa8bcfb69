"""Elements of texts with sections that follow from their lines: each piece under the names of its sections.

Source code of every language is read by the same rules: a line that declares a class, function or the like begins a
section, and the next line that is indented no further ends it. That needs no parser for each language, holds for code
that doesn't compile, and takes a time linear to its length.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from drive_server.knowledge.readers.source.declarations import declared_name
from drive_server.knowledge.readers.source.nested import MIN_NAMED, SCRAP, BrokenNestError, Nest
from drive_server.knowledge.readers.source.plain import blocks
from drive_server.knowledge.text.elements import Element

MAX_SECTIONS = 4_000
MAX_DEPTH = 40
_MIN_OF_MANY = 250
_TAB = 4
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n|\Z)")
_LONG_TOKEN = re.compile(
    # Tokens of several lines, in which nothing is declared:
    r'"""(?:[^"\\]++|\\.?|"(?!""))*+(?:"""|\Z)'
    r"|'''(?:[^'\\]++|\\.?|'(?!''))*+(?:'''|\Z)"
    r"|`[^`]*+(?:`|\Z)|/\*.*?(?:\*/|\Z)"
    # Tokens that may contain the beginning of such a token:
    r'|"(?:[^"\\\r\n]++|\\.?)*+(?:"|(?=[\r\n])|\Z)'
    r"|'(?:[^'\\\r\n]++|\\.?)*+(?:'|(?=[\r\n])|\Z)"
    r"|//[^\r\n]*+|(?<![^\s])\#[^\r\n]*+|--\s[^\r\n]*+",
    re.DOTALL,
)
_GOES_ON = re.compile(
    r"[})\]{]|\$\$|end\b|(?:BEGIN|END|AS)\b|(?:public|private|protected|default|case\b[^:]*|\w+)\s*:\s*$|#"
)
_LEADS = re.compile(r"//|/?\*|--|#(?!\s*(?:if|el|end|include|define|pragma)\b)|@|template\b|\[[\w.(\", )]+\]\s*$")
_YAML_KEY = re.compile(
    r"(?:-\s+)?(?P<name>[^\s#:'\"\[\]{},&*!|>%@`-][^#:\r\n]{0,99}|\"[^\"\r\n]{1,99}\"):\s*(?:[|>&!#][^\r\n]*)?$"
)
_INI_SECTION = re.compile(r"\[\[?\s*(?P<name>[^\]\r\n]{1,100}?)\s*\]\]?\s*(?:[#;].*)?$")


@dataclass(slots=True)
class Section:
    """A named span of a text. `indent` is that of the line with the name."""

    start: int
    end: int
    name: str
    indent: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    indent: int
    words: str


def code_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield the blocks of source code between blank lines, under their classes and functions."""
    stop = min(limit, len(text))
    inside = _inside_long_tokens(text, stop)
    lines = [line for line in _lines(text, stop) if not inside(line.start)]
    sections = _by_indent(lines, declared_name, _GOES_ON)
    yield from section_elements(text, stop, sections)


def nested_elements(nest_of: Callable[[str, int], Nest], text: str, limit: int) -> Iterator[Element]:
    """Yield the elements that `nest_of` finds in the first `limit` characters; as code, if it is broken."""
    try:
        nest = nest_of(text, min(limit, len(text)))
    except BrokenNestError:
        yield from code_elements(text, limit)
    else:
        yield from nest.elements(text)


def yaml_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield the blocks of YAML between blank lines, under the keys that lead to them."""
    stop = min(limit, len(text))
    sections = _by_indent(list(_lines(text, stop)), _yaml_name, re.compile(r"#|-\s"))
    yield from section_elements(text, stop, _at_least(MIN_NAMED, sections))


def ini_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield the blocks of TOML, INI and their like between blank lines, under the name of their section."""
    stop = min(limit, len(text))
    sections = [
        Section(line.start, stop, found["name"])
        for line in _lines(text, stop)
        if (found := _INI_SECTION.match(line.words))
    ]
    for section, following in pairwise(sections):
        section.end = following.start
    yield from section_elements(text, stop, sections)


def section_elements(text: str, stop: int, sections: Sequence[Section]) -> Iterator[Element]:
    """Yield the blocks of a text under the names of the sections, which come in order and lie in each other."""
    if len(sections) > MAX_SECTIONS:
        sections = _at_least(_MIN_OF_MANY, sections)
    position = 0
    within: list[Section] = []
    for section in (*sections, Section(stop, stop, "")):
        while within and within[-1].end <= section.start:
            yield from _stretch(text, position, within[-1].end, within)
            position = max(position, within.pop().end)
        if section.start - position >= SCRAP or not within or section.start == stop:
            yield from _stretch(text, position, section.start, within)
            position = section.start
        within.append(section)


def _stretch(text: str, start: int, end: int, within: Sequence[Section]) -> Iterator[Element]:
    path = tuple(section.name for section in within)
    for begin, finish in blocks(text, end, start, keep_indent=True):
        yield Element("code", text[begin:finish], begin, finish, path=path)


def _at_least(size: int, sections: Sequence[Section]) -> list[Section]:
    return [section for section in sections if section.end - section.start >= size]


def _by_indent(lines: Sequence[_Line], name_of: Callable[[str, str], str], goes_on: re.Pattern[str]) -> list[Section]:
    """Return the sections that lines begin. `name_of` gets a line and the next one, and returns a name or "".

    A section ends before the next line that is indented no further, unless that one `goes_on` with it.
    """
    sections: list[Section] = []
    within: list[Section] = []
    last, lead = 0, -1
    for number, line in enumerate(lines):
        leads = _LEADS.match(line.words) is not None
        if leads and lead < 0:
            lead = line.start
        following = lines[number + 1].words if number + 1 < len(lines) else ""
        name = "" if leads else name_of(line.words, following)
        if name or not (leads or goes_on.match(line.words)):
            while within and line.indent <= within[-1].indent:
                within.pop().end = last
        if name and len(within) < MAX_DEPTH:
            within.append(Section(lead if lead >= 0 else line.start, 0, name, line.indent))
            sections.append(within[-1])
        if not leads:
            last, lead = line.end, -1
    for section in within:
        section.end = last
    return sections


def _yaml_name(line: str, _following: str) -> str:
    found = _YAML_KEY.match(line)
    return found["name"].strip().strip('"') if found else ""


def _lines(text: str, stop: int) -> Iterator[_Line]:
    """Yield the lines that aren't blank."""
    for match in _LINE.finditer(text, 0, stop):
        words = match[0].strip()
        if words:
            before = match[0][: len(match[0]) - len(match[0].lstrip())]
            start = match.start()
            yield _Line(start, start + len(match[0].rstrip()), len(before.expandtabs(_TAB)), words)


def _inside_long_tokens(text: str, stop: int) -> Callable[[int], bool]:
    """Return whether an offset, each larger than the one before, is within a string or comment of several lines."""
    tokens = (match.span() for match in _LONG_TOKEN.finditer(text, 0, stop) if "\n" in match[0])
    current = next(tokens, None)

    def is_inside(offset: int) -> bool:
        nonlocal current
        while current and current[1] <= offset:
            current = next(tokens, None)
        return current is not None and current[0] < offset

    return is_inside
