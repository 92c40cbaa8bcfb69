"""Elements of Markdown by CommonMark, each with its place in the unchanged text."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from drive_server.knowledge.readers.source.plain import text_elements
from drive_server.knowledge.text.elements import Element, ElementKind

_LINE_END = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(r"---[^\S\r\n]*(?:\r\n?|\n)(?:[^\r\n]*(?:\r\n?|\n))*?---[^\S\r\n]*(?=\r|\n|\Z)")
_MARKUP = re.compile(r"!?\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)|[*_`~]+(?=\S)|(?<=\S)[*_`~]+")
_KINDS: dict[str, ElementKind] = {"fence": "code", "code_block": "code", "html_block": "text", "table_open": "table"}


def markdown_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield the blocks of the first `limit` characters of a Markdown text."""
    stop = min(limit, len(text))
    body = _front_matter_end(text[:stop])
    if body:
        yield Element("text", text[:body].strip("-\r\n "), 0, body)
    lines = [0, *(match.end() for match in _LINE_END.finditer(text, body, stop)), stop]
    lines[0] = body
    found = False
    for element in _blocks(text, _parse(text[body:stop]), lines):
        found = True
        yield element
    if not found and not body:  # nested past the parser's depth, or nothing but markup
        yield from text_elements(text, stop)


def plain_heading(text: str) -> str:
    """Return a heading without its inline markup."""
    return _MARKUP.sub(lambda match: match[1] or "", text).strip()


def _parse(text: str) -> Sequence[Token]:
    # Only blocks matter: without the inline rules it is four times as fast.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    return parser.parse(text)


def _blocks(text: str, tokens: Sequence[Token], lines: list[int]) -> Iterator[Element]:
    in_items = 0
    skip_to = 0
    for index, token in enumerate(tokens):
        in_items += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        if token.map is None or token.map[0] < skip_to or token.type not in (*_KINDS, "heading_open", "paragraph_open"):
            continue
        start, end = _trim(text, lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)])
        if start < end:
            content = tokens[index + 1].content if token.type in ("heading_open", "paragraph_open") else text[start:end]
            yield _element(token, content, start, end, in_item=in_items > 0)
        skip_to = token.map[1]


def _element(token: Token, content: str, start: int, end: int, *, in_item: bool) -> Element:
    if token.type == "heading_open":
        return Element("title", plain_heading(content), start, end, level=int(token.tag[1:]))
    return Element("list_item" if in_item else _KINDS.get(token.type, "text"), content, start, end)


def _front_matter_end(text: str) -> int:
    """Return where the YAML between two lines of dashes at the very beginning ends; 0 without one."""
    match = _FRONT_MATTER.match(text)
    return match.end() if match else 0


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    begin = end - len(text[start:end].lstrip("\r\n"))
    return begin, begin + len(text[begin:end].rstrip())
