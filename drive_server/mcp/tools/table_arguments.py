"""The arguments of the tools for tables, as annotated types. No SQL and no expressions: names, operators and values."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict

from drive_server.knowledge.tables.dates import Order, Unit
from drive_server.knowledge.tables.numbers import Mark
from drive_server.knowledge.tables.request import Function, Operator
from drive_server.mcp.tools.arguments import AS_LIST, NOT_BOOLEAN

MAX_NAME_CHARACTERS: Final = 500
MAX_VALUE_CHARACTERS: Final = 1_000
MAX_NAMES: Final = 50
MAX_VALUES: Final = 200
MAX_FILTERS: Final = 20
MAX_RESULT_ROWS: Final = 500
MAX_HEADER_ROW: Final = 1_048_576


def _as_text(value: Any) -> Any:
    """Take numbers as texts: models write them without quotation marks."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


_Value = Annotated[str, Field(max_length=MAX_VALUE_CHARACTERS), BeforeValidator(_as_text)]
_ColumnName = Annotated[str, Field(max_length=MAX_NAME_CHARACTERS), BeforeValidator(_as_text)]


class FilterArgument(BaseModel):
    """A condition on the cells of a column; all conditions have to hold."""

    model_config = ConfigDict(extra="forbid")

    column: Annotated[_ColumnName, Field(description="The column, as the header names it.")]
    operator: Annotated[
        Operator,
        Field(
            description="Texts are compared without case; a date may be a day, a month or a year, as 2026-11; "
            "`between` includes both ends."
        ),
    ]
    value: Annotated[_Value | None, Field(description="What to compare with.")] = None
    values: Annotated[
        list[_Value], AS_LIST, Field(max_length=MAX_VALUES, description="For `in` and `between`: several.")
    ] = []


class AggregateArgument(BaseModel):
    """A result over the cells of a column."""

    model_config = ConfigDict(extra="forbid")

    function: Annotated[
        Function, Field(description="`distinct` counts different values; `count` without a column counts rows.")
    ]
    column: Annotated[_ColumnName, Field(description="The column, as the header names it.")] = ""


Sheet = Annotated[
    str,
    Field(
        max_length=MAX_NAME_CHARACTERS,
        description="The sheet of a workbook; without it, the only one that has the named columns.",
    ),
]
Columns = Annotated[
    list[_ColumnName],
    AS_LIST,
    Field(max_length=MAX_NAMES, description="The columns of rows to answer; without them, all."),
]
Filters = Annotated[
    list[FilterArgument], AS_LIST, Field(max_length=MAX_FILTERS, description="Only rows for which all of these hold.")
]
GroupBy = Annotated[
    list[_ColumnName],
    AS_LIST,
    Field(max_length=MAX_NAMES, description="One result for each different value of these columns."),
]
DateUnit = Annotated[Unit | None, Field(description="Group dates by this period.")]
Aggregates = Annotated[
    list[AggregateArgument],
    AS_LIST,
    Field(max_length=MAX_NAMES, description="What to work out; without any, rows are answered, or groups counted."),
]
SortBy = Annotated[
    str,
    Field(max_length=MAX_NAME_CHARACTERS + 20, description="A column, or a result as it is named, as sum(Amount)."),
]
Descending = Annotated[bool, Strict(), Field(description="The largest or latest first.")]
ResultLimit = Annotated[int, Field(ge=1, le=MAX_RESULT_ROWS, description="The most rows to answer."), NOT_BOOLEAN]
HeaderRow = Annotated[
    int | None,
    Field(ge=0, le=MAX_HEADER_ROW, description="The row with the names of the columns, if not found; 0: none."),
    NOT_BOOLEAN,
]
DecimalMark = Annotated[Mark | None, Field(description="Which sign is the decimal mark, if an error asks for it.")]
DateOrder = Annotated[Order | None, Field(description="Whether day or month comes first, if an error asks for it.")]
SkipUnreadable = Annotated[
    bool, Strict(), Field(description="Leave out rows that can't be read, and list them, instead of refusing.")
]
KeepTotals = Annotated[bool, Strict(), Field(description="Keep rows that look like totals of the others.")]
