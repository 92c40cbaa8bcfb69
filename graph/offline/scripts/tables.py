"""Totals, counts and rankings of tables. The drive works them out; what is not understood whole is not asked."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from graph.offline.replay import Script, Steps, call, request
from graph.offline.results import Item, Result
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import table, word
from graph.offline.wording import MOST_LINES, bounded, inert, path_of, quoted

ROWS, HITS, MOST_TABLES = 100, 8, 3
_DATE: Final = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?:\s?[-/年]\s?(?P<month>\d{1,2})月?|年)?(?![\d-])")


class Question(NamedTuple):
    """A question to one table; `problem` says what is not clear in it, empty if all is."""

    file: Item
    args: Mapping[str, Any]
    problem: str = ""


def compute(task: Task, said: str, own: Item | None) -> Script:
    """Return what a table says to a question for a number, with its cells; empty if the question is none for one."""
    function = next((name for name, pattern in table("function") if pattern.search(said)), "")
    files = [own] if own else task.conversation.focus()
    files = [file for file in files if _is_table(file)]
    if not function or "query_table" not in task.tools or (own and not files) or (function == "count" and not files):
        return ""
    if not files:
        searches = [request("search_files", query=one, kind="file", limit=HITS) for one in (".csv", ".tsv", ".xlsx")]
        results = yield [request("semantic_search_files", query=said[:500], limit=HITS), *searches]
        near, *by_name = ([hit["file"] for hit in one.hits if _is_table(hit["file"])] for one in results)
        others = [file for some in by_name for file in some]
        found = {str(file["id"]): file for file in near or (others if len(others) <= MOST_TABLES else [])}
        files = list(found.values())[:MOST_TABLES]
    questions = list[Question]()
    for file in files:
        one = yield from _read(task, said, file, function, named=own is not None)
        questions += [one] if one else []
    clear = [one for one in questions if not one.problem]
    if len(clear) == 1:
        return (yield from _answer(task, clear[0]))
    if clear:
        return task.say("ambiguous_it", list="\n".join(f"{n}. {path_of(one.file)}" for n, one in enumerate(clear, 1)))
    return questions[0].problem if own and questions else ""


def _is_table(file: Item) -> bool:
    return str(file.get("name", "")).lower().endswith((".csv", ".tsv", ".xlsx", ".xls"))


def _read(task: Task, said: str, file: Item, function: str, *, named: bool) -> Steps[Question | None]:
    probe = yield from call("query_table", file_id=file["id"], limit=ROWS)
    if named:
        task.checked(probe, "query_table", str(file.get("name", "")))
    columns = probe.entries("columns")
    return _understood(task, said, {**file, **(probe.data.get("file") or {})}, probe, function) if columns else None


def _understood(task: Task, said: str, file: Item, probe: Result, function: str) -> Question:
    """Return the question in the table's own words. What is left over of the sentence makes it unclear."""
    columns = {str(one["name"]): str(one["kind"]) for one in probe.entries("columns")}
    rest = said.casefold()
    for one in (str(file.get("path", "")), str(file.get("name", ""))):
        rest = rest.replace(one.casefold(), " ")
    group, unit, rest = _group(rest, columns)
    filters, rest = _filters(rest, probe, columns)
    numbers = [name for name, kind in columns.items() if kind == "number"]
    measures = [name for name in numbers if _names(name).search(rest)]
    if not measures and function != "count":
        money = [name for name in numbers if word("money_column").search(name)]
        measures = money if word("money").search(said) else numbers
    for name in columns:
        rest = _names(name).sub(" ", rest)
    rest = " ".join(word("neutral").sub(" ", rest).split())
    unclear = re.findall(r"[^\W_]+", rest)
    if group is None or unclear or (function != "count" and len(measures) != 1):
        code = "table_unclear" if unclear else "table_which_column"
        said_so = task.say(code, words=quoted(rest), name=task.name(file), columns=inert(", ".join(columns)))
        return Question(file, {}, said_so)
    ranked = bool(group) and function in {"max", "min"}
    price = word("price").search(said)
    does = "sum" if ranked and not price else function
    column = "" if function == "count" else measures[0]
    args: dict[str, Any] = {"aggregates": [{"function": does, **({"column": column} if column else {})}]}
    if group:
        args |= {"group_by": [group], **({"date_unit": unit} if unit else {})}
    if ranked:
        args |= {"sort_by": f"{does}({column})", "descending": function == "max"}
    return Question(file, {"file_id": file["id"], **args, **({"filters": filters} if filters else {})})


def _names(column: str) -> re.Pattern[str]:
    """Return the pattern of a column's name in a sentence."""
    edge = "" if not column.isascii() else r"\b"
    return re.compile(rf"{edge}{re.escape(column.strip().casefold())}{'s?' if edge else ''}{edge}")


def _group(said: str, columns: Mapping[str, str]) -> tuple[str | None, str, str]:
    """Return the column to group by, empty without one and None for one that is not there; the period; the rest."""
    match = word("grouped").search(said)
    if match is None:
        return "", "", said
    noun = next(filter(None, match.groups()))
    rest = said[: match.start()] + " " + said[match.end() :]
    found = [name for name in columns if _names(name).fullmatch(noun) or _names(name).fullmatch(f"{noun}s")]
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
        pattern = rf"{edge}{re.escape(value.casefold())}{edge}"
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
