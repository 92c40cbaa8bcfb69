"""Selection of the files that a call over many reads: by id, by folder, or by a search."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.sql.database import Database
from drive_server.services.search.filters import NO_FILTER, SearchFilter
from drive_server.services.search.service import SearchService
from drive_server.services.tree.nodes import locate_folder, locate_many, visible_ids
from drive_server.storage.tables.items import NodeRow


@dataclass(frozen=True, slots=True)
class Choice:
    """The files, `refs` by name, or those in a folder, with the words of a query and a filter.

    `is_deep`: also files in the folder's folders. `most` bounds how many are read.
    """

    refs: tuple[str, ...] = ()
    folder: str | None = None
    is_deep: bool = True
    query: str | None = None
    only: SearchFilter = NO_FILTER
    most: int = 100


@dataclass(frozen=True, slots=True)
class Named:
    """A file to be read: its reference, and its name as far as the caller may know it."""

    ref: str
    label: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """The files to be read; `fitting` is how many there are in all, None if it is only known that there are more."""

    files: tuple[Named, ...]
    fitting: int | None


class FileSelector:
    """Looks the files up, with the rights of now."""

    def __init__(self, database: Database, search: SearchService) -> None:
        self._database = database
        self._search = search

    async def choose(self, actor: Actor, choice: Choice) -> Chosen:
        """Return the files; of too many in a folder those that were changed last, of too many hits the best."""
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        is_narrowed = choice.folder is not None or choice.query is not None or choice.only != NO_FILTER
        if bool(choice.refs) == is_narrowed:
            raise InvalidInputError(
                "It is not clear which files are meant.",
                hint="Give either `file_ids`, or `folder_id`, `query` or a filter; folder_id=root means all files.",
            )
        if choice.refs:
            return await self._named(actor, choice)
        if choice.query is not None:
            return await self._found(actor, choice, choice.query)
        return await self._listed(actor, choice)

    async def filter_visible(self, actor: Actor, ids: Collection[str]) -> set[str]:
        """Return those of the files that the caller sees now, outside the trash."""
        async with self._database.read() as session:
            found = await locate_many(session, actor.principal, ids)
        return {file_id for file_id, node in found.items() if node.row.trash_id is None}

    async def _named(self, actor: Actor, choice: Choice) -> Chosen:
        refs = list(dict.fromkeys(choice.refs))
        async with self._database.read() as session:
            nodes = await locate_many(session, actor.principal, [ref for ref in refs if not ref.startswith("/")])
        files = [Named(ref, nodes[ref].path if ref in nodes else ref) for ref in refs[: choice.most]]
        return Chosen(tuple(files), len(refs))

    async def _found(self, actor: Actor, choice: Choice, query: str) -> Chosen:
        if not choice.is_deep:
            raise InvalidInputError("A query looks below a folder, too.", hint="Leave out `query`, or `recursive`.")
        files: list[Named] = []
        cursor: str | None = None
        while len(files) < choice.most:
            page = await self._search.find(
                actor,
                query,
                folder=choice.folder,
                kind="file",
                only=choice.only,
                limit=choice.most - len(files),
                cursor=cursor,
            )
            files += [Named(hit.item.id, hit.item.path) for hit in page.items]
            cursor = page.cursor
            if cursor is None:
                return Chosen(tuple(files), len(files))
        return Chosen(tuple(files), None)

    async def _listed(self, actor: Actor, choice: Choice) -> Chosen:
        principal = actor.principal
        conditions: list[ColumnElement[bool]] = [NodeRow.kind == "file", *choice.only.conditions(principal, "file")]
        async with self._database.read() as session:
            folder = None if choice.folder is None else await locate_folder(session, principal, choice.folder)
            if folder is not None and not choice.is_deep:
                conditions.append(NodeRow.parent_id == folder.id)
            visible = visible_ids(principal, folder.id if folder else None).where(*conditions)
            fitting = await session.scalar(select(func.count()).select_from(visible.subquery())) or 0
            newest = visible.order_by(NodeRow.updated_at.desc(), NodeRow.id).limit(choice.most)
            ids: Sequence[str] = (await session.scalars(newest)).all()
            nodes = await locate_many(session, principal, ids)
        files = sorted((Named(node.id, node.path) for node in nodes.values()), key=lambda file: file.label)
        return Chosen(tuple(files), max(fitting, len(files)))
