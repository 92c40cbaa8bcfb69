"""Totals, counts, rankings and cells of tables. The drive works them out; what is not understood whole is not asked."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from graph.offline.replay import Script, Steps, call, request
from graph.offline.results import Item, Result
from graph.offline.scripts.cells import look_up
from graph.offline.scripts.columns import columns_of, named_pattern, plain_words, same_column
from graph.offline.scripts.resolve import fold
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import table, word
from graph.offline.wording import MOST_LINES, bounded, inert, path_of, quoted

ROWS, HITS, MOST_TABLES, MOST_SHEETS = 100, 8, 3, 10
_DATE: Final = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?:\s?[-/年]\s?(?P<month>\d{1,2})月?|年)?(?![\d-])")


class Question(NamedTuple):
    """A question to one table; `problem` says what is not clear in it, empty if all is."""

    file: Item
    args: Mapping[str, Any]
    problem: str = ""


class Sheet(NamedTuple):
    """A table of a file with its columns and first rows; `name` is empty where a file has one table only."""

    file: Item
    probe: Result
    name: str = ""

    @property
    def argument(self) -> dict[str, str]:
        """The argument that names the sheet."""
        return {"sheet": self.name} if self.name else {}


def compute(task: Task, said: str, own: Item | None) -> Script:
    """Return what a table says to a question for a number or a cell, with its cells; empty if the question is none."""
    function = next((name for name, pattern in table("function") if pattern.search(said)), "")
    files = [own] if own else task.conversation.focus()
    files = [file for file in files if _is_table(file)]
    if "query_table" not in task.tools or (not files and (own or function in {"", "count"})):
        return ""
    sheets = list[Sheet]()
    for file in files or (yield from _tables_about(said)):
        sheets += yield from _sheets(task, said, file, named=own is not None)
    if not function:
        return (yield from _cells(task, said, sheets)) if own else ""
    questions = [_understood(task, said, sheet, function) for sheet in sheets]
    clear = [one for one in questions if not one.problem]
    if len(clear) == 1:
        return (yield from _answer(task, clear[0]))
    if clear and own:
        return (yield from _of_sheets(task, own, clear, function))
    if clear:
        return task.say("ambiguous_it", list="\n".join(f"{n}. {path_of(one.file)}" for n, one in enumerate(clear, 1)))
    return questions[0].problem if own and questions else ""


def _is_table(file: Item) -> bool:
    return str(file.get("name", "")).lower().endswith((".csv", ".tsv", ".xlsx", ".xls", ".ods"))


def _tables_about(said: str) -> Steps[list[Item]]:
    """Return the tables that a question may be about: those near to it, else the only ones there are."""
    searches = [request("search_files", query=one, kind="file", limit=HITS) for one in (".csv", ".tsv", ".xlsx")]
    results = yield [request("semantic_search_files", query=said[:500], limit=HITS), *searches]
    near, *by_name = ([hit["file"] for hit in one.hits if _is_table(hit["file"])] for one in results)
    others = [file for some in by_name for file in some]
    found = {str(file["id"]): file for file in near or (others if len(others) <= MOST_TABLES else [])}
    return list(found.values())[:MOST_TABLES]


def _sheets(task: Task, said: str, file: Item, *, named: bool) -> Steps[list[Sheet]]:
    """Return the tables of a file: of a workbook's sheets those that the sentence names, else all."""
    probe = yield from call("query_table", file_id=file["id"], limit=ROWS)
    listed = probe.data.get("sheets")
    names = [str(one) for one in listed] if isinstance(listed, list) else []
    if len(names) <= 1:
        if named:
            task.checked(probe, "query_table", str(file.get("name", "")))
        return [Sheet({**file, **(probe.data.get("file") or {})}, probe)] if probe.entries("columns") else []
    meant = [name for name in names if named_pattern(name).search(said.casefold())]
    wanted = (meant if len(meant) == 1 else names)[:MOST_SHEETS]
    probes = yield [request("query_table", file_id=file["id"], sheet=name, limit=ROWS) for name in wanted]
    found = zip(wanted, probes, strict=True)
    return [Sheet({**file, **(one.data.get("file") or {})}, one, name) for name, one in found if one.entries("columns")]


def _cells(task: Task, said: str, sheets: list[Sheet]) -> Script:
    """Return the cells that a question names, of the sheets that have them."""
    answers, missing = list[str](), ""
    for sheet in sheets:
        columns = columns_of(sheet.probe)
        rest = plain_words(said, sheet.file, sheet.name, columns)
        filters, rest = _filters(rest, sheet.probe, columns)
        answer, absent = yield from look_up(task, sheet.file, sheet.argument, columns, filters, rest, said)
        answers += [answer] if answer else []
        missing = missing or absent
    return "\n\n".join(answers) or missing


def _of_sheets(task: Task, file: Item, clear: list[Question], function: str) -> Script:
    """Return how many rows each sheet has; of any other number it has to be clear which sheet is meant."""
    if function != "count":
        sheets = ", ".join(str(one.args.get("sheet", "")) for one in clear)
        return task.say("table_which_sheet", name=task.name(file), sheets=inert(sheets))
    answers = list[str]()
    for one in clear:
        answers.append((yield from _answer(task, one)))
    return "\n\n".join(answers)


class _Wording(NamedTuple):
    """A question's words: the function, whether the most or the fewest rows are meant, and who is asked for."""

    rest: str
    function: str
    ranks_rows: bool = False
    descending: bool = False
    asks_who: bool = False


def _worded(rest: str, function: str, columns: Mapping[str, str]) -> _Wording:
    """Read "the most people" as a count of rows, and "who" as "which person"."""
    most = word("most_rows").search(rest)
    ranks_rows = most is not None and not any(named_pattern(name).search(most[0]) for name in columns)
    descending = function == "max"
    if most and ranks_rows:
        descending = bool(most["most"] or most["zh"])
        rest = f"{rest[: most.start()]}最{rest[most.end() :]}" if most[0][-1:] in "多少" else rest.replace(most[0], " ")
        function = "count"
    person = word("who").search(rest)
    if person is None:
        return _Wording(rest, function, ranks_rows, descending)
    asked = "哪个人的" if person[0].startswith("谁") else "which person "
    return _Wording(word("who").sub(asked, rest), function, ranks_rows, descending, asks_who=True)


def _understood(task: Task, said: str, sheet: Sheet, function: str) -> Question:
    """Return the question in the table's own words. What is left over of the sentence makes it unclear."""
    file, columns = sheet.file, columns_of(sheet.probe)
    wording = _worded(plain_words(said, file, sheet.name, columns), function, columns)
    function, counted = wording.function, word("counts").search(wording.rest)
    amounts = [name for name, kind in columns.items() if kind == "number" and word("amount_column").search(name)]
    if function == "count" and counted and len(amounts) == 1:
        # A table that counts people in a column is not asked for its rows.
        function, wording = "sum", wording._replace(rest=word("counts").sub(f" {amounts[0].casefold()} ", wording.rest))
    group, unit, rest = _group(wording.rest, columns)
    filters, rest = _filters(rest, sheet.probe, columns)
    measures = _measures(said, rest, columns, function)
    for name in sorted(columns, key=len, reverse=True):
        rest = named_pattern(name).sub(" ", rest)
    rest = " ".join(word("neutral").sub(" ", rest).split())
    rest = "" if rest in fold(str(file.get("name", ""))) else rest
    unclear = re.findall(r"[^\W_]+", rest)
    if group is None or unclear or (function != "count" and len(measures) != 1):
        code = "table_unclear" if unclear else "table_which_column"
        said_so = task.say(code, words=quoted(rest), name=task.name(file), columns=inert(", ".join(columns)))
        return Question(file, {}, said_so)
    ranked = bool(group) and (function in {"max", "min"} or wording.ranks_rows)
    adds_up = ranked and not (wording.asks_who or wording.ranks_rows or word("price").search(said))
    does = "sum" if adds_up else function
    column = "" if function == "count" else measures[0]
    args: dict[str, Any] = {"aggregates": [{"function": does, **({"column": column} if column else {})}]}
    if group:
        args |= {"group_by": [group], **({"date_unit": unit} if unit else {})}
    if ranked:
        args |= {"sort_by": f"{does}({column})" if column else does, "descending": wording.descending}
    filtered = {"filters": filters} if filters else {}
    return Question(file, {"file_id": file["id"], **sheet.argument, **args, **filtered})


def _measures(said: str, rest: str, columns: Mapping[str, str], function: str) -> list[str]:
    """Return the columns of numbers that the question may mean: those it names, else those of money, else all."""
    numbers = [name for name, kind in columns.items() if kind == "number"]
    named = [name for name in numbers if named_pattern(name).search(rest)]
    if named or function == "count":
        return named
    money = [name for name in numbers if word("money_column").search(name)]
    return money if word("money").search(said) else numbers


def _group(said: str, columns: Mapping[str, str]) -> tuple[str | None, str, str]:
    """Return the column to group by, empty without one and None for one that is not there; the period; the rest."""
    match = word("grouped").search(said)
    if match is None:
        return "", "", said
    noun = next(filter(None, match.groups()))
    rest = said[: match.start()] + " " + said[match.end() :]
    found = [name for name in columns if same_column(name, noun)]
    alike = [pattern for _, pattern in table("alike") if pattern.fullmatch(noun)]
    found = found or [name for name in columns if any(one.fullmatch(name.strip()) for one in alike)]
    dates = [name for name, kind in columns.items() if kind == "date"]
    unit = next((name for name, pattern in table("period") if pattern.fullmatch(noun)), "")
    if unit and (not found or found[0] in dates):
        return (dates[0] if len(dates) == 1 else None), unit, rest
    return (found[0] if len(found) == 1 else None), "", rest


def _filters(said: str, probe: Result, columns: Mapping[str, str]) -> tuple[list[dict[str, Any]], str]:
    """Return the conditions that the values of the table and a month or year in the sentence make, and the rest."""
    texts = [at for at, kind in enumerate(columns.values()) if kind == "text"]
    names, wanted = list(columns), dict[str, list[str]]()
    cells = {(at, str(row["values"][at] or "").strip()) for row in probe.entries("rows") for at in texts}
    for at, value in sorted(cells, key=lambda cell: (-len(cell[1]), cell)):
        edge = r"\b" if value.isascii() else ""
        more = "[a-z]*" if word("month_name").fullmatch(value) else ""
        pattern = rf"{edge}{re.escape(value.casefold())}{more}{edge}"
        alone = [other.casefold() for _, other in cells].count(value.casefold()) == 1
        if alone and len(value) > 1 and re.search(pattern, said):
            said = re.sub(pattern, " ", said)
            wanted.setdefault(names[at], []).append(value)
    filters: list[dict[str, Any]] = [
        {"column": name, "operator": "in" if len(values) > 1 else "=", "values": values}
        for name, values in wanted.items()
    ]
    dates = [name for name, kind in columns.items() if kind == "date"]
    if len(dates) == 1 and (date := _DATE.search(said)):
        value = f"{date['year']}-{int(date['month']):02}" if date["month"] else date["year"]
        filters.append({"column": dates[0], "operator": "=", "values": [value]})
        said = said[: date.start()] + " " + said[date.end() :]
    return filters, said


def _answer(task: Task, question: Question) -> Script:
    result = yield from task.call("query_table", str(question.file.get("name", "")), **question.args)
    rows = [row for row in result.entries("rows") if row["values"][-1] is not None]
    if not rows:
        return task.say("table_no_rows", name=task.name(question.file))
    if "sort_by" in question.args:
        rows = [row for row in rows if row["values"][-1] == rows[0]["values"][-1]]
    last = result.data["result_columns"][-1]
    conditions = (f"{one['column']} = {' / '.join(one['values'])}" for one in question.args.get("filters", ()))
    what = inert(", ".join([str(last["name"]), *conditions]))
    unit = f" {last['unit']}" if last.get("unit") else ""
    labels = [" / ".join(str(one or "–") for one in row["values"][:-1]) or str(last["name"]) for row in rows]
    lines = [f"- {inert(label)}: “{row['values'][-1]}{unit}” [1]" for label, row in zip(labels, rows, strict=True)]
    cells = ", ".join(dict.fromkeys(cell for row in rows[:MOST_LINES] for cell in row["cells"]))
    left = ", ".join(str(one["cell"]) for one in result.entries("left_out"))
    more = [task.say("table_left_out", cells=left)] if left else []
    more += [task.say("table_hidden", count=hidden)] if (hidden := result.number("hidden_rows")) else []
    head = task.say("table_value", what=what, name=task.name(question.file))
    return "\n".join([head, bounded(lines, task.language), *more, "", f"[1] {path_of(question.file)}, {cells}"])
