"""Items that change their folder or their name: one, or many at once."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Literal, NamedTuple

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Principal, Role
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    NameConflictError,
    StateConflictError,
)
from drive_server.kernel.messages import Message
from drive_server.models.items import Item, MovedItems, OnConflict
from drive_server.services.files.conflicts import resolve_conflict
from drive_server.services.files.operations import begin, finish, namer, place, require_room_below
from drive_server.services.journal.changes import REPLACES, check_replaced
from drive_server.services.journal.recorder import Recorder
from drive_server.services.progress import Progress
from drive_server.services.tree.items import describe, describe_all, etag_of
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import NodeView, locate_folder, locate_live, locate_many
from drive_server.storage.tables.items import NodeRow

MAX_MOVED_AT_ONCE = 1000
ITEMS_AT_ONCE = 20


class MoveChoice(NamedTuple):
    """The way to move: the rule for a taken name, the state to move, and the new name, if any."""

    on_conflict: OnConflict
    if_match: str | None = None
    name: str | None = None
    replaces_any_kind: bool = False

    def replaced_kind(self, row: NodeRow) -> str | None:
        """Return the kind of item whose place the row may take; None for any."""
        return None if self.replaces_any_kind else row.kind


async def rename(recorder: Recorder, ref: str, name: str, on_conflict: OnConflict, if_match: str | None = None) -> Item:
    """Give the item the name in its folder."""
    session, principal = recorder.session, recorder.actor.principal
    node = await locate_live(session, principal, ref, Role.EDITOR)
    await begin(recorder, node, if_match)
    return await _rename(recorder, node, name, on_conflict, node.row.kind)


async def _rename(
    recorder: Recorder, node: NodeView, name: str, on_conflict: OnConflict, replaced_kind: str | None
) -> Item:
    session, principal = recorder.session, recorder.actor.principal
    refuse_root(node, "renamed")
    row, item = node.row, node.subject
    if row.name == name:
        recorder.describe("rename", item=item, name=display_name(name), ending="")
        return await finish(recorder, row)
    if on_conflict == "replace":
        await require_may_take_out(session, principal, node, "put_in_place")
    folder = await folder_of(session, node)
    with _unseen_neighbours(node):
        found = await resolve_conflict(
            recorder, folder, name, replaced_kind, on_conflict, incoming=row, protected=node.ancestors
        )
    recorder.touch(row)
    if row.name != found.name:
        row.named_by = namer(recorder.actor)
    await place(recorder, row, folder.id, found.name)
    ending = found.ending if found.replaced else ""
    recorder.describe("rename", item=item, name=display_name(found.name), ending=ending)
    return await finish(recorder, row)


async def move(recorder: Recorder, ref: str, new_parent: str, choice: MoveChoice) -> Item:
    """Put the item into the folder, under another name if one is given."""
    session, principal = recorder.session, recorder.actor.principal
    node = await locate_live(session, principal, ref, Role.EDITOR)
    folder = await locate_folder(session, principal, new_parent, Role.EDITOR)
    await begin(recorder, node, choice.if_match)
    if choice.name is not None and node.row.parent_id == folder.id:
        return await _rename(recorder, node, choice.name, choice.on_conflict, choice.replaced_kind(node.row))
    item, protected = node.subject, (node.id, *node.ancestors)
    ending = await _move(recorder, node, folder, choice, protected)
    recorder.describe("move", item=item, folder=folder.subject, ending=ending)
    return await finish(recorder, node.row)


async def move_items(
    recorder: Recorder, refs: Sequence[str], new_parent: str, on_conflict: OnConflict, progress: Progress
) -> MovedItems:
    """Put all the items into the folder: an item named twice moves once, and one inside another goes along with it."""
    session, principal = recorder.session, recorder.actor.principal
    folder = await locate_folder(session, principal, new_parent, Role.EDITOR)
    nodes = await _outermost(session, principal, refs)
    moving = [entry for entry in nodes if entry.row.parent_id != folder.id]
    _require_as_shown(recorder, folder, nodes)
    protected = {node_id for entry in nodes for node_id in (entry.id, *entry.ancestors)}
    recorder.count = len(moving)
    for done, entry in enumerate(moving):
        if done % ITEMS_AT_ONCE == 0:
            await progress(done, len(moving))
        recorder.show(entry.row, entry.path)
        await _move(recorder, entry, folder, MoveChoice(on_conflict), protected)
    await progress(len(moving), len(moving))
    recorder.describe("move_many", count=len(moving), folder=folder.subject)
    recorder.item_id = folder.id
    check_replaced(recorder)
    await session.flush()
    now = await locate_many(session, principal, [entry.id for entry in nodes])
    items = await describe_all(session, [now[entry.id] for entry in nodes])
    now_in = await describe(session, folder)
    return MovedItems(folder=now_in, items=tuple(items), unchanged=len(nodes) - len(moving))


def refuse_root(node: NodeView, done: str) -> None:
    """Raise `StateConflictError` for a person's root folder."""
    if node.is_root:
        raise StateConflictError(Message.of("not_the_root", done=Message.of(done)))


async def require_may_take_out(session: AsyncSession, principal: Principal, node: NodeView, done: str) -> None:
    """Raise `ForbiddenError` unless the caller can edit the folder: a role on an item does not allow to remove it."""
    refuse_root(node, done)
    if node.role == Role.OWNER:
        return
    parent_id = node.ancestors[0] if node.ancestors else ""
    parent = (await locate_many(session, principal, [parent_id])).get(parent_id)
    if parent is None or parent.role < Role.EDITOR:
        raise ForbiddenError(
            Message.of("folder_editors_only", item=node.subject, done=Message.of(done)),
            details={"needed": Role.EDITOR.label, "role": node.role.label},
        )


async def require_fits(session: AsyncSession, node: NodeView, folder: NodeView) -> None:
    """Raise `StateConflictError` if the item can't be in the folder under any name."""
    if node.row.owner_id != folder.row.owner_id:
        raise StateConflictError(Message.of("other_owner", item=node.subject, folder=folder.subject))
    await require_room_below(session, folder, node.row)


async def folder_of(session: AsyncSession, node: NodeView) -> NodeView:
    """Return the item's folder, also for a caller who does not see it: names have to be free there all the same."""
    parent = await session.get_one(NodeRow, node.row.parent_id)
    return NodeView(parent, node.role, node.path.rpartition("/")[0], (), shared=True)


@contextmanager
def _unseen_neighbours(node: NodeView) -> Generator[None]:
    """Tell who does not see the folder that a name is taken there, and nothing of the item that has it."""
    try:
        yield
    except NameConflictError as error:
        if node.ancestors:
            raise
        details = {key: error.details[key] for key in ("name", "suggestion") if key in error.details}
        raise error.with_details(details) from error


async def _move(
    recorder: Recorder, node: NodeView, folder: NodeView, choice: MoveChoice, protected: Sequence[str] | set[str]
) -> Message | Literal[""]:
    """Return the end of the sentence that describes it."""
    row = node.row
    await require_may_take_out(recorder.session, recorder.actor.principal, node, "moved")
    if row.parent_id == folder.id:
        return ""
    await require_fits(recorder.session, node, folder)
    wanted, was = choice.name or row.name, row.name
    kind = choice.replaced_kind(row)
    found = await resolve_conflict(
        recorder, folder, wanted, kind, choice.on_conflict, incoming=row, protected=protected
    )
    recorder.touch(row)
    await place(recorder, row, folder.id, found.name)
    if choice.name is not None and found.name != was:
        row.named_by = namer(recorder.actor)
        return found.ending or Message.of("named", name=display_name(found.name))
    return found.ending


async def _outermost(session: AsyncSession, principal: Principal, refs: Sequence[str]) -> list[NodeView]:
    if not 0 < len(refs) <= MAX_MOVED_AT_ONCE:
        raise InvalidInputError(Message.of("too_many_moves", limit=MAX_MOVED_AT_ONCE))
    found = {entry.id: entry for entry in [await locate_live(session, principal, ref, Role.EDITOR) for ref in refs]}
    return [entry for entry in found.values() if not found.keys() & set(entry.ancestors)]


def _require_as_shown(recorder: Recorder, folder: NodeView, nodes: Sequence[NodeView]) -> None:
    """Raise `EtagMismatchError` unless the same items, unchanged, move to the same folder as was approved."""
    shown = [folder.id, *(etag_of(entry.row) for entry in nodes)]
    recorder.etag = f"move-{sha256(orjson.dumps(shown)).hexdigest()[:16]}"
    approved = recorder.actor.if_match
    if approved is not None and approved.partition(REPLACES)[0] != recorder.etag:
        raise EtagMismatchError(Message.of("move_not_as_shown"), details={"etag": recorder.etag})
