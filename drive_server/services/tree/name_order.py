"""Lists in the order of names, page by page: complete and without doubles although names change in between."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    String,
    bindparam,
    cast,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy.orm import InstrumentedAttribute

from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.server import is_embedded
from drive_server.services.tree.ancestors import Reader
from drive_server.storage.journal_numbers import read_numbers_sync
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow

# The most renamed items in a cursor: far more than are renamed while somebody turns the pages.
MAX_REMEMBERED = 300
ROOM = "room"
SETTLED = "settled"
ALL = 1 << 62
PLACE_COLUMNS = ("seen", "ahead")
"""The columns that `first_rows` adds: from them `first_page` knows the place to go on from."""


@dataclass(frozen=True, slots=True)
class NameOrder:
    """An order: the columns to sort by, and the same of a row as if it had the name given."""

    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[str], ...]
    key: Callable[[Row[Any], str], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Place:
    """The place where a list goes on: after `key`, as it was at the change `seen`, and at those `ahead` of it.

    With several writers a change below the newest may be committed later: `seen` is settled. `listed` are items that
    were listed although their names come later now.
    """

    key: tuple[Any, ...]
    seen: int
    ahead: tuple[int, ...]
    listed: tuple[str, ...]


def first_rows(rows: Select[*tuple[Any, ...]], order: NameOrder) -> Select[*tuple[Any, ...]]:
    """Return the query for `first_page`."""
    ids = func.aggregate_strings(cast(ChangeRow.id, String), ",")
    ahead = select(ids).where(ChangeRow.id > bindparam(SETTLED, type_=BigInteger)).scalar_subquery()
    newest = select(func.max(ChangeRow.id)).scalar_subquery()
    ordered = rows.add_columns(newest.label("seen"), ahead.label("ahead")).order_by(*order.columns)
    return ordered.limit(bindparam(ROOM, type_=Integer))


def first_page(
    reader: Reader,
    query: Select[*tuple[Any, ...]],
    values: Mapping[str, Any],
    size: int,
    order: NameOrder,
    cursors: Cursors,
) -> tuple[list[Row[Any]], str | None]:
    """Return the first rows that a query of `first_rows` finds with the values, and the cursor to go on with.

    With several writers a cursor needs settled numbers, read before the rows: only then they are found once more.
    """
    found = reader.execute(query, {**values, ROOM: size + 1, SETTLED: ALL}).all()
    settled = (found[0].seen if found else None) or 0
    if len(found) > size and not _has_one_writer(reader):
        settled = read_numbers_sync(reader).settled
        found = reader.execute(query, {**values, ROOM: size + 1, SETTLED: settled}).all()
    ahead = tuple(map(int, found[0].ahead.split(","))) if found and found[0].ahead else ()
    return _page(found, size, order, _Place((), settled, ahead[-MAX_REMEMBERED:], ()), cursors)


def rows_in_order(
    reader: Reader, rows: Select[*tuple[Any, ...]], order: NameOrder, size: int, cursors: Cursors, cursor: str | None
) -> tuple[list[Row[Any]], str | None]:
    """Return the next rows, and the cursor to go on with. `rows` selects columns of nodes, `id` and `name` at least."""
    if cursor is None:
        return first_page(reader, first_rows(rows, order), {}, size, order, cursors)
    numbers = read_numbers_sync(reader)
    ordered = rows.order_by(*order.columns)
    key, then, ahead, listed = cursors.decode(cursor, list, int, list, list)
    place = _Place(tuple(key), then, tuple(ahead), tuple(listed))
    missed: list[Row[Any]] = []
    if numbers.newest > then:
        missed, place = _repaired(reader, rows, order, place, numbers.settled)
    if len(missed) >= size:
        shown = missed[:size]
        following = _Place(place.key, then, tuple(ahead), (*listed, *(row.id for row in shown)))
        return shown, _encoded(cursors, following)
    room = size - len(missed)
    later = ordered.where(tuple_(*order.columns) > tuple_(*place.key), NodeRow.id.not_in(place.listed))
    found = reader.execute(later.limit(room + 1)).all()
    shown, more = _page(found, room, order, place, cursors)
    return [*missed, *shown], more


def _repaired(
    reader: Reader, rows: Select[*tuple[Any, ...]], order: NameOrder, place: _Place, settled: int
) -> tuple[list[Row[Any]], _Place]:
    """Return the rows missed by being renamed, and the place with the ids listed under an earlier name."""
    earlier, ahead = _earlier_names(reader, rows, place, settled)
    renamed = reader.execute(rows.where(NodeRow.id.in_(earlier))).all() if earlier else []
    missed: list[Row[Any]] = []
    listed = set(place.listed)
    for row in renamed:
        was_listed = row.id in listed or order.key(row, earlier[row.id]) <= place.key
        comes_later = order.key(row, row.name) > place.key
        if was_listed and comes_later:
            listed.add(row.id)
        elif not was_listed and not comes_later:
            missed.append(row)
    missed.sort(key=lambda row: order.key(row, row.name))
    return missed, _Place(place.key, settled, ahead, tuple(sorted(listed)[-MAX_REMEMBERED:]))


def _earlier_names(
    reader: Reader, rows: Select[*tuple[Any, ...]], place: _Place, settled: int
) -> tuple[dict[str, str], tuple[int, ...]]:
    """Return for each item that was renamed since the place how it was called then, and the changes after `settled`."""
    touched = select(ChangeItemRow.change_id).where(
        ChangeItemRow.change_id > place.seen, ChangeItemRow.item_id.in_(rows.with_only_columns(NodeRow.id))
    )
    wanted = or_(ChangeRow.id.in_(touched), ChangeRow.id > settled)
    changes = select(ChangeRow.id, ChangeRow.entries).where(wanted).order_by(ChangeRow.id)
    names: dict[str, str] = {}
    ahead: list[int] = []
    for change_id, entries in reader.execute(changes):
        if change_id > settled:
            ahead.append(change_id)
        if change_id <= place.seen or change_id in place.ahead:
            continue
        for entry in entries:
            before = entry["before"] or {}
            if entry["table"] == "nodes" and "name" in before and entry["after"]:
                names.setdefault(entry["id"], before["name"])
    return names, tuple(ahead[-MAX_REMEMBERED:])


def _page(
    found: Sequence[Row[Any]], size: int, order: NameOrder, place: _Place, cursors: Cursors
) -> tuple[list[Row[Any]], str | None]:
    shown = list(found[:size])
    if len(found) <= size:
        return shown, None
    key = order.key(shown[-1], shown[-1].name) if shown else place.key
    return shown, _encoded(cursors, _Place(key, place.seen, place.ahead, place.listed))


def _encoded(cursors: Cursors, place: _Place) -> str:
    return cursors.encode(place.key, place.seen, place.ahead, place.listed)


def _has_one_writer(reader: Reader) -> bool:
    bind = reader if isinstance(reader, Connection) else reader.get_bind()
    return is_embedded(bind)
