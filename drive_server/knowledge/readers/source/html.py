"""The text of web pages, as their readers see them.

A stream of libxml2's parser events is enough, and is linear in the page's length however deep its elements are nested;
a tree by the rules of HTML 5 is not. unstructured takes some ten times as long.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.knowledge.text.decode import decode_file
from drive_server.knowledge.text.elements import ElementKind, Extraction, Part, UnreadableError, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import Place

MAX_HTML_CHARACTERS = 20_000_000
_PIECE = 1 << 16
_TITLES = {f"h{level}": level for level in range(1, 7)}
_HIDDEN_TAGS = "script style head template noscript svg math iframe object select datalist dialog textarea"
_INLINE_TAGS = (
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img input ins kbd label mark nobr output q"
    " rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
_HIDDEN = frozenset(_HIDDEN_TAGS.split())
_INLINE = frozenset(_INLINE_TAGS.split())
_ITEMS = frozenset(("li", "dd", "dt"))
_CELLS = frozenset(("td", "th"))
_NOT_SHOWN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_BREAK = "\0"  # no parser lets it through


def html_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a web page. Blocks."""
    decoded = decode_file(path)
    if decoded is None:
        raise UnreadableError("unsupported", "The file is not text in an encoding that is known here.")
    note = f"Only the first {MAX_HTML_CHARACTERS:,} characters of HTML were read." if decoded.truncated else ""
    return join(html_parts(decoded.text), note)


def html_parts(text: str, place: Place | None = None) -> Iterator[Part]:
    """Yield headings, paragraphs, list items, tables and code of a page."""
    page = _Page(place)
    parser = etree.HTMLParser(target=page, remove_comments=True, remove_pis=True)
    for start in range(0, len(text), _PIECE):
        parser.feed(text[start : start + _PIECE])
        yield from page.take_parts()
    if text:
        parser.close()
    yield from page.take_parts()


class _Page:
    """The target of libxml2's events: collects words, and makes them a part where a block ends."""

    def __init__(self, place: Place | None) -> None:
        self._place = place
        self._parts: list[Part] = []
        self._words: list[str] = []
        self._hidden = 0
        self._title = 0
        self._items = 0
        self._preformatted = 0
        self._tables: list[_Table] = []

    def take_parts(self) -> list[Part]:
        """Return the parts that are complete, once."""
        parts, self._parts = self._parts, []
        return parts

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        if self._hidden or tag in _HIDDEN or (attributes and _is_hidden(attributes)):
            self._hidden += 1
        elif tag == "br":
            self._words.append(_BREAK)
        elif tag in _CELLS and self._in_table:
            self._words.clear()
        elif tag not in _INLINE:
            self._begin_block(tag)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if self._hidden:
            self._hidden -= 1
        elif self._in_table and tag in (*_CELLS, "tr"):
            self._tables[-1].take(tag, self._text())
        elif tag not in _INLINE and tag != "br":
            self._end_block(tag)

    def data(self, data: str) -> None:
        """Handle text."""
        if not self._hidden:
            self._words.append(data)

    def close(self) -> None:
        """Handle the end of the page."""
        self._finish()

    @property
    def _in_table(self) -> bool:
        return bool(self._tables) and not self._tables[-1].is_layout

    def _begin_block(self, tag: str) -> None:
        if tag == "table" or tag in _TITLES:
            self._lay_out()
        self._finish()
        self._title = _TITLES.get(tag, self._title)
        self._items += tag in _ITEMS
        self._preformatted += tag == "pre"
        if tag == "table":
            self._tables.append(_Table())

    def _end_block(self, tag: str) -> None:
        self._finish()
        if tag in _TITLES:
            self._title = 0
        self._items -= tag in _ITEMS
        self._preformatted -= tag == "pre"
        if tag == "table" and self._tables:
            self._add("table", self._tables.pop().text)

    def _lay_out(self) -> None:
        """Treat the open table as a layout grid that places headings and other tables on a page."""
        if self._in_table:
            self._add("table", self._tables[-1].text)
            self._tables[-1].is_layout = True

    def _finish(self) -> None:
        if self._in_table:
            self._words.append(" ")
            return
        text = self._text()
        if self._title:
            self._add("title", text)
        else:
            self._add("code" if self._preformatted > 0 else "list_item" if self._items > 0 else "text", text)

    def _text(self) -> str:
        text = "".join(self._words)
        self._words.clear()
        if self._preformatted > 0:
            return text.replace(_BREAK, "\n").strip("\n").rstrip()
        return "\n".join(" ".join(line.split()) for line in text.split(_BREAK)).strip()

    def _add(self, kind: ElementKind, text: str) -> None:
        if text:
            self._parts.append(Part(kind, text, level=self._title if kind == "title" else 0, place=self._place))


class _Table:
    """The rows of a table so far."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = [[]]
        self.is_layout = False

    def take(self, tag: str, text: str) -> None:
        """Add a cell at its end, and begin another row at the end of a row."""
        if tag == "tr":
            self._rows.append([])
        else:
            self._rows[-1].append(" ".join(text.split()))

    @property
    def text(self) -> str:
        """The rows with words, their cells between bars. Reading it clears them."""
        rows, self._rows = self._rows, [[]]
        return "\n".join(" | ".join(row) for row in rows if any(row))


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    return "hidden" in attributes or ("style" in attributes and _NOT_SHOWN.search(attributes["style"]) is not None)
