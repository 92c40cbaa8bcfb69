"""Where a search looks: what the caller may see by the database now, and what the index is asked for."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import Select, func, select

from drive_server.services.nodes import QUERIES_KEPT, Located, locate_folder, visible_ids
from drive_server.storage.tables import IndexEntryRow, NodeRow, ShareRow

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.access import Principal

MAX_LISTED_FILES = 2000
UNFINISHED = ("pending", "indexing")


@dataclass(frozen=True, slots=True)
class SearchArea:
    """All that the caller can see, or what of it is below a folder.

    The index answers for files of `owner_ids` and for `file_ids`. That may be more than the caller may see, where the
    files are too many to list, so `holds` is asked about everything it answers.
    """

    visible: Select[str]
    owner_ids: tuple[str, ...]
    file_ids: tuple[str, ...]
    folder_id: str | None
    unfinished: int

    @property
    def note(self) -> str:
        """What the answer may lack."""
        if not self.unfinished:
            return ""
        files, their = ("file is", "its") if self.unfinished == 1 else ("files are", "their")
        return f"{self.unfinished} {files} not indexed yet, so {their} text was not searched."

    def holds(self, located: Located) -> bool:
        """Whether an item that the caller can see is live and in the folder, if there is one."""
        return located.row.trash_id is None and (self.folder_id is None or self.folder_id in located.ancestors)


async def open_area(session: "AsyncSession", principal: "Principal", folder: str | None) -> SearchArea:
    """Return the area below the folder, or everything. Raises what `locate_folder` raises."""
    located = await locate_folder(session, principal, folder) if folder is not None else None
    visible = visible_ids(principal, located.id if located else None)
    owner_ids, file_ids = await _below(session, visible, located) if located else await _everywhere(session, principal)
    return SearchArea(
        visible=visible,
        owner_ids=owner_ids,
        file_ids=file_ids,
        folder_id=located.id if located else None,
        unfinished=await session.scalar(_unfinished(visible)) or 0,
    )


async def _below(
    session: "AsyncSession", visible: Select[str], folder: Located
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    files = await _list_files(session, visible)
    return ((), files) if files is not None else ((folder.row.owner_id,), ())


async def _everywhere(session: "AsyncSession", principal: "Principal") -> tuple[tuple[str, ...], tuple[str, ...]]:
    files = await _list_files(session, _foreign_ids(principal))
    if files is not None:
        return (principal.user_id,), files
    givers = (
        select(NodeRow.owner_id)
        .join(ShareRow, ShareRow.node_id == NodeRow.id)
        .where(ShareRow.email == principal.email, NodeRow.trash_id.is_(None))
        .distinct()
    )
    return (principal.user_id, *(await session.scalars(givers))), ()


async def _list_files(session: "AsyncSession", visible: Select[str]) -> tuple[str, ...] | None:
    """Return the ids of the files, or None if they are too many to name each to the index."""
    ids = (await session.scalars(_listed_files(visible))).all()
    return tuple(ids) if len(ids) <= MAX_LISTED_FILES else None


# Building these takes longer than the database takes to answer them, and `visible_ids` returns the same query to the
# same person as long as no folder is given.
@lru_cache(maxsize=QUERIES_KEPT)
def _unfinished(visible: Select[str]) -> Select[int]:
    return select(func.count()).where(IndexEntryRow.state.in_(UNFINISHED), IndexEntryRow.file_id.in_(visible))


@lru_cache(maxsize=QUERIES_KEPT)
def _foreign_ids(principal: "Principal") -> Select[str]:
    return visible_ids(principal).where(NodeRow.owner_id != principal.user_id)


@lru_cache(maxsize=QUERIES_KEPT)
def _listed_files(visible: Select[str]) -> Select[str]:
    return visible.where(NodeRow.kind == "file").limit(MAX_LISTED_FILES + 1)
