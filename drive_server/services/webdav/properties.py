"""Dead properties of WebDAV (RFC 4918, section 4): clients' notes about items. They are no part of the contents."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

from sqlalchemy import Connection, Row, Table, delete, func, insert, select

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.errors import TooLargeError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.tree.nodes import BATCH, descendants, locate_live_sync
from drive_server.storage.tables.dav import DavPropertyRow

MAX_NAME_CHARACTERS: Final = 512
MAX_VALUE_CHARACTERS: Final = 16_384
MAX_PROPERTIES: Final = 200
"""Of one item."""

_PROPERTIES = cast("Table", DavPropertyRow.__table__)
Properties = dict[str, str]
"""The elements as XML, by their names in Clark notation."""


class DavProperties:
    """Stores the properties of items, few and small ones. Every editor of an item may set them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, node_ids: Collection[str]) -> dict[str, Properties]:
        """Return the properties of the items, by item. The caller has seen that these are visible."""
        return await self._database.read_sync(lambda connection: properties_sync(connection, node_ids))

    async def change(self, actor: Actor, ref: str, changes: Mapping[str, str | None]) -> None:
        """Set the properties, and remove those that are None; all of it or, by an error, none.

        Raises `TooLargeError` for values that are too long, or too many of them, and as a change of the item does.
        """
        require_scope(actor.principal, Scope.WRITE)
        for name, value in changes.items():
            if len(name) > MAX_NAME_CHARACTERS or len(value or "") > MAX_VALUE_CHARACTERS:
                raise TooLargeError(Message.of("property_too_large", limit=MAX_VALUE_CHARACTERS))

        def write(connection: Connection) -> None:
            node_id = locate_live_sync(connection, actor.principal, ref, Role.EDITOR).id
            of_item = _PROPERTIES.c.node_id == node_id
            connection.execute(delete(_PROPERTIES).where(of_item, _PROPERTIES.c.name.in_(changes)))
            added = [
                {"node_id": node_id, "name": name, "value": value}
                for name, value in changes.items()
                if value is not None
            ]
            if added:
                connection.execute(insert(_PROPERTIES), added)
            if (connection.scalar(select(func.count()).where(of_item)) or 0) > MAX_PROPERTIES:
                raise TooLargeError(Message.of("too_many_properties", limit=MAX_PROPERTIES))

        await self._database.write_sync(write)

    async def copy(self, source_id: str, copy_id: str) -> None:
        """Give a copy, and the items in it, the properties of their originals, as `copy_properties` does."""
        await self._database.write_sync(lambda connection: copy_properties(connection, source_id, copy_id))


def properties_sync(connection: Connection, node_ids: Collection[str]) -> dict[str, Properties]:
    """Return the properties of the items, as `DavProperties.of` does."""
    ids, found = list(node_ids), dict[str, Properties]()
    for start in range(0, len(ids), BATCH):
        query = select(_PROPERTIES).where(_PROPERTIES.c.node_id.in_(ids[start : start + BATCH]))
        for row in connection.execute(query.order_by(_PROPERTIES.c.name)):
            found.setdefault(row.node_id, {})[row.name] = row.value
    return found


def copy_properties(connection: Connection, source_id: str, copy_id: str) -> None:
    """Give a copy, and the items in it, the properties of their originals.

    A file that was there before has its others still, unless they are too many together.
    """
    found = _below(connection, source_id)
    if not found:
        return
    rows = [
        {"node_id": target, "name": row.name, "value": row.value}
        for path, target in _paths(connection, copy_id).items()
        for row in found.get(path, ())
    ]
    _make_room(connection, copy_id, [row["name"] for row in rows if row["node_id"] == copy_id])
    if rows:
        connection.execute(insert(_PROPERTIES), rows)


def _make_room(connection: Connection, node_id: str, names: Sequence[str]) -> None:
    """Drop the item's properties of the names, and all others if these would be too many with them."""
    of_item = _PROPERTIES.c.node_id == node_id
    connection.execute(delete(_PROPERTIES).where(of_item, _PROPERTIES.c.name.in_(names)))
    others = connection.scalar(select(func.count()).where(of_item)) or 0
    if others + len(names) > MAX_PROPERTIES:
        connection.execute(delete(_PROPERTIES).where(of_item))


def _below(connection: Connection, top: str) -> dict[tuple[str, ...], list[Row[Any]]]:
    """Return the properties in a tree by the names on the way from its top, which is the empty path."""
    tree = descendants(top)
    is_below = (_PROPERTIES.c.node_id == top) | _PROPERTIES.c.node_id.in_(select(tree.c.id))
    rows = connection.execute(select(_PROPERTIES).where(is_below)).all()
    if not rows:
        return {}
    places = {node_id: path for path, node_id in _paths(connection, top).items()}
    found: dict[tuple[str, ...], list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(places[row.node_id], []).append(row)
    return found


def _paths(connection: Connection, top: str) -> dict[tuple[str, ...], str]:
    tree = descendants(top)
    places: dict[str, tuple[str, ...]] = {top: ()}
    for row in connection.execute(select(tree.c.id, tree.c.parent_id, tree.c.name).order_by(tree.c.depth)):
        places[row.id] = (*places[row.parent_id], row.name)
    return {path: node_id for node_id, path in places.items()}
