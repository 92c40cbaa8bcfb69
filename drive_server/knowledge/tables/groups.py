"""Groups of rows with exact aggregates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, localcontext
from typing import Any, Final, Protocol, cast

from drive_server.knowledge.tables.columns import Column
from drive_server.knowledge.tables.dates import Unit, label_of
from drive_server.knowledge.tables.numbers import differing
from drive_server.knowledge.tables.request import Aggregate, TableError

AVERAGE_DECIMALS: Final = 6
_PRECISION: Final = 60
_SQL: Final = {
    "count": "count(t{n})",
    "distinct": "count(DISTINCT {same})",
    "sum": "sum(n{n})",
    "average": "sum(n{n})",
    "min": "min({kind}{n})",
    "max": "max({kind}{n})",
}
_SAME: Final = {
    "number": "CASE WHEN regexp_full_match(k{n}, '0[0-9]+') THEN k{n} "
    "ELSE coalesce(CAST(n{n} AS VARCHAR) || u{n}, k{n}) END",
    "date": "coalesce(CAST(date_trunc('second', d{n}) AS VARCHAR), k{n})",
    "text": "k{n}",
}
"""The key that cells of one group have in common, by the kind of their column, as `labels_of` sees it."""
_PARTS: Final = 3
"""Results of SQL for each aggregate: the value, how many numbers went into it, their units."""
PLAIN: Final = frozenset({"count", "distinct"})
"""Functions that take cells of any kind."""


@dataclass(frozen=True, slots=True)
class Measure:
    """An aggregate of a column, with the column's number in the table of SQL."""

    aggregate: Aggregate
    column: Column | None
    number: int

    @property
    def name(self) -> str:
        """The name of the result's column."""
        return Aggregate(self.aggregate.function, self.column.name if self.column else "").name

    @property
    def is_of_dates(self) -> bool:
        """True for the first and the last date."""
        is_end = self.aggregate.function in ("min", "max")
        return is_end and self.column is not None and self.column.kind == "date"

    @property
    def expressions(self) -> list[str]:
        """The results of SQL: the value, how many numbers went into it, their units."""
        if self.column is None:
            return ["count(*)", "count(*)", "NULL"]
        same = _SAME[self.column.kind].format(n=self.number)
        value = _SQL[self.aggregate.function].format(n=self.number, kind="d" if self.is_of_dates else "n", same=same)
        units = "NULL" if self.aggregate.function in PLAIN else f"list(DISTINCT u{self.number})"
        once = f" FILTER (WHERE s{self.number})"
        return [value + once, f"count(n{self.number}){once}", units]


@dataclass(slots=True)
class Group:
    """A group of the result: its labels, the results with their units, and its rows."""

    labels: list[str | None]
    positions: list[int]
    values: list[Any] = field(default_factory=list[Any])
    units: list[str] = field(default_factory=list[str])


class DuckConnection(Protocol):
    """A connection to DuckDB."""

    def execute(self, query: str, parameters: object = None) -> Any:
        """Run a statement."""
        ...

    def register(self, view_name: str, python_object: object) -> Any:
        """Have statements see a table of Arrow."""
        ...


def labels_of(column: Column, unit: Unit | None) -> list[str | None]:
    """Return the label of each row's group; a group of texts is called as the first of them is written."""
    if column.kind == "date":
        periods = {moment: label_of(moment, unit) for moment in set(column.moments) if moment is not None}
        pairs = zip(column.texts, column.moments, strict=True)
        return [text if moment is None else periods[moment] for text, moment in pairs]
    keys = column.keys
    if column.kind == "number":
        numbers = zip(column.numbers, keys, strict=True)
        keys = [f"{one.value.normalize()}{one.unit}" if one and not _is_code(key) else key for one, key in numbers]
    first: dict[str, str] = {}
    pairs = zip(keys, column.texts, strict=True)
    return [None if text is None else first.setdefault(key or text, text) for key, text in pairs]


def _is_code(key: str | None) -> bool:
    """Say whether a number begins with a zero that changes nothing: article 007 is not article 7."""
    return key is not None and key[:1] == "0" and key[1:].isdigit()


def groups_of(
    connection: DuckConnection, labels: int, measures: Sequence[Measure], positions: Sequence[int]
) -> list[Group]:
    """Return the groups of the rows, in the order in which the rows come. Raises `TableError` for units that differ."""
    import pyarrow as pa  # takes a while to load, and only questions need it

    connection.register("chosen", pa.table({"pos": pa.array(positions, pa.int64())}))
    names = [f"g{number}" for number in range(labels)]
    wanted = [*names, *(part for one in measures for part in one.expressions), "list(pos ORDER BY pos)"]
    by = f" GROUP BY {', '.join(names)}" if names else ""
    statement = f"SELECT {', '.join(wanted)} FROM t JOIN chosen USING (pos){by} ORDER BY min(pos)"  # noqa: S608 - made of numbers only
    return [_group(row, labels, measures) for row in connection.execute(statement).fetchall()]


def written(group: Group, units: Sequence[str | None]) -> tuple[str | None, ...]:
    """Return the labels and results as they are shown; a result has its unit where not all groups have the same."""
    values = zip(group.values, group.units, units, strict=True)
    return (*group.labels, *(_written(value, own if common is None else "") for value, own, common in values))


def common_units(groups: Sequence[Group], results: int) -> list[str | None]:
    """Return for each result the unit that it has in all groups, None if they differ."""
    found = [{group.units[place] for group in groups if group.values[place] is not None} for place in range(results)]
    return [next(iter(units), "") if len(units) < 2 else None for units in found]


def _group(row: Sequence[Any], labels: int, measures: Sequence[Measure]) -> Group:
    group = Group(list(row[:labels]), list(row[-1] or ()))
    for place, measure in enumerate(measures):
        start = labels + _PARTS * place
        value, count, units = cast("tuple[Any, Any, Any]", tuple(row[start : start + _PARTS]))
        units = sorted(unit for unit in units or () if unit is not None)
        if measure.column and (different := differing(units)):
            raise TableError("table_units", name=measure.column.name, units=different)
        is_average = measure.aggregate.function == "average" and value is not None
        group.values.append(_average(cast("Decimal", value), count) if is_average else value)
        group.units.append(units[-1] if units else "")
    return group


def _average(total: Decimal, count: int) -> Decimal:
    """Return the average, rounded to six decimals more than the sum has."""
    with localcontext() as context:
        context.prec = _PRECISION
        exponent = total.as_tuple().exponent
        decimals = (-exponent if isinstance(exponent, int) else 0) + AVERAGE_DECIMALS
        return (total / count).quantize(Decimal(1).scaleb(-decimals)).normalize()


def _written(value: Any, unit: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return label_of(value, None)
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return f"{text} {unit}" if unit else text
