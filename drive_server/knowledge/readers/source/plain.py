"""Elements of plain text and comma-separated tables, each with its place in the unchanged text.

unstructured's own readers for these keep no offsets and split Chinese paragraphs.
"""

import re
from collections.abc import Iterator

from drive_server.kernel.text.characters import is_cjk
from drive_server.knowledge.text.elements import Element, ElementKind

_LINE = re.compile(r"[^\r\n]+")
_BLANK = re.compile(r"(?:\r\n|\r|\n)(?:[^\S\r\n]*+(?:\r\n|\r|\n))++")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•·●◦▪–]\s|[（(]?(?:\d{1,3}|[a-zA-Z]|[一二三四五六七八九十]{1,3})[.)）、]\s*\S)")
_INDENTED = re.compile(r"\u3000|\t| {2}")
_SENTENCE_END = re.compile(r"[.!?:;,。！？；：，、…][\"'”’」』）)】]*$")
_CJK_PARAGRAPH_END = re.compile(r"[。！？…：][\"”’」』）)】]*$")
_LONG_LINE = 80
_MAX_ROW = 10_000
_MAX_TITLE = 80
_MAX_CJK_TITLE = 30
_UNDERLINE = re.compile(r"[=\-~_*#]{3,}$")


def text_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield headings, paragraphs and list items of the first `limit` characters of a text."""
    found = list(blocks(text, min(limit, len(text))))
    for number, (start, end) in enumerate(found):
        paragraphs = list(_paragraphs(text, start, end))
        if len(paragraphs) == 1 and number + 1 < len(found) and _is_title(text[start:end]):
            yield Element("title", text[start:end], start, end, level=1)
        else:
            yield from (_paragraph(text, *span) for span in paragraphs)


def csv_elements(text: str, limit: int) -> Iterator[Element]:
    """Yield the rows of a comma- or tab-separated table; the first is the heading of the others."""
    begin: int | None = None
    kind: ElementKind = "title"
    for line in _LINE.finditer(text, 0, min(limit, len(text))):
        begin = line.start() if begin is None else begin
        row = text[begin : line.end()]
        if row.count('"') % 2 == 0 or len(row) > _MAX_ROW:
            yield Element(kind, row, begin, line.end(), level=1 if kind == "title" else 0)
            begin, kind = None, "table"
    if begin is not None:
        rest = text[begin:limit].rstrip()
        yield Element(kind, rest, begin, begin + len(rest))


def blocks(text: str, stop: int, start: int = 0, *, keep_indent: bool = False) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the blocks between blank lines in text[start:stop]."""
    for match in (*_BLANK.finditer(text, start, stop), None):
        end = match.start() if match else stop
        begin = end - len(text[start:end].lstrip("\r\n" if keep_indent else None))
        finish = begin + len(text[begin:end].rstrip())
        if begin < finish:
            yield begin, finish
        start = match.end() if match else stop


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs of a block: often the whole, but list items and lines of Chinese prose stand alone."""
    begin, previous = start, None
    for line in _LINE.finditer(text, start, end):
        if previous and _begins_paragraph(previous[0], line[0]):
            yield begin, previous.end()
            begin = line.end() - len(line[0].lstrip())
        previous = line
    yield begin, end


def _begins_paragraph(previous: str, line: str) -> bool:
    if _LIST_ITEM.match(line):
        return True
    if _INDENTED.match(line) and not _INDENTED.match(previous):
        return not _LIST_ITEM.match(previous)
    if not is_cjk(previous[-200:]):
        return False
    return _CJK_PARAGRAPH_END.search(previous.rstrip()) is not None or len(previous) > _LONG_LINE


def _paragraph(text: str, start: int, end: int) -> Element:
    words = text[start:end]
    kind: ElementKind = "list_item" if _LIST_ITEM.match(words) else "text"
    return Element(kind, words, start, end)


def _is_title(block: str) -> bool:
    lines = block.splitlines()
    longest = _MAX_CJK_TITLE if is_cjk(lines[0]) else _MAX_TITLE
    underlined = len(lines) == 1 or (len(lines) == 2 and _UNDERLINE.match(lines[1].strip()) is not None)
    return underlined and len(lines[0]) <= longest and not _SENTENCE_END.search(lines[0].rstrip())
