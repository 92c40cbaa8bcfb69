"""The words and numbers of charts and diagrams in Office documents (ECMA-376 part 1, sections 21.2 and 21.4)."""

import datetime
import re
from collections.abc import Iterator
from typing import Any

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_DATE = re.compile(r"[yd]")
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_FIRST_DAY = datetime.date(1899, 12, 30)
_MAX_POINTS = 10_000


def chart_texts(root: Any) -> tuple[list[str], str]:
    """Return the titles of a chart with those of its axes, and its table: a row a category, a column a series."""
    titles = [
        text for element in root.iter(f"{_C}title", f"{_CX}title") if (text := " ".join(paragraph_texts(element)))
    ]
    rows = _rows(list(root.iter(f"{_C}ser"))) or _extended_rows(root)
    return titles, "\n".join(" | ".join(row) for row in rows if any(row))


def paragraph_texts(element: Any) -> Iterator[str]:
    """Yield the paragraphs of DrawingML that have words in them."""
    for paragraph in element.iter(f"{_A}p"):
        pieces = ("\n" if one.tag == f"{_A}br" else one.text or "" for one in paragraph.iter(f"{_A}t", f"{_A}br"))
        if text := "".join(pieces).strip():
            yield text


def _rows(series: list[Any]) -> list[list[str]]:
    columns = [_points(one, "val") or _points(one, "yVal") for one in series]
    categories = next(filter(None, (_points(one, "cat") or _points(one, "xVal") for one in series)), {})
    if not categories and not any(columns):
        return []
    last = max(max(points, default=-1) for points in (categories, *columns))
    names = ["", *(" ".join(_values(one.find(f"{_C}tx"))) for one in series)]
    rows = (
        [categories.get(index, ""), *(points.get(index, "") for points in columns)]
        for index in range(min(last + 1, _MAX_POINTS))
    )
    return [names, *rows]


def _values(element: Any) -> list[str]:
    return [] if element is None else [one.text.strip() for one in element.iter(f"{_C}v") if one.text]


def _points(series: Any, name: str) -> dict[int, str]:
    """Return the stored values by their index; categories of several levels are joined, the outermost first."""
    source = series.find(f"{_C}{name}")
    if source is None:
        return {}
    levels = list(source.iter(f"{_C}lvl"))
    if levels:
        return _joined_levels([_level_points(level, "") for level in levels])
    return _level_points(source, (source.findtext(f".//{_C}formatCode") or ""))


def _level_points(source: Any, form: str) -> dict[int, str]:
    found = dict[int, str]()
    for point in source.iter(f"{_C}pt"):
        index, value = point.get("idx", ""), " ".join((point.findtext(f"{_C}v") or "").split())
        if index.isdecimal():
            found[int(index)] = _shown(value, point.get("formatCode", form))
    return found


def _joined_levels(levels: list[dict[int, str]]) -> dict[int, str]:
    innermost, outer = levels[0], levels[1:]
    joined = dict[int, str]()
    for index, name in innermost.items():
        above = (level.get(max((at for at in level if at <= index), default=-1), "") for level in reversed(outer))
        joined[index] = " ".join(filter(None, (*above, name)))
    return joined


def _shown(value: str, form: str) -> str:
    """Return a number as the chart shows it: percentages, dates, and no digits of a fraction that are only binary."""
    try:
        number = float(value)
    except ValueError:
        return value
    plain = _LITERAL.sub("", form).lower()
    if "%" in plain:
        return f"{_number(number * 100)}%"
    if _DATE.search(plain) and 0 < number < 2_958_466:
        return (_FIRST_DAY + datetime.timedelta(days=int(number))).isoformat()
    return _number(number)


def _number(number: float) -> str:
    return f"{number:.15g}"


def _extended_rows(root: Any) -> list[list[str]]:
    """Return the points of a chart of Office 2016 (treemap, waterfall, ...), one row for each dimension's level."""
    levels = (list(level.iter(f"{_CX}pt")) for level in root.iter(f"{_CX}lvl"))
    return [[" ".join((point.text or "").split()) for point in points] for points in levels]
