"""The rows of a database, copied from SQLite to PostgreSQL and compared by hashes."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import orjson
from sqlalchemy import JSON, Column, Connection, Table, Text, bindparam, cast, func, insert, inspect, select, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from drive_server.kernel.sql.schema import Schema

BATCH: Final = 1000
NUL: Final = "\x00"
REPLACEMENT: Final = "\ufffd"
LEFT_OUT: Final = frozenset({"replicas", "process_locks", "name_positions", "name_keys"})
"""Tables of the processes that work now, and those that SQLite's index of names is made of."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The number of rows, and a hash of all of them that does not depend on their order."""

    rows: int = 0
    value: int = 0

    def __add__(self, row: Any) -> Digest:
        content = sha256(orjson.dumps([*row], default=_hex)).digest()
        return Digest(self.rows + 1, (self.value + int.from_bytes(content)) % (1 << 256))


def copied_tables(schema: Schema) -> list[Table]:
    """Return the tables whose rows are copied, each after those that it refers to."""
    return [table for table in schema.metadata.sorted_tables if table.name not in LEFT_OUT]


def filled_table(connection: Connection, tables: Iterable[Table]) -> str:
    """Return the name of a table that has rows; empty if there is none."""
    there = set(inspect(connection).get_table_names())
    filled = (table.name for table in tables if table.name in there and connection.execute(_any_of(table)).first())
    return next(filled, "")


def copy_rows(source: Connection, target: Connection, table: Table) -> Digest:
    """Copy all rows of a table; return the digest of those that were sent. A NUL in a text becomes U+FFFD."""
    digest = Digest()
    keys = [_key(column.name) for column in table.columns]
    statement = insert(table).values({column.name: _sent(column) for column in table.columns})
    rows = iter(_in_order(table, _rows(source, table)))
    while batch := [*islice(rows, BATCH)]:
        for row in batch:
            digest += row
        target.execute(statement, [dict(zip(keys, row, strict=True)) for row in batch])
    return digest


def digest_of_rows(connection: Connection, table: Table) -> Digest:
    """Return the digest of the rows that a table has."""
    digest = Digest()
    for row in _rows(connection, table):
        digest += row
    return digest


def continue_numbers(source: Connection, target: Connection, table: Table) -> None:
    """Have PostgreSQL give out numbers above all that SQLite gave out, those of rows that are gone too."""
    for column in table.primary_key.columns:
        sequence = target.scalar(select(func.pg_get_serial_sequence(table.name, column.name)))
        newest = max(source.scalar(select(func.max(column))) or 0, _given_out(source, table)) if sequence else 0
        if newest:
            target.execute(select(func.setval(sequence, newest)))


def _given_out(source: Connection, table: Table) -> int:
    if not inspect(source).has_table("sqlite_sequence"):
        return 0
    query = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
    return source.scalar(query, {"name": table.name}) or 0


def _any_of(table: Table) -> Any:
    return select(1).select_from(table).limit(1)


def _rows(connection: Connection, table: Table) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, JSON as the text that it is stored as: null and none differ there."""
    query = select(*(cast(column, Text) if _is_json(column) else column for column in table.columns))
    for row in connection.execute(query, execution_options={"yield_per": BATCH}):
        yield tuple(value.replace(NUL, REPLACEMENT) if isinstance(value, str) else value for value in row)


def _sent(column: Column[Any]) -> Any:
    if _is_json(column):
        return cast(bindparam(_key(column.name), type_=Text), column.type)
    return bindparam(_key(column.name), type_=column.type)


def _key(name: str) -> str:
    """Return the name of a column's value: its own name is kept for statements of SQLAlchemy's."""
    return f"new_{name}"


def _is_json(column: Column[Any]) -> bool:
    return isinstance(column.type, JSON)


def _in_order(table: Table, rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    """Return the rows, each after the row of the same table that it refers to."""
    own = next((key for key in table.foreign_keys if key.column.table is table), None)
    if own is None:
        return rows
    names = [column.name for column in table.columns]
    return _from_the_top([*rows], names.index(own.column.name), names.index(own.parent.name))


def _from_the_top(rows: Sequence[tuple[Any, ...]], key: int, parent: int) -> Iterator[tuple[Any, ...]]:
    below: defaultdict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        below[row[parent]].append(row)
    waiting = deque(below[None])
    while waiting:
        row = waiting.popleft()
        yield row
        waiting.extend(below[row[key]])


def _hex(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(type(value).__name__)
