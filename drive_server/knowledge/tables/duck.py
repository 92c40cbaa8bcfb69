"""A DuckDB database in memory with the columns that a question needs, without files, network and extensions."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from drive_server.knowledge.tables.columns import MAX_DECIMALS, Column

_DIGITS: Final = 38
_NAMES: Final = re.compile(r"\b[tknuds]\d+\b")
_SETTINGS: Final = (
    "SET threads = 1",
    "SET memory_limit = '512MB'",
    "SET temp_directory = ''",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",
)


def open_table(
    columns: Sequence[Column], groups: Sequence[Sequence[str | None]], rows: int, statements: Iterable[str]
) -> Any:
    """Return a connection to a table `t` with a row for each row of data, numbered `pos` from 0.

    Column N has `tN` (text), `kN` (as it is compared), `nN` (exact number), `uN` (its unit), `dN` (moment) and `sN`
    (false where a merged area repeats its value); `gN` are the labels of groups. Only those are there that the
    statements to come name. DuckDB's own limits hold: one thread, 512 MB.
    """
    import duckdb
    import pyarrow as pa  # both take a while to load, and only questions need them

    found: dict[str, Any] = {"pos": pa.array(range(rows), pa.int64())}
    for name in sorted({name for statement in statements for name in _NAMES.findall(statement)}):
        found[name] = _array(name[0], columns[int(name[1:])])
    found |= {f"g{number}": pa.array(labels, pa.string()) for number, labels in enumerate(groups)}
    connection = duckdb.connect(":memory:")
    for setting in _SETTINGS:
        connection.execute(setting)
    connection.register("cells", pa.table(found))
    connection.execute("CREATE TABLE t AS SELECT * FROM cells")
    connection.unregister("cells")
    connection.execute("SET lock_configuration = true")
    return connection


def _array(letter: str, column: Column) -> Any:
    import pyarrow as pa  # see above

    if letter == "n":
        values = [one.value if one else None for one in column.numbers]
        decimals = max(map(_decimals, {value.as_tuple().exponent for value in values if value is not None}), default=0)
        return pa.array(values, pa.decimal128(_DIGITS, decimals))
    if letter == "u":
        return pa.array([one.unit if one else None for one in column.numbers], pa.string())
    if letter == "s":
        return pa.array([not repeats for repeats in column.repeats], pa.bool_())
    if letter == "d":
        return pa.array(column.moments, pa.timestamp("us"))
    return pa.array(column.keys if letter == "k" else column.texts, pa.string())


def _decimals(exponent: int | str) -> int:
    return min(MAX_DECIMALS, max(0, -exponent)) if isinstance(exponent, int) else 0
