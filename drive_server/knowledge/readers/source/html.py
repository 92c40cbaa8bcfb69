"""The text of web pages, as their readers see them.

A stream of libxml2's parser events is enough, and is linear in the page's length however deep its elements are nested;
a tree by the rules of HTML 5 is not. unstructured takes some ten times as long.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.knowledge.text.decode import decode_file
from drive_server.knowledge.text.elements import ElementKind, Extraction, Part, join
from drive_server.knowledge.text.omissions import OmissionKind, Omissions
from drive_server.knowledge.text.place import SourceRange
from drive_server.knowledge.text.unreadable import UnreadableError

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
_SHOWN_BY_BROWSERS: Mapping[str, OmissionKind] = {
    "svg": "drawing",
    "math": "equation",
    "iframe": "embedded",
    "object": "embedded",
}
_MAX_SPAN = 100
_SPACER_PIXELS = 8
_BREAK = "\0"  # no parser lets it through


def html_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a web page. Blocks."""
    decoded = decode_file(path)
    if decoded is None:
        raise UnreadableError("not_text")
    parts = html_parts(decoded.text, omissions=omissions, with_title=True)
    omissions.add("length", MAX_HTML_CHARACTERS if decoded.truncated else 0)
    omissions.add("encoding", int(decoded.doubtful))
    return join(parts)


def html_parts(
    text: str, place: SourceRange | None = None, *, omissions: Omissions | None = None, with_title: bool = False
) -> Iterator[Part]:
    """Yield headings, paragraphs, list items, tables and code of a page, and its title if asked for."""
    page = _Page(place, omissions or Omissions(), with_title=with_title)
    parser = etree.HTMLParser(target=page, remove_comments=True, remove_pis=True)
    for start in range(0, len(text), _PIECE):
        parser.feed(text[start : start + _PIECE])
        yield from page.take_parts()
    if text:
        parser.close()
    yield from page.take_parts()


class _Page:
    """The target of libxml2's events: collects words, and makes them a part where a block ends."""

    def __init__(self, place: SourceRange | None, omissions: Omissions, *, with_title: bool) -> None:
        self._place = place
        self._omissions = omissions
        self._with_title = with_title
        self._page_title: list[str] | None = None
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
            self._hide(tag, attributes)
        elif tag == "br":
            self._words.append(_BREAK)
        elif tag == "img":
            self._show_picture(attributes)
        elif tag in _CELLS and self._in_table:
            self._words.clear()
            self._tables[-1].begin_cell(_span(attributes, "colspan"), _span(attributes, "rowspan"))
        elif tag not in _INLINE:
            self._begin_block(tag)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if self._hidden:
            self._hidden -= 1
            if tag == "title" and self._page_title is not None:
                self._end_page_title()
        elif self._in_table and tag in (*_CELLS, "tr"):
            self._tables[-1].take(tag, self._text())
        elif tag not in _INLINE and tag != "br":
            self._end_block(tag)

    def data(self, data: str) -> None:
        """Handle text."""
        if not self._hidden:
            self._words.append(data)
        elif self._page_title is not None:
            self._page_title.append(data)

    def close(self) -> None:
        """Handle the end of the page."""
        self._finish()

    def _hide(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Skip an element with all in it; count it if a person would see something there."""
        if tag == "title" and self._with_title and self._hidden == 1:  # in the head, not in a drawing
            self._page_title = []
        if not self._hidden and tag in _SHOWN_BY_BROWSERS and not _is_hidden(attributes):
            words = attributes.get("alttext") or attributes.get("aria-label") or ""
            self._words.append(f" {words} ")
            self._omissions.add(_SHOWN_BY_BROWSERS[tag], int(not words.strip()))
        self._hidden += 1

    def _end_page_title(self) -> None:
        title, self._page_title, self._with_title = " ".join("".join(self._page_title or ()).split()), None, False
        if title:
            self._parts.append(Part("title", title, level=1, place=self._place))

    def _show_picture(self, attributes: Mapping[str, str]) -> None:
        """Read the text that stands for a picture; an empty one says that it is decoration (HTML, 4.8.4.4)."""
        words = attributes.get("alt")
        if words is None:
            self._omissions.add("picture", int(not _is_spacer(attributes)))
        elif words.strip():
            self._words.append(f" {words} ")

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
        self._spans = 1, 1
        self._covered: dict[int, int] = {}
        self.is_layout = False

    def begin_cell(self, columns: int, rows: int) -> None:
        """Note over how many columns and rows the cell that begins reaches."""
        self._spans = columns, rows

    def take(self, tag: str, text: str) -> None:
        """Add a cell at its end, and begin another row at the end of a row. Places that a cell covers stay blank."""
        if tag == "tr":
            self._cover()
            if self._rows[-1]:
                self._rows.append([])
            return
        self._cover()
        columns, rows = self._spans
        self._spans = 1, 1
        start = len(self._rows[-1])
        self._rows[-1] += [" ".join(text.split()), *[""] * (columns - 1)]
        if rows > 1:
            self._covered |= dict.fromkeys(range(start, start + columns), rows - 1)

    def _cover(self) -> None:
        """Leave the places blank that cells of the rows above cover here."""
        while (left := self._covered.get(len(self._rows[-1]), 0)) > 0:
            self._covered[len(self._rows[-1])] = left - 1
            self._rows[-1].append("")

    @property
    def text(self) -> str:
        """The rows with words, their cells between bars. Reading it clears them."""
        rows, self._rows = self._rows, [[]]
        return "\n".join(" | ".join(row).rstrip() for row in rows if any(row))


def _span(attributes: Mapping[str, str], name: str) -> int:
    digits = attributes.get(name, "1").strip()
    return min(_MAX_SPAN, max(1, int(digits))) if digits.isdecimal() and len(digits) < _MAX_SPAN else 1


def _is_spacer(attributes: Mapping[str, str]) -> bool:
    """Return whether a picture is one of a few pixels, or hidden: it counts visits or keeps a distance."""
    sizes = (attributes.get(side, "").removesuffix("px") for side in ("width", "height"))
    return any(size.isdecimal() and int(size) <= _SPACER_PIXELS for size in sizes) or "src" not in attributes


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    return "hidden" in attributes or ("style" in attributes and _NOT_SHOWN.search(attributes["style"]) is not None)
