"""Lists in the order of names, page by page: complete and without doubles although names change in between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Integer, Row, Select, bindparam, func, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from drive_server.services.pagination import Cursors
from drive_server.services.tree.ancestors import Reader
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow

# The most renamed items in a cursor: far more than are renamed while somebody turns the pages.
MOST_REMEMBERED = 300
ROOM = "room"
_NEWEST_CHANGE = select(func.max(ChangeRow.id))


@dataclass(frozen=True, slots=True)
class NameOrder:
    """An order: the columns to sort by, and the same of a row as if it had the name given."""

    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[str], ...]
    key: Callable[[Row[Any], str], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Place:
    """The place where a list goes on: after `key`, as it was at the change `seen`.

    `listed` are items that were listed although their names come later now.
    """

    key: tuple[Any, ...]
    seen: int
    listed: tuple[str, ...]


def first_rows(rows: Select[*tuple[Any, ...]], order: NameOrder) -> Select[*tuple[Any, ...]]:
    """Return the query for `first_page`: as many rows as `ROOM` says, one more than the page may have."""
    newest = _NEWEST_CHANGE.scalar_subquery().label("seen")
    return rows.add_columns(newest).order_by(*order.columns).limit(bindparam(ROOM, type_=Integer))


def first_page(
    found: Sequence[Row[Any]], size: int, order: NameOrder, cursors: Cursors
) -> tuple[list[Row[Any]], str | None]:
    """Return the first rows of a list, and the cursor to go on with."""
    seen = (found[0].seen if found else None) or 0
    return _page(found, size, order, _Place((), seen, ()), cursors)


def rows_in_order(
    reader: Reader, rows: Select[*tuple[Any, ...]], order: NameOrder, size: int, cursors: Cursors, cursor: str | None
) -> tuple[list[Row[Any]], str | None]:
    """Return the next rows, and the cursor to go on with. `rows` selects columns of nodes, `id` and `name` at least."""
    if cursor is None:
        found = reader.execute(first_rows(rows, order), {ROOM: size + 1}).all()
        return first_page(found, size, order, cursors)
    seen = reader.scalar(_NEWEST_CHANGE) or 0
    ordered = rows.order_by(*order.columns)
    key, then, listed = cursors.decode(cursor, list, int, list)
    place = _Place(tuple(key), then, tuple(listed))
    missed: list[Row[Any]] = []
    if seen > then:
        missed, place = _repaired(reader, rows, order, place, seen)
    if len(missed) >= size:
        shown = missed[:size]
        following = _Place(place.key, then, (*listed, *(row.id for row in shown)))
        return shown, _encoded(cursors, following)
    room = size - len(missed)
    later = ordered.where(tuple_(*order.columns) > tuple_(*place.key), NodeRow.id.not_in(place.listed))
    found = reader.execute(later.limit(room + 1)).all()
    shown, more = _page(found, room, order, place, cursors)
    return [*missed, *shown], more


def _repaired(
    reader: Reader, rows: Select[*tuple[Any, ...]], order: NameOrder, place: _Place, seen: int
) -> tuple[list[Row[Any]], _Place]:
    """Return what was missed by being renamed, and the place with what was listed by an earlier name."""
    earlier = _earlier_names(reader, rows, place.seen)
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
    return missed, _Place(place.key, seen, tuple(sorted(listed)[-MOST_REMEMBERED:]))


def _earlier_names(reader: Reader, rows: Select[*tuple[Any, ...]], since: int) -> dict[str, str]:
    """Return for each item that was renamed since the change how it was called then."""
    touched = select(ChangeItemRow.change_id).where(
        ChangeItemRow.change_id > since, ChangeItemRow.item_id.in_(rows.with_only_columns(NodeRow.id))
    )
    changes = select(ChangeRow.entries).where(ChangeRow.id.in_(touched)).order_by(ChangeRow.id)
    names: dict[str, str] = {}
    for entries in reader.scalars(changes):
        for entry in entries:
            before = entry["before"] or {}
            if entry["table"] == "nodes" and "name" in before and entry["after"]:
                names.setdefault(entry["id"], before["name"])
    return names


def _page(
    found: Sequence[Row[Any]], size: int, order: NameOrder, place: _Place, cursors: Cursors
) -> tuple[list[Row[Any]], str | None]:
    shown = list(found[:size])
    if len(found) <= size:
        return shown, None
    key = order.key(shown[-1], shown[-1].name) if shown else place.key
    return shown, _encoded(cursors, _Place(key, place.seen, place.listed))


def _encoded(cursors: Cursors, place: _Place) -> str:
    return cursors.encode(place.key, place.seen, place.listed)
