"""Many items renamed, or organized into folders, as one change of the journal."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, tzinfo
from fnmatch import fnmatchcase
from typing import Final

from sqlalchemy import select

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.errors import InvalidInputError, NameConflictError
from drive_server.kernel.messages import Language, Message
from drive_server.models.changes import Outcome
from drive_server.models.items import OnConflict, Rearranged
from drive_server.services.files.arrangement import Target, arrange
from drive_server.services.files.conflicts import check_choice
from drive_server.services.files.moving import folder_of, refuse_root
from drive_server.services.files.operations import add_node, new_node_view, require_room_below
from drive_server.services.files.patterns import DateOf, FolderPattern, NamePattern, replaced_name
from drive_server.services.journal.recorder import Recorder
from drive_server.services.journal.service import Journal, Operation
from drive_server.services.progress import Progress, silent
from drive_server.services.tree.names import clean_name
from drive_server.services.tree.nodes import NodeView, item_message, live_child, locate_folder, locate_live, locate_many
from drive_server.storage.tables.items import NodeRow

MAX_AT_ONCE: Final = 500
MAX_FIND_CHARACTERS: Final = 255


@dataclass(frozen=True, slots=True)
class Selection:
    """The items meant: named one by one, or the files directly in a folder, of which `match` keeps some (`*.jpg`)."""

    items: Sequence[str] = ()
    folder: str | None = None
    match: str = ""


@dataclass(frozen=True, slots=True)
class Renaming:
    """The new names, in one of three ways: pairs of an item and its name, a pattern, or a text to replace."""

    names: Sequence[tuple[str, str]] = ()
    pattern: str = ""
    find: str = ""
    replacement: str = ""
    start: int = 1
    date_of: DateOf = "modified"
    language: Language = "en"
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class Organizing:
    """The folders, below `into`: without it, below the folder that the files are in."""

    pattern: str
    into: str | None = None
    date_of: DateOf = "modified"
    language: Language = "en"
    zone: tzinfo = UTC


class BatchService:
    """Changes of up to 500 items at once, all of them or none. `preview` tells of all, and changes nothing."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def rename(
        self,
        actor: Actor,
        selection: Selection,
        renaming: Renaming,
        *,
        on_conflict: OnConflict = "fail",
        preview: bool = False,
        progress: Progress = silent,
    ) -> Outcome[Rearranged]:
        """Give the items their new names; they may swap them. Raises `NameConflictError` for all that are taken."""

        async def operation(recorder: Recorder) -> Rearranged:
            targets = await _renamed(recorder, selection, renaming)
            result = await arrange(recorder, targets, on_conflict, progress)
            recorder.describe("rename_many", count=result.changed)
            return result

        return await self._change(
            actor, "rename_many", selection, renaming, operation, on_conflict, preview=preview, progress=progress
        )

    async def organize(
        self,
        actor: Actor,
        selection: Selection,
        organizing: Organizing,
        *,
        on_conflict: OnConflict = "fail",
        preview: bool = False,
        progress: Progress = silent,
    ) -> Outcome[Rearranged]:
        """Put the items into folders by a pattern, and make those that are missing in the same change."""

        async def operation(recorder: Recorder) -> Rearranged:
            pattern = FolderPattern(organizing.pattern, organizing.date_of, organizing.language, organizing.zone)
            nodes = _outermost(await _selected(recorder, selection))
            base = await _base(recorder, organizing.into or selection.folder, nodes)
            folders = _Folders(recorder, base)
            targets = [Target(one, await folders.at(pattern.path_for(one.row)), one.row.name) for one in nodes]
            result = await arrange(recorder, targets, on_conflict, progress)
            recorder.describe("organize", count=result.changed, folder=base.subject, made=len(folders.made))
            recorder.item_id = base.id
            return result.model_copy(update={"folders": tuple(folders.made)})

        return await self._change(
            actor, "organize", selection, organizing, operation, on_conflict, preview=preview, progress=progress
        )

    async def _change(
        self,
        actor: Actor,
        action: str,
        selection: Selection,
        wanted: Renaming | Organizing,
        operation: Operation[Rearranged],
        on_conflict: OnConflict,
        *,
        preview: bool,
        progress: Progress,
    ) -> Outcome[Rearranged]:
        require_scope(actor.principal, Scope.READ if preview else Scope.WRITE)
        check_choice(on_conflict, ("fail", "rename"))
        arguments = {**asdict(selection), **asdict(wanted), "zone": str(wanted.zone), "on_conflict": on_conflict}
        acting = replace(actor, dry_run=actor.dry_run or preview)
        waits = progress is not silent
        outcome = await self._journal.change(acting, action, arguments, operation, waits=waits)
        return replace(outcome, value=outcome.value.model_copy(update={"preview": acting.dry_run}))


def _check_ways(selection: Selection, renaming: Renaming) -> None:
    """Raise `InvalidInputError` unless the call says in one way which names the items get."""
    ways = [bool(renaming.names), bool(renaming.pattern), bool(renaming.find)]
    if ways.count(True) != 1 or (renaming.names and (selection.items or selection.folder)):
        raise InvalidInputError(Message.of("rename_one_way"))


async def _renamed(recorder: Recorder, selection: Selection, renaming: Renaming) -> list[Target]:
    _check_ways(selection, renaming)
    if renaming.names:
        return await _named(recorder, renaming.names)
    pattern = NamePattern(renaming.pattern, renaming.start, renaming.date_of, renaming.language, renaming.zone)
    targets: list[Target] = []
    for position, node in enumerate(await _selected(recorder, selection)):
        if renaming.find:
            name = replaced_name(node.row, renaming.find, renaming.replacement)
        else:
            name = pattern.name_for(node.row, position)
        targets.append(Target(node, await folder_of(recorder.session, node), name))
    return targets


async def _named(recorder: Recorder, names: Sequence[tuple[str, str]]) -> list[Target]:
    _check_count(len(names))
    targets: dict[str, Target] = {}
    for ref, name in names:
        node = await _located(recorder, ref)
        target = Target(node, await folder_of(recorder.session, node), clean_name(name), named_here=True)
        if targets.setdefault(node.id, target).name != target.name:
            raise InvalidInputError(Message.of("two_names", item=node.subject))
    return [*targets.values()]


async def _selected(recorder: Recorder, selection: Selection) -> list[NodeView]:
    if bool(selection.items) == (selection.folder is not None):
        raise InvalidInputError(Message.of("select_one_way"))
    if selection.folder is not None:
        return await _files_in(recorder, selection.folder, selection.match)
    _check_count(len(selection.items))
    nodes = [await _located(recorder, ref) for ref in selection.items]
    found = {node.id: node for node in nodes if _fits(node.row, selection.match)}
    return [*found.values()]


async def _located(recorder: Recorder, ref: str) -> NodeView:
    node = await locate_live(recorder.session, recorder.actor.principal, ref, Role.EDITOR)
    refuse_root(node, "renamed")
    return node


async def _files_in(recorder: Recorder, ref: str, match: str) -> list[NodeView]:
    """Return the files directly in the folder, by name with its numbers as numbers: 2 comes before 10."""
    session, principal = recorder.session, recorder.actor.principal
    folder = await locate_folder(session, principal, ref, Role.EDITOR)
    query = select(NodeRow).where(NodeRow.parent_id == folder.id, NodeRow.trash_id.is_(None), NodeRow.kind == "file")
    rows = [row for row in await session.scalars(query) if _fits(row, match)]
    if not rows:
        raise InvalidInputError(Message.of("no_files_here", folder=folder.subject))
    _check_count(len(rows))
    nodes = await locate_many(session, principal, [row.id for row in rows])
    return [nodes[row.id] for row in sorted(rows, key=lambda row: _natural(row.name))]


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name.casefold())]


def _fits(row: NodeRow, match: str) -> bool:
    return not match or fnmatchcase(row.name.casefold(), match.casefold())


def _check_count(count: int) -> None:
    if not 1 <= count <= MAX_AT_ONCE:
        raise InvalidInputError(Message.of("too_many_at_once", limit=MAX_AT_ONCE), details={"count": count})


def _outermost(nodes: Sequence[NodeView]) -> list[NodeView]:
    ids = {node.id for node in nodes}
    return [node for node in nodes if ids.isdisjoint(node.ancestors)]


async def _base(recorder: Recorder, ref: str | None, nodes: Sequence[NodeView]) -> NodeView:
    """Return the folder below which the others are: the one named, or the one that all items are in."""
    parents = {str(node.row.parent_id) for node in nodes}
    if ref is None and len(parents) != 1:
        raise InvalidInputError(Message.of("organize_where"))
    return await locate_folder(recorder.session, recorder.actor.principal, ref or parents.pop(), Role.EDITOR)


class _Folders:
    """The folders below a base: found, or made when they are first needed."""

    def __init__(self, recorder: Recorder, base: NodeView) -> None:
        self._recorder = recorder
        self._views: dict[tuple[str, ...], NodeView] = {(): base}
        self.made: list[str] = []

    async def at(self, path: tuple[str, ...]) -> NodeView:
        """Return the folder. Raises `NameConflictError` where a file has the name."""
        if path not in self._views:
            self._views[path] = await self._child(await self.at(path[:-1]), path[-1])
        return self._views[path]

    async def _child(self, parent: NodeView, name: str) -> NodeView:
        session = self._recorder.session
        row = await live_child(session, parent.id, name)
        if row is not None and row.kind == "file":
            names = {"item": item_message(name), "kind": Message.of("file"), "other": Message.of("folder")}
            raise NameConflictError(Message.of("kind_differs", **names), details={"name": name})
        if row is not None:
            return await locate_folder(session, self._recorder.actor.principal, row.id, Role.EDITOR)
        await require_room_below(session, parent)
        view = new_node_view(parent, add_node(self._recorder, parent, "folder", name))
        await session.flush()
        self.made.append(view.path)
        self._recorder.show(view.row, view.path, Message.of("is_made"))
        return view
