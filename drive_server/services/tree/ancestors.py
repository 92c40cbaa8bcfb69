"""Ancestors of items up to the root, with the caller's role on each: the basis of all rights."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, and_, bindparam, case, func, literal, select
from sqlalchemy.orm import Session, aliased

from drive_server.services.tree.grantees import granted_to
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import ShareRow

Reader = Session | Connection
"""A session, whose rows can be changed, or a bare connection, which costs far less."""

MAX_DEPTH: Final = 200


@dataclass(frozen=True, slots=True)
class AncestorPath:
    """An item, and the links from it to its root, nearest first.

    Each link has the `id`, `parent_id` and `name` of a place, the caller's `role` on it (0 for none) and how many
    `shares` there are. The item's row belongs to the session that read it; read by a connection it belongs to none.
    """

    row: NodeRow
    links: list[Row[Any]]


class AncestorQuery:
    """A query for the ancestor paths of some items; built once, as every call of the drive runs one."""

    def __init__(self, wanted: ColumnElement[bool]) -> None:
        # A bulk update (trash, restore) in the same session may have passed by rows that it holds: they are read anew.
        self._rows = _links(wanted, NodeRow).execution_options(populate_existing=True)
        self._columns = _links(wanted, *(column.label(f"item_{column.name}") for column in _NODES.c))

    def read(self, reader: Reader, values: Mapping[str, Any]) -> dict[str, AncestorPath]:
        """Return the path of each existing item, by its id."""
        is_session = isinstance(reader, Session)
        found: dict[str, AncestorPath] = {}
        for link in reader.execute(self._rows if is_session else self._columns, values):
            if link.start not in found:
                found[link.start] = AncestorPath(link.NodeRow if is_session else _row_of(link), [])
            found[link.start].links.append(link)
        return found


def own_role(email: Any) -> Any:
    """Return an aggregate: the highest role among the shares with the person or their groups, 0 if there is none."""
    return func.coalesce(func.max(case((granted_to(email), ShareRow.role), else_=0)), 0)


def _links(wanted: ColumnElement[bool], *item: Any) -> Select[*tuple[Any, ...]]:
    """Return a query for all links of all paths; the first link of each has the columns `item` too."""
    chain = (
        select(NodeRow.id.label("start"), NodeRow.id, NodeRow.parent_id, NodeRow.name, literal(0).label("depth"))
        .where(wanted)
        .cte("chain", recursive=True)
    )
    above = aliased(NodeRow)
    chain = chain.union_all(
        select(chain.c.start, above.id, above.parent_id, above.name, chain.c.depth + 1)
        .join(above, above.id == chain.c.parent_id)
        .where(chain.c.depth <= MAX_DEPTH)
    )
    columns = (chain.c.start, chain.c.id, chain.c.parent_id, chain.c.name, chain.c.depth)
    return (
        select(*item, *columns, own_role(bindparam("email")).label("role"), func.count(ShareRow.id).label("shares"))
        .select_from(chain)
        .outerjoin(NodeRow, and_(NodeRow.id == chain.c.id, chain.c.depth == 0))
        .outerjoin(ShareRow, ShareRow.node_id == chain.c.id)
        .group_by(*columns, NodeRow.id)
        .order_by(chain.c.start, chain.c.depth)
    )


def _row_of(link: Row[Any]) -> NodeRow:
    return NodeRow(**dict(zip(_NAMES, link, strict=False)))


_NODES = cast("Table", NodeRow.__table__)
_NAMES: Final = tuple(column.name for column in _NODES.c)
# One id needs no list of them, which is written into the query anew.
OF_ONE: Final = AncestorQuery(NodeRow.id == bindparam("id"))
OF_MANY: Final = AncestorQuery(NodeRow.id.in_(bindparam("ids", expanding=True)))
OF_ROOT: Final = AncestorQuery(
    NodeRow.id == select(UserRow.root_id).where(UserRow.id == bindparam("user")).scalar_subquery()
)
