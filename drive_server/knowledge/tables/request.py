"""The question to a table, and the answer: plain values that go between processes."""

from dataclasses import dataclass, field
from typing import Any, Literal

from drive_server.knowledge.tables.dates import Order, Unit
from drive_server.knowledge.tables.numbers import Mark

Operator = Literal[
    "=", "!=", ">", ">=", "<", "<=", "between", "in", "contains", "not_contains", "starts_with", "empty", "not_empty"
]
Function = Literal["sum", "count", "min", "max", "average", "distinct"]
Kind = Literal["number", "date", "text"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the cell of a row; `values` has two for `between`, any number for `in`, none for `empty`."""

    column: str
    operator: Operator
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A function of a column's cells; `count` without a column counts rows."""

    function: Function
    column: str = ""

    @property
    def name(self) -> str:
        """The name of the result's column."""
        return f"{self.function}({self.column})" if self.column else self.function


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A question to one table; columns are named as the header has them."""

    sheet: str = ""
    columns: tuple[str, ...] = ()
    filters: tuple[Condition, ...] = ()
    group_by: tuple[str, ...] = ()
    date_unit: Unit | None = None
    aggregates: tuple[Aggregate, ...] = ()
    sort_by: str = ""
    descending: bool = False
    limit: int = 50
    header_row: int | None = None
    decimal_mark: Mark | None = None
    date_order: Order | None = None
    skip_unreadable: bool = False
    keep_totals: bool = False


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of the table: its name, its letters in the sheet, and the kind of most of its cells."""

    name: str
    letters: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell by its place, with its text."""

    cell: str
    text: str


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row of the result, and the places of the cells that it was made from."""

    values: tuple[str | None, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The answer of a table.

    `total_rows` are the rows of data, `matched_rows` those that pass the filters, `hidden_rows` those of them that the
    sheet hides; `left_out` are rows that hold totals of the others, `unreadable` cells that were skipped. `names` and
    `units` are of the columns of `rows`.
    """

    sheet: str
    sheets: tuple[str, ...]
    columns: tuple[ColumnFacts, ...]
    header_row: int | None
    total_rows: int
    matched_rows: int
    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    result_rows: int
    cells: tuple[str, ...]
    left_out: tuple[CellText, ...] = ()
    unreadable: tuple[CellText, ...] = ()
    unreadable_rows: int = 0
    hidden_rows: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why there is no answer: a code of a message with its parameters, and details."""

    code: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    details: dict[str, Any] = field(default_factory=dict[str, Any])


class TableError(Exception):
    """A question that a table can't answer."""

    def __init__(self, code: str, details: dict[str, Any] | None = None, **params: Any) -> None:
        super().__init__(code)
        self.refusal = Refusal(code, params, details or {})
