"""Changes by WebDAV as programs mean them: a save by way of other names is a new version of the file itself."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.sql.database import Database
from drive_server.models.changes import Outcome
from drive_server.models.items import Item, OnConflict
from drive_server.services.files.moving import MoveChoice, move, require_may_take_out
from drive_server.services.files.operations import begin
from drive_server.services.files.trash import trash
from drive_server.services.journal.changes import check_etag
from drive_server.services.journal.recorder import Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.saves.departures import AWAY, note_departure
from drive_server.services.saves.drafts import DRAFT_AGE, is_spare, passing_items
from drive_server.services.saves.operations import SavedContent, bring_back, remove, save_over, saved_content
from drive_server.services.saves.recognition import Destination, find_missed, find_replaced, find_save
from drive_server.services.tree.items import describe, etag_of
from drive_server.services.tree.names import clean_name
from drive_server.services.tree.nodes import NodeView, live_child, locate_live
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.dav import DavDepartureRow

REMOVE_PASSING: Final = "remove_passing"
Deletion = Literal["trash", "write", "remove_passing"]
KEPT: Final = timedelta(hours=1)
"""How long departures are stored: longer than the longest upload that may follow one."""


class NotASaveError(Exception):
    """Raised in a change that is no save any more, as somebody else changed something in between."""


class SaveService:
    """Deletes, moves and writes files for WebDAV clients, and recognises the saves among these.

    `began` is when the request began, by `clock`: an upload may take longer than a save may wait.
    """

    def __init__(self, database: Database, journal: Journal, clock: Clock = utc_now) -> None:
        self._database = database
        self._journal = journal
        self.clock = clock
        journal.register(REMOVE_PASSING, "trash")

    async def delete(self, actor: Actor, ref: str, *, began: datetime, if_match: str | None = None) -> bool:
        """Move the item to the trash; return False if it stays, as a program has put its new content in its place.

        Passing files are removed for good. Raises as `FileService.trash` does.
        """
        require_scope(actor.principal, Scope.DELETE)

        async def kind(session: AsyncSession) -> Deletion:
            return await _deletion(session, actor, await _live(session, actor, ref), began)

        action = await self._database.look(kind)
        if action == "trash":
            await self._trash(actor, ref, if_match)
            return True

        async def operation(recorder: Recorder) -> Item:
            return await _delete_passing(recorder, ref, began, if_match)

        try:
            await self._journal.change(actor, action, {"item": ref}, operation)
        except NotASaveError:
            await self._trash(actor, ref, if_match)
            return True
        return action != "write"

    async def move(
        self,
        actor: Actor,
        ref: str,
        to: Destination,
        *,
        began: datetime,
        on_conflict: OnConflict,
        if_match: str | None = None,
    ) -> Outcome[Item]:
        """Put the item into the folder under the name, or save its content there. Return the item that is there then.

        Raises as `FileService.move` does.
        """
        require_scope(actor.principal, Scope.WRITE)
        found = await self._database.look(lambda session: find_save(session, actor, ref, to, began))
        if found is not None:

            async def save(recorder: Recorder) -> Item:
                return await _save_by_move(recorder, ref, to, began, if_match)

            with suppress(NotASaveError):
                return await self._journal.change(actor, "write", {"item": ref, **to.arguments}, save)
        choice = MoveChoice(on_conflict, if_match, clean_name(to.name), replaces_any_kind=True)

        async def operation(recorder: Recorder) -> Item:
            return await _move(recorder, ref, to, choice, self.clock())

        arguments = {"item": ref, **to.arguments, "on_conflict": on_conflict}
        return await self._journal.change(actor, "move", arguments, operation)

    async def write(
        self,
        actor: Actor,
        to: Destination,
        blob: Blob,
        media_type: str | None,
        *,
        began: datetime,
        modified_at: datetime | None = None,
    ) -> Outcome[Item] | None:
        """Save a content at a name where a file is missed that a program took away; None if it is no such save.

        An empty content is none yet: programs make an empty file first, lock it, and send the content then.
        """
        require_scope(actor.principal, Scope.WRITE)
        if blob.size == 0:
            return None

        async def operation(recorder: Recorder) -> Item:
            found = await find_missed(recorder.session, actor, to, began)
            if found is None:
                raise NotASaveError
            absence, empty = found
            return await bring_back(recorder, absence, SavedContent(blob, media_type, modified_at, empty))

        if await self._database.look(lambda session: find_missed(session, actor, to, began)) is None:
            return None
        arguments = {**to.arguments, "content": blob.hash}
        try:
            return await self._journal.change(actor, "write", arguments, operation)
        except NotASaveError:
            return None

    async def is_save(self, session: AsyncSession, actor: Actor, to: Destination, *, began: datetime) -> bool:
        """Return whether a content at the name is a save that `write` recognises, in a transaction under way."""
        return await find_missed(session, actor, to, began) is not None

    async def holds_lock(self, actor: Actor, to: Destination, token: str) -> bool:
        """Return whether a file had the lock at this name, where a program is about to save it again."""
        departure = await self._database.look(lambda session: session.get(DavDepartureRow, (to.folder_id, to.name)))
        if departure is None or departure.user_id != actor.user_id or departure.left_at < self.clock() - AWAY:
            return False
        return any(lock["token"] == token for lock in departure.locks)

    async def expire(self) -> None:
        """Forget departures that no save follows any more."""

        async def work(session: AsyncSession) -> None:
            await session.execute(delete(DavDepartureRow).where(DavDepartureRow.left_at < self.clock() - KEPT))

        await self._database.change(work)

    async def _trash(self, actor: Actor, ref: str, if_match: str | None) -> None:
        async def operation(recorder: Recorder) -> Item:
            node = await _live(recorder.session, actor, ref)
            folder_id, name = node.row.parent_id, node.row.name
            item = await trash(recorder, ref, if_match)
            if node.row.kind == "file" and folder_id is not None:
                await note_departure(recorder, node.row, folder_id, name, self.clock())
            return item

        await self._journal.change(actor, "trash", {"item": ref}, operation)


async def _live(session: AsyncSession, actor: Actor, ref: str) -> NodeView:
    return await locate_live(session, actor.principal, ref, Role.EDITOR)


async def _deletion(session: AsyncSession, actor: Actor, node: NodeView, began: datetime) -> Deletion:
    """Return the action by which an item is deleted: `write` if that is the end of a save."""
    if await find_replaced(session, actor, node, began) is not None:
        return "write"
    is_passing = bool(await passing_items(session, actor, node.row, began - DRAFT_AGE))
    return REMOVE_PASSING if is_passing else "trash"


async def _delete_passing(recorder: Recorder, ref: str, began: datetime, if_match: str | None) -> Item:
    session, actor = recorder.session, recorder.actor
    node = await _live(session, actor, ref)
    await begin(recorder, node, if_match)
    await require_may_take_out(session, actor.principal, node, "put_into_trash")
    found = await find_replaced(session, actor, node, began)
    if found is not None:
        absence, draft = found
        return await bring_back(recorder, absence, await saved_content(session, draft), leaves_copy=False)
    rows = await passing_items(session, actor, node.row, began - DRAFT_AGE)
    if not rows:
        raise NotASaveError
    recorder.describe(REMOVE_PASSING, item=node.subject)
    item = await describe(session, node)
    await remove(recorder, rows)
    return item


async def _save_by_move(recorder: Recorder, ref: str, to: Destination, began: datetime, if_match: str | None) -> Item:
    session = recorder.session
    save = await find_save(session, recorder.actor, ref, to, began)
    if save is None:
        raise NotASaveError
    await check_etag(session, recorder.actor, save.draft, if_match)
    if save.absence is not None:
        recorder.etag = etag_of(save.absence.node.row)
        await require_may_take_out(session, recorder.actor.principal, save.draft, "put_into_trash")
        return await bring_back(recorder, save.absence, await saved_content(session, save.draft))
    await begin(recorder, save.node)
    return await save_over(recorder, save.node, save.draft, is_passing=save.is_passing)


async def _move(recorder: Recorder, ref: str, to: Destination, choice: MoveChoice, now: datetime) -> Item:
    session, actor = recorder.session, recorder.actor
    node = await _live(session, actor, ref)
    row, folder_id, name = node.row, node.row.parent_id, node.row.name
    taken = await live_child(session, to.folder_id, to.name) if row.kind == "file" else None
    if choice.on_conflict == "replace" and taken is not None and await is_spare(session, actor, taken, row):
        await remove(recorder, [taken])
    item = await move(recorder, ref, to.folder_id, choice)
    if row.kind == "file" and folder_id is not None and (row.parent_id, row.name) != (folder_id, name):
        await note_departure(recorder, row, folder_id, name, now)
    return item
