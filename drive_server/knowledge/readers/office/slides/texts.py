"""The paragraphs and tables of shapes: words, equations and automatic numbers (ECMA-376 part 1, section 21.1.2)."""

from collections.abc import Iterator
from typing import Any, Final

from drive_server.knowledge.readers.office.markup.equations import EQUATION, EQUATION_PARAGRAPH, linear
from drive_server.knowledge.readers.office.markup.numerals import numeral
from drive_server.knowledge.readers.office.markup.symbols import is_symbol_font, symbols
from drive_server.knowledge.readers.office.slides.names import A

_FORMS: Final = (
    ("arabicDb", "decimalFullWidth"),
    ("arabic", "decimal"),
    ("alphaLc", "lowerLetter"),
    ("alphaUc", "upperLetter"),
    ("romanLc", "lowerRoman"),
    ("romanUc", "upperRoman"),
    ("circleNum", "decimalEnclosedCircle"),
    ("ea1Chs", "chineseCounting"),
    ("ea1Cht", "chineseCounting"),
    ("ea1JpnChs", "chineseCounting"),
    ("ea1JpnKor", "chineseCounting"),
)
_MARKS: Final = (("ParenBoth", "({})"), ("ParenR", "{})"), ("Period", "{}."), ("Minus", "{}-"))
_MAX_COLUMNS: Final = 1000
_OFF: Final = ("0", "false", "")


def texts(body: Any) -> Iterator[str]:
    """Yield the paragraphs of a shape that have words, with their numbers."""
    numbers = _Numbers(body)
    for paragraph in body.iter(f"{A}p"):
        if text := paragraph_text(paragraph):
            yield f"{numbers.label(paragraph)}{text}"


def paragraph_text(paragraph: Any) -> str:
    """Return the words of a paragraph."""
    pieces: list[str] = []
    waiting = list(reversed(paragraph))
    while waiting:
        one = waiting.pop()
        if one.tag in (EQUATION, EQUATION_PARAGRAPH):
            pieces.append(linear(one) if one.tag == EQUATION else f"\n{linear(one)}\n")
        elif one.tag == f"{A}t":
            pieces.append(_letters(one))
        elif one.tag == f"{A}br":
            pieces.append("\n")
        else:
            waiting.extend(reversed(one))
    return "".join(pieces).strip()


def _letters(element: Any) -> str:
    text = element.text or ""
    font = element.getparent().find(f"{A}rPr/{A}sym")
    name = "" if font is None else font.get("typeface", "")
    return symbols(name, text) if is_symbol_font(name) and any(letter >= "\uf000" for letter in text) else text


def table_text(table: Any) -> str:
    """Return the rows of a table, with blank cells where one is over several rows or columns."""
    rows = ([_cell(cell) for cell in list(row.iter(f"{A}tc"))[:_MAX_COLUMNS]] for row in table.iter(f"{A}tr"))
    return "\n".join(" | ".join(row) for row in rows if any(row))


def _cell(cell: Any) -> str:
    if any(cell.get(name, "0") not in _OFF for name in ("hMerge", "vMerge")):
        return ""
    return " ".join(" ".join(texts(cell)).split())


class _Numbers:
    """The automatic numbers within one shape, which count on while the form stays."""

    def __init__(self, body: Any) -> None:
        self._styles = next(body.iter(f"{A}lstStyle"), None)
        self._counts: dict[int, tuple[str, int]] = {}

    def label(self, paragraph: Any) -> str:
        properties = paragraph.find(f"{A}pPr")
        level = 0 if properties is None else _number(properties.get("lvl", ""), 0)
        for deeper in [one for one in self._counts if one > level]:
            del self._counts[deeper]
        numbered = self._numbered(properties, level)
        if numbered is None:
            self._counts.pop(level, None)
            return ""
        form, start = numbered.get("type", "arabicPeriod"), _number(numbered.get("startAt", ""), 1)
        key = f"{form} {start}"
        before, count = self._counts.get(level, ("", 0))
        count = count + 1 if before == key else start
        self._counts[level] = key, count
        return f"{_written(form, count)} "

    def _numbered(self, properties: Any, level: int) -> Any:
        style = None if self._styles is None else self._styles.find(f"{A}lvl{level + 1}pPr")
        for one in (properties, style):
            if one is None:
                continue
            if one.find(f"{A}buNone") is not None or one.find(f"{A}buChar") is not None:
                return None
            if (found := one.find(f"{A}buAutoNum")) is not None:
                return found
        return None


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() else default


def _written(form: str, count: int) -> str:
    name = next((name for beginning, name in _FORMS if form.startswith(beginning)), "decimal")
    mark = next((mark for ending, mark in _MARKS if form.endswith(ending)), "{}")
    return mark.format(numeral(count, name))
