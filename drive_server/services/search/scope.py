"""The area of a search: the items that the caller may see, and the files that the index looks through."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import CompoundSelect, Select, bindparam, func, literal, null, select, union_all

from drive_server.kernel.messages import Message
from drive_server.services.tree.nodes import QUERIES_KEPT, NodeView, locate_folder, shared_ids, visible_ids
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.access import Principal

MAX_NAMED_FILES = 2000
"""The most files of a folder that a query names; beyond that it searches all that the caller owns."""
MAX_FOREIGN_FILES = 10_000
"""The most files of other people in a search: naming each takes 5 microseconds."""
UNFINISHED = ("pending", "indexing")
BATCH = 5000


@dataclass(frozen=True, slots=True)
class SearchArea:
    """All items that the caller can see, or those of them that are below a folder and fit a filter.

    The index answers for files of `owner_ids` (the caller or nobody) and for `file_ids`, all visible to the caller.
    With `needs_filter`, `owner_ids` also have files outside of the area, and `among` has to filter the hits.
    """

    visible: Select[str]
    owner_ids: tuple[str, ...]
    file_ids: tuple[str, ...]
    folder_id: str | None
    unfinished: int
    is_cut: bool = False
    needs_filter: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to ask the index for."""
        return not self.owner_ids and not self.file_ids

    @property
    def notes(self) -> list[Message]:
        """Sentences about possible gaps in the answer."""
        found: list[Message] = []
        if self.unfinished == 1:
            found.append(Message.of("search_waiting_one"))
        elif self.unfinished:
            found.append(Message.of("search_waiting", count=self.unfinished))
        if self.is_cut:
            found.append(Message.of("search_cut", limit=MAX_FOREIGN_FILES))
        return found

    def holds(self, node: NodeView) -> bool:
        """Return whether an item that the caller can see is live and in the folder, if there is one."""
        return node.row.trash_id is None and (self.folder_id is None or self.folder_id in node.ancestors)

    async def among(self, session: "AsyncSession", ids: "Iterable[str]") -> set[str]:
        """Return those of the ids whose items are in the area now."""
        wanted = list(dict.fromkeys(ids))
        query = self.visible.where(NodeRow.id.in_(bindparam("ids", expanding=True)))
        found: set[str] = set()
        for start in range(0, len(wanted), BATCH):
            found.update(await session.scalars(query, {"ids": wanted[start : start + BATCH]}))
        return found


async def open_area(
    session: "AsyncSession",
    principal: "Principal",
    folder: str | None,
    conditions: "Sequence[ColumnElement[bool]]" = (),
) -> SearchArea:
    """Return the area below the folder, or everything, as far as the conditions on nodes hold."""
    node = await locate_folder(session, principal, folder) if folder is not None else None
    visible = visible_ids(principal, node.id if node else None)
    is_narrowed = node is not None or len(conditions) > 0
    if is_narrowed:
        visible = visible.where(*conditions)
        unfinished, named = await _counted(session, _named(visible))
        if len(named) <= MAX_NAMED_FILES:
            return SearchArea(visible, (), named, node.id if node else None, unfinished)
    theirs = _with_count(visible, visible.where(*_foreign(principal)), MAX_FOREIGN_FILES) if is_narrowed else None
    unfinished, foreign = await _counted(session, theirs if theirs is not None else _all_foreign(principal))
    has_own = node is None or node.row.owner_id == principal.user_id
    return SearchArea(
        visible=visible,
        owner_ids=(principal.user_id,) if has_own else (),
        file_ids=foreign[:MAX_FOREIGN_FILES],
        folder_id=node.id if node else None,
        unfinished=unfinished,
        is_cut=len(foreign) > MAX_FOREIGN_FILES,
        needs_filter=is_narrowed,
    )


async def _counted(session: "AsyncSession", query: "CompoundSelect[str | None, int]") -> tuple[int, tuple[str, ...]]:
    """Return how many files are not indexed yet, and the ids of those that the query names."""
    rows = (await session.execute(query)).all()
    return sum(count for _, count in rows), tuple(file_id for file_id, _ in rows if file_id is not None)


def _foreign(principal: "Principal") -> tuple["ColumnElement[bool]", "ColumnElement[bool]"]:
    """Return the conditions for other people's items; asked besides `visible`, which would go through all own ones."""
    return NodeRow.id.in_(shared_ids(principal)), NodeRow.owner_id != principal.user_id


# Building it takes longer than the database takes to answer it.
@lru_cache(maxsize=QUERIES_KEPT)
def _all_foreign(principal: "Principal") -> "CompoundSelect[str | None, int]":
    """Return the query for all that others share with the caller: beginning with that, not with all that there is."""
    shared = shared_ids(principal).subquery()
    files = select(NodeRow.id).join(shared, shared.c.id == NodeRow.id).where(NodeRow.owner_id != principal.user_id)
    return _with_count(visible_ids(principal), files, MAX_FOREIGN_FILES)


def _named(visible: Select[str]) -> "CompoundSelect[str | None, int]":
    return _with_count(visible, visible, MAX_NAMED_FILES)


def _with_count(visible: Select[str], files: Select[str], most: int) -> "CompoundSelect[str | None, int]":
    """Both in one statement: each costs half a millisecond, even for little."""
    waiting = visible.join(IndexEntryRow, IndexEntryRow.file_id == NodeRow.id).where(
        IndexEntryRow.state.in_(UNFINISHED)
    )
    listed = files.where(NodeRow.kind == "file").order_by(NodeRow.updated_at.desc(), NodeRow.id).limit(most + 1)
    named = listed.subquery()
    return union_all(
        select(null().label("id"), waiting.with_only_columns(func.count()).scalar_subquery().label("waiting")),
        select(named.c.id, literal(0)),
    )
