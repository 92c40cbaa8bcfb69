"""Cells, totals, counts and rankings of tables.

The drive works them out; a question that is not wholly understood is not asked.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from drive_server.kernel.text.characters import fold_case
from graph.offline.conversation import Item, Result
from graph.offline.replay import Request, request
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import has_han, table, terms, word
from graph.offline.wording import MAX_LINES, bounded, inert, path_of, quoted

ROWS, HITS, MAX_TABLES, MAX_SHEETS, MAX_ROWS, MAX_COLUMNS, LABEL_PARTS = 100, 8, 3, 10, 50, 30, 3
_TYPES: Final = (".csv", ".tsv", ".xlsx", ".xls", ".ods")
_DATE: Final = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?:\s?[-/年]\s?(?P<month>\d{1,2})月?|年)?(?![\d-])")
_UNIT: Final = re.compile(r"\s*[(\[（【][^)\]）】]*[)\]）】]\s*")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
_PERIODS: Final = frozenset({"day", "month", "year"})
_EDGES: Final = " \t?？!！.。,，;；:：'’\"“”"
_ALIKE: Final = dict(table("alike"))
_SYNONYMS: Final = tuple(
    (one, re.compile(rf"(?<![a-z])(?:{one.pattern})(?![a-z])", re.I)) for _, one in table("synonym")
)
Filters = list[dict[str, Any]]


class Sheet(NamedTuple):
    """A table of a file with its columns and first rows; `name` is empty where a file has one table only."""

    file: Item
    probe: Result
    name: str = ""

    @property
    def source(self) -> dict[str, str]:
        """The arguments that name the table."""
        return {"file_id": str(self.file["id"]), **({"sheet": self.name} if self.name else {})}

    @property
    def columns(self) -> dict[str, str]:
        """The kind of each column by its name."""
        return {str(one["name"]): str(one["kind"]) for one in self.probe.entries("columns")}

    def of_kind(self, kind: str) -> list[str]:
        """Return the columns of a kind."""
        return [name for name, one in self.columns.items() if one == kind]


def compute(task: Task, said: str, own: Item | None) -> str:
    """Return a table's answer to a question for a number or a cell, with its cells; empty if the question is none."""
    function = next((name for name, pattern in table("function") if pattern.search(said)), "")
    files = _tables_in([own] if own else task.conversation.focus())
    if "query_table" not in task.tools or (not files and (own or function in {"", "count"})):
        return ""
    sheets = list[Sheet]()
    for file in files or _tables_about(task, said):
        sheets += _sheets(task, said, file, named=own is not None)
    if not function:
        return _cells(task, said, sheets) if own else ""
    questions = [(sheet, *_understood(task, said, sheet, function)) for sheet in sheets]
    clear = [(sheet, args) for sheet, args, problem in questions if not problem]
    if len(clear) > 1 and not (own and function == "count"):
        lines = (f"{n}. {path_of(one.file)} {inert(one.name)}" for n, (one, _) in enumerate(clear, 1))
        return task.say("ambiguous_it", list="\n".join(line.rstrip() for line in lines))
    answers = list[str]()
    for sheet, args in clear:
        answers.append(_computed(task, sheet, args))
    return "\n\n".join(answers) or (questions[0][2] if own and questions else "")


def _tables_in(files: Sequence[Item]) -> list[Item]:
    return [file for file in files if str(file.get("name", "")).lower().endswith(_TYPES)]


def _tables_about(task: Task, said: str) -> list[Item]:
    """Return the tables that a question may be about: those near to it, else the only ones there are."""
    searches = [request("search_files", query=one, kind="file", limit=HITS, **task.below) for one in _TYPES[:3]]
    by_meaning = request("semantic_search_files", query=said[:500], limit=HITS, **task.below)
    near, *by_name = (_tables_in(one.files) for one in task.ask([by_meaning, *searches]))
    others = [file for some in by_name for file in some]
    return (near or (others if len(others) <= MAX_TABLES else []))[:MAX_TABLES]


def _sheets(task: Task, said: str, file: Item, *, named: bool) -> list[Sheet]:
    """Return the tables of a file: of a workbook's sheets those that the sentence names, else all."""
    probe = task.attempt("query_table", file_id=file["id"], limit=ROWS)
    listed = probe.data.get("sheets")
    names = [str(one) for one in listed] if isinstance(listed, list) else []
    if len(names) <= 1:
        names, probes = [""], [task.checked(probe, "query_table", str(file.get("name", ""))) if named else probe]
    else:
        names = ([name for name in names if _named(name).search(said.casefold())] or names)[:MAX_SHEETS]
        probes = task.ask([request("query_table", file_id=file["id"], sheet=name, limit=ROWS) for name in names])
    found = zip(names, probes, strict=True)
    return [Sheet({**file, **(one.data.get("file") or {})}, one, name) for name, one in found if one.entries("columns")]


@lru_cache(maxsize=512)
def _named(column: str) -> re.Pattern[str]:
    """Return the pattern of a column's name, or of a sheet's, in a sentence of small letters."""
    bare = (_UNIT.sub(" ", column).strip() or column.strip()).casefold()
    words = r"[ _-]?".join(map(re.escape, filter(None, re.split(r"[ _-]+", bare)))) or re.escape(bare) or r"(?!)"
    return re.compile(rf"(?<![a-z0-9]){words}s?(?![a-z0-9])" if bare.isascii() else words)


def _plain(said: str, sheet: Sheet) -> str:
    """Return the sentence in small letters without the names of file and sheet, with columns for their synonyms."""
    rest = said.casefold()
    for one in (str(sheet.file.get("path", "")), str(sheet.file.get("name", ""))):
        rest = rest.replace(one.casefold(), " ") if one else rest
    rest = _named(sheet.name).sub(" ", rest) if sheet.name else rest
    for whole, inside in _SYNONYMS:
        fitting = [name for name in sheet.columns if whole.fullmatch(_UNIT.sub(" ", name).strip())]
        if len(fitting) == 1 and not _named(fitting[0]).search(rest):
            rest = inside.sub(_UNIT.sub(" ", fitting[0]).strip().casefold(), rest)
    return rest


def _without_columns(said: str, sheet: Sheet) -> str:
    for name in sorted(sheet.columns, key=len, reverse=True):
        said = _named(name).sub(" ", said)
    return " ".join(word("neutral").sub(" ", said).split()).strip(_EDGES)


def _unknown(rest: str, sheet: Sheet) -> str:
    """Return the words of a rest that the table has nothing to do with: neither its path nor its columns name them."""
    called = fold_case(" ".join([str(sheet.file.get("path") or sheet.file.get("name", "")), *sheet.columns]))
    known = set(terms(called))
    runs = re.findall(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+", rest)
    han = {run for run in runs if has_han(run) and set(run) - set(called) and terms(f"{run}{run}")}
    others = {run for run in runs if not has_han(run) and (set(terms(run)) - known or run.isdigit())}
    return " ".join(run for run in runs if run in han | others)


def _filters(said: str, sheet: Sheet) -> tuple[Filters, str]:
    """Return the conditions that the values of the table and a month or year in the sentence make, and the rest."""
    texts = [at for at, kind in enumerate(sheet.columns.values()) if kind == "text"]
    names, wanted = list(sheet.columns), dict[str, list[str]]()
    cells = {(at, str(row["values"][at] or "").strip()) for row in sheet.probe.entries("rows") for at in texts}
    for at, value in sorted(cells, key=lambda cell: (-len(cell[1]), cell)):
        edge = r"\b" if value.isascii() else ""
        more = "[a-z]*" if word("month_named").fullmatch(value) else ""
        pattern = rf"{edge}{re.escape(value.casefold())}{more}{edge}"
        alone = [other.casefold() for _, other in cells].count(value.casefold()) == 1
        if alone and len(value) > 1 and re.search(pattern, said):
            said = re.sub(pattern, " ", said)
            wanted.setdefault(names[at], []).append(value)
    operator = {name: "in" if len(values) > 1 else "=" for name, values in wanted.items()}
    filters: Filters = [{"column": one, "operator": operator[one], "values": wanted[one]} for one in wanted]
    dates = sheet.of_kind("date")
    if len(dates) == 1 and (date := _DATE.search(said)):
        value = f"{date['year']}-{int(date['month']):02}" if date["month"] else date["year"]
        filters.append({"column": dates[0], "operator": "=", "values": [value]})
        said = said[: date.start()] + " " + said[date.end() :]
    return filters, said


def _worded(rest: str, function: str, sheet: Sheet) -> tuple[str, str, bool | None]:
    """Return the question with "who" as "which person", its function, and whether the most or fewest rows are meant.

    "The most people" counts rows; "how many people" of a table with a column of them is its sum.
    """
    rest = word("who").sub(lambda who: "哪个人的" if who[0].startswith("谁") else "which person ", rest)
    most = word("most_rows").search(rest)
    amounts = [name for name in sheet.of_kind("number") if word("amount_column").search(name)]
    if most and not any(_named(name).search(most[0]) for name in sheet.columns):
        rest = f"{rest[: most.start()]}{'最' if most[0][-1:] in '多少' else ''} {rest[most.end() :]}"
        return rest, "count", bool(most["most"] or most["zh"])
    if function == "count" and word("counts").search(rest) and len(amounts) == 1:
        return word("counts").sub(f" {amounts[0].casefold()} ", rest), "sum", None
    return rest, function, None


def _understood(task: Task, said: str, sheet: Sheet, function: str) -> tuple[dict[str, Any], str]:
    """Return the question in the table's own words, and its unclear part: all that is left over of the sentence."""
    plain = _plain(said, sheet)
    worded, function, most = _worded(plain, function, sheet)
    group, unit, rest = _group(worded, sheet)
    filters, rest = _filters(rest, sheet)
    measures = _measures(said, rest, sheet, function)
    rest = _without_columns(rest, sheet)
    unclear = _unknown(rest, sheet)
    if group is None or unclear or (function != "count" and len(measures) != 1):
        code = "table_unclear" if unclear else "table_which_column"
        facts = {"name": task.name(sheet.file), "columns": inert(", ".join(sheet.columns))}
        return {}, task.say(code, words=quoted(unclear), **facts)
    args: dict[str, Any] = {"filters": filters} if filters else {}
    if function in {"max", "min"} and (group == _ROW or (not group and rest)):
        # "The cheapest bike" is a row of the table of bikes, not a price.
        return args | {"sort_by": measures[0], "descending": function == "max"}, ""
    ranked = bool(group) and (function in {"max", "min"} or most is not None)
    of_one = most is not None or word("who").search(plain) or word("price").search(said)
    does = "sum" if ranked and not of_one else function
    args["aggregates"] = [{"function": does, **({"column": measures[0]} if does != "count" else {})}]
    if group:
        args |= {"group_by": [group], **({"date_unit": unit} if unit else {})}
    if ranked:
        by = does if does == "count" else f"{does}({measures[0]})"
        args |= {"sort_by": by, "descending": function == "max" if most is None else most}
    return args, ""


def _measures(said: str, rest: str, sheet: Sheet, function: str) -> list[str]:
    """Return the columns of numbers that the question may mean: those it names, else those of money, else all."""
    numbers = sheet.of_kind("number")
    named = [name for name in numbers if _named(name).search(rest)]
    if named or function == "count":
        return named
    money = [name for name in numbers if word("money_column").search(name)]
    return money if word("money").search(said) or word("price").search(said) else numbers


_ROW: Final = "\0"
"""Stands for a group that is no column, but the rows themselves."""


def _group(said: str, sheet: Sheet) -> tuple[str | None, str, str]:
    """Return the column to group by, empty without one and None for one that is not there; the period; the rest."""
    match = word("grouped").search(said)
    if match is None:
        return "", "", said
    noun, rest = next(filter(None, match.groups())), said[: match.start()] + " " + said[match.end() :]
    forms = {noun, f"{noun}s", re.sub(r"ies$", "y", noun)}
    found = [name for name in sheet.columns if any(_named(name).fullmatch(one) for one in forms)]
    alike = [pattern for pattern in _ALIKE.values() if pattern.fullmatch(noun)]
    found = found or [name for name in sheet.columns if any(one.fullmatch(name.strip()) for one in alike)]
    dates = sheet.of_kind("date")
    unit = next((name for name, pattern in table("period") if pattern.fullmatch(noun) and name in _PERIODS), "")
    if unit and (not found or found[0] in dates):
        return (dates[0] if len(dates) == 1 else None), unit, rest
    if not found and match[0].startswith(("which", "what", "哪")) and not _unknown(noun, sheet):
        return _ROW, "", rest
    return (found[0] if len(found) == 1 else None), "", rest


def _computed(task: Task, sheet: Sheet, args: Mapping[str, Any]) -> str:
    file = sheet.file
    result = task.call("query_table", str(file.get("name", "")), **sheet.source, **args)
    columns = [str(one["name"]) for one in result.entries("result_columns")]
    measured = args["sort_by"] if args.get("sort_by") in columns else columns[-1]
    rows = {at: row for at, row in _found([result]).items() if measured in row}
    if "sort_by" in args:
        rows = {at: row for at, row in rows.items() if row[measured] == next(iter(rows.values()))[measured]}
    if not rows:
        return task.say("table_no_rows", name=task.name(file))
    conditions = (f"{one['column']} = {' / '.join(one['values'])}" for one in args.get("filters", ()))
    head = [task.say("table_value", what=inert(", ".join([measured, *conditions])), name=task.name(file))]
    left = ", ".join(str(one["cell"]) for one in result.entries("left_out"))
    more = [task.say("table_left_out", cells=left)] if left else []
    more += [task.say("table_hidden", count=hidden)] if (hidden := result.number("hidden_rows")) else []
    return _cited(task, file, rows, {measured: "" if len(columns) > 1 else f"{inert(measured)}: "}, head, more)


Rows = Mapping[str, Mapping[str, str]]
"""Rows of a table by the place of their cells, each value by its column."""


def _cells(task: Task, said: str, sheets: Sequence[Sheet]) -> str:
    """Return the cells of the rows that a question names, else a sentence if no row is the one that it asks of."""
    answers, missing = list[str](), ""
    for sheet in sheets:
        filters, rest = _filters(_plain(said, sheet), sheet)
        given = {str(one["column"]) for one in filters}
        asked = [name for name in sheet.columns if _named(name).search(rest)]
        people = [name for name in sheet.columns if _ALIKE["person"].fullmatch(name.strip()) and name not in asked]
        asked = [name for name in asked + people * bool(word("who").search(rest)) if name not in given]
        rest = _without_columns(word("who").sub(" ", rest), sheet)
        rest = rest if _unknown(rest, sheet) else ""
        if not rest and not filters:
            continue
        rows = _rows(task, sheet, filters, rest)
        if rows:
            head = [task.say("table_cells", name=task.name(sheet.file))]
            answers.append(
                _cited(task, sheet.file, rows, {one: f"{inert(one)} " for one in asked or sheet.columns}, head)
            )
        elif asked:
            told = rest or " / ".join(str(one["values"][0]) for one in filters)
            written = re.search(re.escape(told), said, re.IGNORECASE)
            words = quoted(written[0] if written else told)
            missing = missing or task.say("table_none_of", name=task.name(sheet.file), words=words)
    return "\n\n".join(answers) or missing


def _rows(task: Task, sheet: Sheet, filters: Filters, rest: str) -> Rows:
    """Return the rows that fit; words that are left over are the whole of a cell, else whole words in one."""
    if not rest:
        return _found(task.ask([_query(sheet, filters)]))
    whole = re.compile(rf"(?<![^\W_]){re.escape(rest)}(?![^\W_])" if rest.isascii() else re.escape(rest))
    kinds = {"=": {"text", "number"} if _NUMBER.fullmatch(rest) else {"text"}, "contains": {"text"}}
    for operator, of in kinds.items():
        wanted = [name for name, kind in sheet.columns.items() if kind in of][:MAX_COLUMNS]
        more: Filters = [{"column": name, "operator": operator, "values": [rest]} for name in wanted]
        rows = _found(task.ask([_query(sheet, [*filters, one]) for one in more]))
        found = {at: row for at, row in rows.items() if any(whole.search(one.casefold()) for one in row.values())}
        if found:
            return found
    return {}


def _query(sheet: Sheet, filters: Filters) -> Request:
    return request("query_table", **sheet.source, filters=list(filters), limit=MAX_ROWS)


def _found(results: Sequence[Result]) -> Rows:
    """Return the rows of all results, each once."""
    rows = dict[str, Mapping[str, str]]()
    for result in (one for one in results if one.worked):
        columns = [(str(one["name"]), str(one.get("unit") or "")) for one in result.entries("result_columns")]
        for row in result.entries("rows"):
            cells = zip(columns, row["values"], strict=True)
            shown = {name: f"{value} {unit}".strip() for (name, unit), value in cells if value is not None}
            rows.setdefault(", ".join(row["cells"]), shown)
    return rows


def _cited(
    task: Task, file: Item, rows: Rows, asked: Mapping[str, str], head: Sequence[str], more: Sequence[str] = ()
) -> str:
    """Return a line for each row: which row it is, and its cells, quoted, each after its label; and where they are."""
    lines: list[str] = []
    for row in rows.values():
        others = [value for name, value in row.items() if name not in asked][:LABEL_PARTS]
        cells = ", ".join(f"{label}“{row[name]}” [1]" for name, label in asked.items() if name in row) or "–"
        lines.append(f"- {inert(' / '.join(others))}: {cells}" if others else f"- {cells}")
    places = ", ".join(list(rows)[:MAX_LINES])
    return "\n".join([*head, bounded(lines, task.language), *more, "", f"[1] {path_of(file)}, {places}"])
