"""Answers of tables: rows, or groups with exact aggregates; refused where cells can't be read. Blocks.

DuckDB gets SQL that is made here of typed arguments; names of columns and values of a caller are never part of it.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import Any, Final, Literal, cast

from drive_server.knowledge.tables.columns import Column
from drive_server.knowledge.tables.duck import open_table
from drive_server.knowledge.tables.filters import Clause, clause_of
from drive_server.knowledge.tables.groups import (
    PLAIN,
    Group,
    Measure,
    common_units,
    groups_of,
    labels_of,
    written,
)
from drive_server.knowledge.tables.numbers import Mark, differing, mark_of, readings
from drive_server.knowledge.tables.places import ranges_of, span_of
from drive_server.knowledge.tables.request import (
    Aggregate,
    ColumnFacts,
    Kind,
    ResultRow,
    TableAnswer,
    TableError,
    TableQuery,
)
from drive_server.knowledge.tables.table import Table
from drive_server.knowledge.tables.unreadable import MAX_LISTED, Reading, Unreadable

_SAMPLED_ROWS: Final = 2_000
_SORTED_BY: Final = {"number": "n", "date": "d", "text": "k"}


class TableSession:
    """One question to one table."""

    def __init__(self, table: Table, query: TableQuery, sheets: Sequence[str]) -> None:
        self._table, self._query, self._sheets = table, query, tuple(sheets)
        self._columns = [Column(table, index, query, self._usual_mark) for index in range(len(table.names))]
        self._used: list[Column] = []
        self._unreadable = Unreadable(table)

    @cache  # noqa: B019 - of one session, which ends with its answer
    def _usual_mark(self) -> Mark | Literal["both"] | None:
        rows = self._table.rows[:_SAMPLED_ROWS]
        sample = (readings(cell) for _, row in rows for cell in row if isinstance(cell, str))
        return mark_of(sample) or ("both" if self._table.grid.delimiter == ";" else None)

    def answer(self) -> TableAnswer:
        """Return the answer. Raises `TableError` where a total would not be right."""
        query = self._query
        clauses = [clause_of(one, self._column(one.column), self._number(one.column)) for one in query.filters]
        labelled = [self._column(name) for name in query.group_by]
        counted = (Aggregate("count"),) if labelled else ()
        measures = [self._measure(one) for one in query.aggregates or counted]
        sort = self._column(query.sort_by) if query.sort_by and not measures else None
        if sort:
            self._number(query.sort_by)
        labels = [labels_of(column, query.date_unit) for column in labelled]
        if self._used and self._table.grid.has_errors:
            raise TableError("table_errors")
        connection = open_table(self._used, labels, len(self._table.rows), self._statements(clauses, measures, sort))
        if self._used:
            self._unreadable.note_ragged()
        try:
            matching = self._matching(connection, clauses)
            needed = self._needed(labelled, measures, sort)
            positions = self._unreadable.readable(matching, needed, skip=query.skip_unreadable)
            if measures:
                return self._grouped(labelled, measures, groups_of(connection, len(labels), measures, positions))
            return self._rows(self._ordered(connection, positions, sort))
        finally:
            connection.close()

    def _statements(self, clauses: Sequence[Clause], measures: Sequence[Measure], sort: Column | None) -> list[str]:
        """Return the parts of SQL that name the columns it needs."""
        named = [*(part for one in measures for part in one.expressions), *([self._cell_of(sort)] if sort else [])]
        for one, clause in zip(self._query.filters, clauses, strict=True):
            named += [clause.sql, f"u{self._number(one.column)}"] if clause.kind == "number" else [clause.sql]
        return named

    def _column(self, name: str) -> Column:
        return self._columns[self._table.index_of(name)]

    def _number(self, name: str) -> int:
        """Return the number that a column has in the table of SQL."""
        column = self._column(name)
        if column not in self._used:
            self._used.append(column)
        return self._used.index(column)

    def _measure(self, one: Aggregate) -> Measure:
        if not one.column:
            if one.function != "count":
                raise TableError("table_needs_column", function=one.function)
            return Measure(one, None, 0)
        column = self._column(one.column)
        measure = Measure(one, column, self._number(one.column))
        if one.function not in PLAIN and not measure.is_of_dates and not any(column.numbers) and any(column.texts):
            self._require_doubtful(column)
        return measure

    def _require_doubtful(self, column: Column) -> None:
        """Refuse a column of words; one of numbers that can be read in two ways is refused by its cells."""
        if column.kind != "number":
            example = next((text for text in column.texts if text), "")[:60]
            raise TableError("table_no_numbers", name=column.name, example=example)

    def _needed(self, labelled: Sequence[Column], measures: Sequence[Measure], sort: Column | None) -> list[Reading]:
        """Return the columns that have to be readable, each with its kind."""
        measured = [(one.column, one.is_of_dates) for one in measures if one.aggregate.function not in PLAIN]
        distinct = [one.column for one in measures if one.aggregate.function == "distinct"]
        needed: list[Reading] = [(column, "text") for column in distinct if column]
        for column, dated in measured:
            if column:
                kind: Kind = "date" if dated else "number"
                needed.append((column, kind))
        needed.extend((column, column.kind) for column in labelled if column.kind == "date")
        if sort:
            needed.append((sort, sort.kind))
        return needed

    def _matching(self, connection: Any, clauses: Sequence[Clause]) -> list[int]:
        """Return the rows that pass the filters; those of which that can't be said are noted."""
        if not clauses:
            return list(range(len(self._table.rows)))
        for place, clause in enumerate(clauses):
            if clause.kind == "number":
                self._require_comparable(connection, place, clauses)
        test, values = _all_of(clauses)
        found = connection.execute(f"SELECT pos, {test} FROM t ORDER BY pos", values).fetchall()  # noqa: S608 - of our own making
        pairs = zip(self._query.filters, clauses, strict=True)
        readings: list[Reading] = [(self._column(one.column), clause.kind) for one, clause in pairs]
        for position, passes in found:
            if passes is None:
                self._unreadable.note(position, readings)
        return [position for position, passes in found if passes]

    def _require_comparable(self, connection: Any, place: int, clauses: Sequence[Clause]) -> None:
        """Refuse to compare numbers of several currencies, among the rows that the other columns' filters let pass."""
        column = self._column(self._query.filters[place].column)
        pairs = zip(self._query.filters, clauses, strict=True)
        test, values = _all_of([one for own, one in pairs if one.kind == "text" or self._column(own.column) != column])
        number = self._used.index(column)
        found = connection.execute(f"SELECT DISTINCT u{number} FROM t WHERE {test}", values).fetchall()  # noqa: S608 - of our own making
        if units := differing(clauses[place].units | {unit for (unit,) in found if unit is not None}):
            raise TableError("table_units", name=column.name, units=units)

    def _ordered(self, connection: Any, positions: list[int], sort: Column | None) -> list[int]:
        if sort is None:
            return positions
        self._require_one_unit(sort, positions)
        cell = self._cell_of(sort)
        way = "DESC" if self._query.descending else "ASC"
        found = connection.execute(f"SELECT pos FROM t ORDER BY {cell} {way} NULLS LAST, pos").fetchall()  # noqa: S608 - of our own making
        wanted = set(positions)
        return [position for (position,) in found if position in wanted]

    def _cell_of(self, sort: Column) -> str:
        return f"{_SORTED_BY[sort.kind]}{self._used.index(sort)}"

    def _require_one_unit(self, column: Column, positions: Sequence[int]) -> None:
        units = differing(one.unit for position in positions if (one := column.numbers[position]))
        if column.kind == "number" and units:
            raise TableError("table_units", name=column.name, units=units)

    def _rows(self, ordered: Sequence[int]) -> TableAnswer:
        shown = [self._column(name) for name in self._query.columns] or self._columns
        span = span_of(column.index for column in shown)
        chosen = ordered[: self._query.limit]
        rows = [
            ResultRow(tuple(column.text(place) for column in shown), ranges_of(self._table, [place], span))
            for place in chosen
        ]
        names = [column.name for column in shown]
        return self._result(names, [""] * len(names), rows, len(ordered), (ordered, chosen), span)

    def _grouped(self, labelled: Sequence[Column], measures: Sequence[Measure], groups: list[Group]) -> TableAnswer:
        units = common_units(groups, len(measures))
        self._sort(groups, labelled, measures, units)
        of_results = [one.column for one in measures if one.column]
        span = span_of(column.index for column in [*labelled, *of_results] or self._columns)
        chosen = groups[: self._query.limit]
        rows = [ResultRow(written(one, units), ranges_of(self._table, one.positions, span)) for one in chosen]
        names = [*(column.name for column in labelled), *(one.name for one in measures)]
        shown_units = [*("" for _ in labelled), *(unit or "" for unit in units)]
        matched = sorted(position for group in groups for position in group.positions)
        used = sorted(position for group in chosen for position in group.positions)
        return self._result(names, shown_units, rows, len(groups), (matched, used), span)

    def _sort(
        self,
        groups: list[Group],
        labelled: Sequence[Column],
        measures: Sequence[Measure],
        units: Sequence[str | None],
    ) -> None:
        """Sort the groups by a label or a result; periods come in their order unless something else is asked."""
        name, place = self._query.sort_by, 0
        if not name and not (labelled and labelled[0].kind == "date"):
            return
        results = [one.name.casefold() for one in measures]
        if name.casefold() in results:
            place = len(labelled) + results.index(name.casefold())
        elif name:
            places = [*labelled, *(one.column for one in measures)]
            found = [place for place, column in enumerate(places) if column is self._column(name)]
            if not found or (len(found) > 1 and found[0] >= len(labelled)):
                raise TableError("table_sort", {"results": [one.name for one in measures]}, name=name)
            place = found[0]
        result = place - len(labelled)
        if result >= 0 and units[result] is None:
            raise TableError("table_units", name=name, units=", ".join(sorted({one.units[result] for one in groups})))
        keys = {id(one): _label_key(one, place, labelled) if result < 0 else one.values[result] for one in groups}
        filled = [one for one in groups if keys[id(one)] is not None]
        filled.sort(key=lambda one: cast("Any", keys[id(one)]), reverse=self._query.descending)
        groups[:] = [*filled, *(one for one in groups if keys[id(one)] is None)]

    def _result(
        self,
        names: Sequence[str],
        units: Sequence[str],
        rows: Sequence[ResultRow],
        result_rows: int,
        positions: tuple[Sequence[int], Sequence[int]],
        span: tuple[int, int],
    ) -> TableAnswer:
        matched, used = positions
        columns = (ColumnFacts(one.name, self._table.letters(one.index), one.kind) for one in self._columns)
        return TableAnswer(
            sheet=self._table.grid.name,
            sheets=self._sheets,
            columns=tuple(columns),
            header_row=self._table.header_row,
            total_rows=len(self._table.rows),
            matched_rows=len(matched),
            names=tuple(names),
            units=tuple(units),
            rows=tuple(rows),
            result_rows=result_rows,
            cells=ranges_of(self._table, sorted(used), span),
            left_out=self._table.left_out[:MAX_LISTED],
            unreadable=self._unreadable.listed(),
            unreadable_rows=len(self._unreadable),
            hidden_rows=self._hidden_among(matched),
        )

    def _hidden_among(self, positions: Sequence[int]) -> int:
        hidden = self._table.grid.hidden
        return sum(self._table.rows[position][0] in hidden for position in positions) if hidden else 0


def _all_of(clauses: Sequence[Clause]) -> tuple[str, list[Any]]:
    """Return the condition that all of these hold, with its values."""
    test = " AND ".join(f"({clause.sql})" for clause in clauses) or "true"
    return test, [value for clause in clauses for value in clause.values]


def _label_key(group: Group, place: int, labelled: Sequence[Column]) -> tuple[Decimal, str] | None:
    label, column = group.labels[place], labelled[place]
    if label is None:
        return None
    number = column.numbers[group.positions[0]] if column.kind == "number" else None
    return (number.value if number else Decimal(0), label.casefold())
