"""Cells of the rows that a question names: Bob's salary, the phone of the shop in Berlin."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from graph.offline.replay import Steps, request
from graph.offline.results import Item, Result
from graph.offline.scripts.columns import named_pattern
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import table, word
from graph.offline.wording import bounded, inert, path_of, quoted

MOST_ROWS, MOST_COLUMNS, LABEL_PARTS = 50, 30, 3
_PERSON: Final = next(pattern for name, pattern in table("alike") if name == "person")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
_EDGES: Final = " \t?？!！.。,，;；:：'’\"“”"
Columns = Mapping[str, str]
Filters = Sequence[Mapping[str, Any]]


class Found(NamedTuple):
    """Rows of a table, each value by its column, each row with the place of its cells; `total` counts all that fit."""

    rows: list[dict[str, str]]
    places: list[str]
    total: int


def look_up(
    task: Task, file: Item, sheet: Mapping[str, str], columns: Columns, filters: Filters, rest: str, said: str
) -> Steps[tuple[str, str]]:
    """Return the cells that a question asks of the rows it names, and else a sentence if no row is the named one.

    `rest` is the question `said` without the names of file and sheet, and without the values of the `filters`. Both are
    empty if it names no row.
    """
    asked, rest = _asked(rest, columns, filters)
    if not rest and not filters:
        return "", ""
    found = yield from _rows(file, sheet, columns, filters, rest)
    if not found.rows:
        written = re.search(re.escape(rest), said, re.IGNORECASE)
        told = (written[0] if written else rest) or " / ".join(str(value) for one in filters for value in one["values"])
        return "", task.say("table_none_of", name=task.name(file), words=quoted(told)) if asked else ""
    return _answer(task, file, asked or list(columns), found), ""


def _asked(said: str, columns: Columns, filters: Filters) -> tuple[list[str], str]:
    """Return the columns that the question asks for, and the words that are left of it."""
    named = [name for name in columns if named_pattern(name).search(said)]
    if word("who").search(said):
        named += [name for name in columns if _PERSON.fullmatch(name.strip()) and name not in named]
    rest = said
    for name in sorted(columns, key=len, reverse=True):
        rest = named_pattern(name).sub(" ", rest)
    rest = " ".join(word("neutral").sub(" ", word("who").sub(" ", rest)).split()).strip(_EDGES)
    given = {str(one["column"]) for one in filters}
    return [name for name in named if name not in given], rest


def _rows(file: Item, sheet: Mapping[str, str], columns: Columns, filters: Filters, rest: str) -> Steps[Found]:
    """Return the rows that fit; words that are left over are the whole of a cell, else whole words in one."""
    if not rest:
        return _found((yield [_query(file, sheet, filters)]))
    kinds = {"text", "number"} if _NUMBER.fullmatch(rest) else {"text"}
    searched = [name for name, kind in columns.items() if kind in kinds][:MOST_COLUMNS]
    for operator in ("=", "contains"):
        wanted = [name for name in searched if operator == "=" or columns[name] == "text"]
        more = [{"column": name, "operator": operator, "values": [rest]} for name in wanted]
        results = (yield [_query(file, sheet, [*filters, one]) for one in more]) if more else []
        found = _found(results)
        if operator == "contains":
            found = _with_whole_words(found, rest)
        if found.rows:
            return found
    return Found([], [], 0)


def _query(file: Item, sheet: Mapping[str, str], filters: Filters) -> Any:
    return request("query_table", file_id=file["id"], **sheet, filters=list(filters), limit=MOST_ROWS)


def _found(results: Sequence[Result]) -> Found:
    """Return the rows of all results, each once."""
    rows, total = dict[str, dict[str, str]](), 0
    for result in (one for one in results if one.worked):
        names = [str(one["name"]) for one in result.entries("result_columns")]
        units = [str(one.get("unit") or "") for one in result.entries("result_columns")]
        total += result.number("result_rows")
        for row in result.entries("rows"):
            values = zip(names, units, row["values"], strict=True)
            shown = {name: f"{value} {unit}".strip() for name, unit, value in values if value is not None}
            rows.setdefault(", ".join(row["cells"]), shown)
    return Found(list(rows.values()), list(rows), total)


def _with_whole_words(found: Found, words: str) -> Found:
    pattern = re.compile(rf"(?<![^\W_]){re.escape(words)}(?![^\W_])" if words.isascii() else re.escape(words))
    kept = [
        (row, place)
        for row, place in zip(found.rows, found.places, strict=True)
        if any(pattern.search(value.casefold()) for value in row.values())
    ]
    return Found([row for row, _ in kept], [place for _, place in kept], len(kept))


def _answer(task: Task, file: Item, asked: Sequence[str], found: Found) -> str:
    """Return a line for each row: which row it is, and its cells, quoted."""
    lines: list[str] = []
    for row in found.rows:
        others = [value for name, value in row.items() if name not in asked][:LABEL_PARTS]
        cells = ", ".join(f"{inert(name)} “{row[name]}” [1]" for name in asked if name in row)
        label = f"{inert(' / '.join(others))}: " if others else ""
        lines.append(f"- {label}{cells or '–'}")
    more = [task.say("table_more", count=found.total)] if found.total > len(found.rows) else []
    source = f"[1] {path_of(file)}, {', '.join(dict.fromkeys(found.places))}"
    return "\n".join([task.say("table_cells", name=task.name(file)), bounded(lines, task.language), *more, "", source])
