"""Items that change their folder or their name: one, or many at once."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Literal

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Principal, Role
from drive_server.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    NameConflictError,
    StateConflictError,
)
from drive_server.messages import Message
from drive_server.models import Item, MovedItems, OnConflict
from drive_server.services.files.conflicts import make_way
from drive_server.services.files.operations import begin, finish, place, require_room_below
from drive_server.services.journal.changes import REPLACES, check_replaced
from drive_server.services.journal.recorder import Writing
from drive_server.services.progress import Progress
from drive_server.services.tree.items import describe, describe_all, etag_of
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import Located, locate_folder, locate_live, locate_many
from drive_server.storage.tables import NodeRow

MAX_MOVED_AT_ONCE = 1000
ITEMS_AT_ONCE = 20


async def rename_item(
    writing: Writing, ref: str, name: str, on_conflict: OnConflict, if_match: str | None = None
) -> Item:
    """Give the item the name in its folder."""
    session, principal = writing.session, writing.actor.principal
    located = await locate_live(session, principal, ref, Role.EDITOR)
    await begin(writing, located, if_match)
    refuse_root(located, "renamed")
    row, item = located.row, located.subject
    if row.name == name:
        writing.describe("rename", item=item, name=display_name(name), ending="")
        return await finish(writing, row)
    if on_conflict == "replace":
        await require_may_take_out(session, principal, located, "put_in_place")
    folder = await _folder_of(session, located)
    with _unseen_neighbours(located):
        found = await make_way(writing, folder, name, row.kind, on_conflict, comes=row, stays=located.ancestors)
    writing.touch(row)
    await place(writing, row, folder.id, found.name)
    ending = found.ending if found.replaced else ""
    writing.describe("rename", item=item, name=display_name(found.name), ending=ending)
    return await finish(writing, row)


async def move_item(
    writing: Writing, ref: str, new_parent: str, on_conflict: OnConflict, if_match: str | None = None
) -> Item:
    """Put the item into the folder."""
    session, principal = writing.session, writing.actor.principal
    located = await locate_live(session, principal, ref, Role.EDITOR)
    folder = await locate_folder(session, principal, new_parent, Role.EDITOR)
    await begin(writing, located, if_match)
    item, stays = located.subject, (located.id, *located.ancestors)
    ending = await _move(writing, located, folder, on_conflict, stays)
    writing.describe("move", item=item, folder=folder.subject, ending=ending)
    return await finish(writing, located.row)


async def move_items(
    writing: Writing, refs: Sequence[str], new_parent: str, on_conflict: OnConflict, progress: Progress
) -> MovedItems:
    """Put all the items into the folder: named twice they move once, and what is in one of them goes along with it."""
    session, principal = writing.session, writing.actor.principal
    folder = await locate_folder(session, principal, new_parent, Role.EDITOR)
    located = await _outermost(session, principal, refs)
    moving = [entry for entry in located if entry.row.parent_id != folder.id]
    _require_as_shown(writing, folder, located)
    stays = {node_id for entry in located for node_id in (entry.id, *entry.ancestors)}
    writing.count = len(moving)
    for done, entry in enumerate(moving):
        if done % ITEMS_AT_ONCE == 0:
            await progress(done, len(moving))
        writing.show(entry.row, entry.path)
        await _move(writing, entry, folder, on_conflict, stays)
    await progress(len(moving), len(moving))
    writing.describe("move_many", count=len(moving), folder=folder.subject)
    writing.item_id = folder.id
    check_replaced(writing)
    await session.flush()
    now = await locate_many(session, principal, [entry.id for entry in located])
    items = await describe_all(session, [now[entry.id] for entry in located])
    return MovedItems(await describe(session, folder), tuple(items), len(located) - len(moving))


def refuse_root(located: Located, done: str) -> None:
    """Raise `StateConflictError` for a person's root folder."""
    if located.is_root:
        raise StateConflictError(Message.of("not_the_root", done=Message.of(done)))


async def require_may_take_out(session: AsyncSession, principal: Principal, located: Located, done: str) -> None:
    """What is in a folder is the folder's content: who was given a single item may change it, not take it away."""
    refuse_root(located, done)
    if located.role == Role.OWNER:
        return
    parent_id = located.ancestors[0] if located.ancestors else ""
    parent = (await locate_many(session, principal, [parent_id])).get(parent_id)
    if parent is None or parent.role < Role.EDITOR:
        raise ForbiddenError(
            Message.of("folder_editors_only", item=located.subject, done=Message.of(done)),
            details={"needed": Role.EDITOR.label, "role": located.role.label},
        )


async def require_fits(session: AsyncSession, located: Located, folder: Located) -> None:
    """Raise `StateConflictError` if the item can't be in the folder, whatever its name."""
    if located.row.owner_id != folder.row.owner_id:
        raise StateConflictError(
            Message.of("other_owner", item=located.subject, folder=folder.subject),
        )
    await require_room_below(session, folder, located.row)


async def _folder_of(session: AsyncSession, located: Located) -> Located:
    """Who was given this item alone does not see its folder; a name has to be free there all the same."""
    parent = await session.get_one(NodeRow, located.row.parent_id)
    return Located(parent, located.role, located.path.rpartition("/")[0], (), shared=True)


@contextmanager
def _unseen_neighbours(located: Located) -> Generator[None]:
    """Tell who does not see the folder that a name is taken there, and nothing of the item that has it."""
    try:
        yield
    except NameConflictError as error:
        if located.ancestors:
            raise
        details = {key: error.details[key] for key in ("name", "suggestion") if key in error.details}
        raise error.with_details(details) from error


async def _move(
    writing: Writing, located: Located, folder: Located, on_conflict: OnConflict, stays: Sequence[str] | set[str]
) -> Message | Literal[""]:
    """Return the end of the sentence that describes it."""
    row = located.row
    await require_may_take_out(writing.session, writing.actor.principal, located, "moved")
    if row.parent_id == folder.id:
        return ""
    await require_fits(writing.session, located, folder)
    found = await make_way(writing, folder, row.name, row.kind, on_conflict, comes=row, stays=stays)
    writing.touch(row)
    await place(writing, row, folder.id, found.name)
    return found.ending


async def _outermost(session: AsyncSession, principal: Principal, refs: Sequence[str]) -> list[Located]:
    if not 0 < len(refs) <= MAX_MOVED_AT_ONCE:
        raise InvalidInputError(Message.of("too_many_moves", limit=MAX_MOVED_AT_ONCE))
    found = {entry.id: entry for entry in [await locate_live(session, principal, ref, Role.EDITOR) for ref in refs]}
    return [entry for entry in found.values() if not found.keys() & set(entry.ancestors)]


def _require_as_shown(writing: Writing, folder: Located, located: Sequence[Located]) -> None:
    """What was shown and approved is what moves: the same items, as they were then, to the same folder."""
    shown = [folder.id, *(etag_of(entry.row) for entry in located)]
    writing.etag = f"move-{sha256(orjson.dumps(shown)).hexdigest()[:16]}"
    approved = writing.actor.if_match
    if approved is not None and approved.partition(REPLACES)[0] != writing.etag:
        raise EtagMismatchError(
            Message.of("move_not_as_shown"),
            details={"etag": writing.etag},
        )
