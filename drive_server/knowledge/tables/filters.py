"""Filters as conditions of SQL with bound values. A condition is NULL for a cell that can't be read as its column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from drive_server.knowledge.tables.columns import Column, folded, is_exact
from drive_server.knowledge.tables.dates import Moment, read_period
from drive_server.knowledge.tables.numbers import Number, read_number, readings
from drive_server.knowledge.tables.request import Condition, Kind, TableError

_COUNTS: Final[Mapping[str, int]] = {"between": 2, "empty": 0, "not_empty": 0}
_TEXT_ONLY: Final = frozenset({"contains", "not_contains", "starts_with", "empty", "not_empty"})
_ORDERED: Final = frozenset({">", ">=", "<", "<=", "between"})
_LETTER: Final[Mapping[Kind, str]] = {"number": "n", "date": "d", "text": "k"}


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition of SQL with its values; `kind` is how the cells are read for it, `units` are those of the values."""

    sql: str
    values: tuple[Any, ...]
    kind: Kind
    units: frozenset[str] = frozenset()


def clause_of(condition: Condition, column: Column, number: int) -> Clause:
    """Return the condition on column `number` of the table. Raises `TableError` for values that don't fit."""
    operator, values = condition.operator, condition.values
    wanted = _COUNTS.get(operator, 1)
    if len(values) < wanted or (operator != "in" and len(values) > wanted):
        raise TableError("table_values", operator=operator, number=wanted)
    if operator in _TEXT_ONLY:
        return _text_clause(operator, values, number)
    kind = column.kind if _fits(column, values, operator) else "text"
    if kind == "text" and operator in _ORDERED:
        raise TableError("table_no_order", name=column.name)
    read = _readable(kind, column, values)
    tests = [_test(kind, operator, read, number)]
    if operator in ("in", "="):
        tests = [_test(kind, "=", _readable(kind, column, [value]), number) for value in values]
    sql = " OR ".join(test for test, _ in tests)
    bound = tuple(value for _, some in tests for value in some)
    if_empty = "true" if operator == "!=" else "false"
    cell = f"{_LETTER[kind]}{number}"
    statement = f"CASE WHEN t{number} IS NULL THEN {if_empty} WHEN {cell} IS NULL THEN NULL ELSE ({sql}) END"
    return Clause(statement, bound, kind, frozenset(one.unit for one in read if isinstance(one, Number) and one.unit))


def _text_clause(operator: str, values: Sequence[str], number: int) -> Clause:
    if operator == "empty":
        return Clause(f"(t{number} IS NULL)", (), "text")
    if operator == "not_empty":
        return Clause(f"(t{number} IS NOT NULL)", (), "text")
    function = "starts_with" if operator == "starts_with" else "contains"
    test = f"{function}(k{number}, ?)"
    is_not = operator == "not_contains"
    statement = f"CASE WHEN t{number} IS NULL THEN {str(is_not).lower()} ELSE {'NOT ' if is_not else ''}{test} END"
    return Clause(statement, (folded(values[0]),), "text")


def _fits(column: Column, values: Sequence[str], operator: str) -> bool:
    """Say whether values for `=` and the like are of the column's kind; for an order they have to be."""
    if column.kind == "text":
        return False
    if any(_value(column.kind, column, value) is None for value in values):
        if operator in _ORDERED:
            wrong = next(value for value in values if _value(column.kind, column, value) is None)
            code = "table_value_number" if column.kind == "number" else "table_value_date"
            raise TableError(code, name=column.name, value=wrong[:100])
        return False
    return True


def _value(kind: Kind, column: Column, text: str) -> Number | Moment | None:
    if kind == "date":
        return read_period(text, column.order)
    mark = column.mark if column.mark in (".", ",") else "."
    point, comma = readings(text)
    found = read_number(text, mark) or point or comma
    if found and found.unit == "%" and column.is_percent:
        found = Number(found.value / 100)
    return found if found and is_exact(found.value) else None


def _readable(kind: Kind, column: Column, values: Sequence[str]) -> list[Any]:
    if kind == "text":
        return [folded(value) for value in values]
    return [_value(kind, column, value) for value in values]


def _test(kind: Kind, operator: str, values: Sequence[Any], number: int) -> tuple[str, tuple[Any, ...]]:
    """Return the condition for a cell that can be read. A day, month or year is all of its moments."""
    if kind == "date":
        return _date_test(operator, values, number)
    bound = [value.value if isinstance(value, Number) else value for value in values]
    cell = f"{_LETTER[kind]}{number}"
    if operator == "between":
        return f"{cell} >= ? AND {cell} <= ?", tuple(bound)
    return f"{cell} {'<>' if operator == '!=' else '=' if operator == 'in' else operator} ?", tuple(bound[:1])


def _date_test(operator: str, values: Sequence[Moment], number: int) -> tuple[str, tuple[datetime, ...]]:
    cell, first, last = f"d{number}", values[0], values[-1]
    tests: dict[str, tuple[str, tuple[datetime, ...]]] = {
        ">": (f"{cell} >= ?", (first.end,)),
        ">=": (f"{cell} >= ?", (first.start,)),
        "<": (f"{cell} < ?", (first.start,)),
        "<=": (f"{cell} < ?", (first.end,)),
        "!=": (f"{cell} < ? OR {cell} >= ?", (first.start, first.end)),
        "between": (f"{cell} >= ? AND {cell} < ?", (first.start, last.end)),
    }
    return tests.get(operator, (f"{cell} >= ? AND {cell} < ?", (first.start, first.end)))
