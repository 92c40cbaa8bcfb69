"""The index of one folder or file: how far it can be searched, and reading all files below a folder anew."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Select, select

from drive_server.kernel.access import Actor, Role, Scope, require_person, require_scope
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.models.search import IndexStatus
from drive_server.services.tree.nodes import descendants, locate_file, locate_folder, locate_many
from drive_server.storage.tables.index import IndexEntryRow


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file in the index, None for one that it does not hold.

    `reason` is the reader's, in English; `omissions` have the code of it for a file that has no text.
    """

    state: str | None
    reason: str
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])
    is_partial: bool = False
    properties: Mapping[str, str] = field(default_factory=dict[str, str])


class FolderIndex:
    """Looks at the index of folders that the caller can see, and rebuilds that of those they may edit."""

    def __init__(self, database: Database, ingester: Ingester) -> None:
        self._database = database
        self._ingester = ingester

    async def status(self, actor: Actor, folder: str) -> IndexStatus:
        """Return the state of all files below the folder, with paths as the caller sees them.

        Raises `NotFoundError` for a folder that is not there, and `InvalidInputError` for a file.
        """
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        found = await self._ingester.status(actor.user_id, files=await self._below(actor, folder, Role.VIEWER))
        ids = [problem["file_id"] for problem in found.problems]
        async with self._database.read() as session:
            seen = await locate_many(session, actor.principal, ids)
        named = ({**one, "path": seen[one["file_id"]].path} for one in found.problems if one["file_id"] in seen)
        return replace(found, problems=tuple(named))

    async def of_file(self, actor: Actor, file: str) -> FileState:
        """Return the state of a file that the caller sees. Raises `NotFoundError`, `InvalidInputError` for a folder."""
        require_scope(actor.principal, Scope.READ)
        async with self._database.read() as session:
            node = await locate_file(session, actor.principal, file)
            row = await session.get(IndexEntryRow, node.id)
        if row is None:
            return FileState(None, "")
        return FileState(row.state, row.reason, row.omissions, row.is_partial, row.properties)

    async def rebuild(self, actor: Actor, folder: str) -> int:
        """Have all files below the folder read again in the background; return how many did not wait for it already.

        Raises as `status` does, and `ForbiddenError` for a folder that the caller may not edit.
        """
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        require_scope(actor.principal, Scope.WRITE)
        files = await self._below(actor, folder, Role.EDITOR)
        return 0 if actor.dry_run else await self._ingester.rebuild_files(files)

    async def _below(self, actor: Actor, folder: str, needed: Role) -> Select[str]:
        async with self._database.read() as session:
            node = await locate_folder(session, actor.principal, folder, needed)
        below = descendants(node.id)
        return select(below.c.id).where(below.c.kind == "file")
