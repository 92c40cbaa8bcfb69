"""The steps of a save: the file comes back to its name with the new content, and passing files go."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.knowledge.media_types import media_type_of
from drive_server.models.items import Item
from drive_server.services.files.moving import require_may_take_out
from drive_server.services.files.operations import (
    NewContent,
    add_version,
    content_of,
    current_version,
    finish,
    mark_pending,
    new_row,
    place,
    set_modified_at,
    trash_tree,
)
from drive_server.services.files.trash import delete_rows
from drive_server.services.files.versions import current_of
from drive_server.services.journal.recorder import PASSING, Entry, Recorder
from drive_server.services.saves.departures import Absence, awaits_content, bring_locks_back, hand_locks_over
from drive_server.services.tree.nodes import NodeView, item_message
from drive_server.services.webdav.properties import copy_properties
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.items import NodeRow


@dataclass(frozen=True, slots=True)
class SavedContent:
    """The content to save, and the file that a program wrote it to, if there is one. No media type: by the name."""

    blob: Blob
    media_type: str | None = None
    modified_at: datetime | None = None
    draft: NodeView | None = None


async def saved_content(session: AsyncSession, draft: NodeView) -> SavedContent:
    """Return the content that a program wrote to a file of its own."""
    content = content_of(await current_of(session, draft.row))
    return SavedContent(content.blob, content.media_type, content.modified_at, draft)


async def bring_back(recorder: Recorder, absence: Absence, content: SavedContent, *, leaves_copy: bool = True) -> Item:
    """Put the file back at its name with the new content.

    If it was aside, and not in the trash, a copy with the old content stays there, unless it `leaves_copy` not.
    """
    session, row, draft = recorder.session, absence.node.row, content.draft
    old = await current_version(session, row)
    aside = (row.parent_id, row.name) if row.trash_id is None and leaves_copy else None
    if draft is not None:
        draft.row.trash_id = draft.row.id  # its name may be the one that is needed
        await session.flush()
    await _return_home(recorder, absence)
    if aside is not None and old is not None:
        await _leave_copy(recorder, row, aside, content_of(old))
    if draft is None or content.blob.size or not await awaits_content(session, draft.row, recorder.now):
        await write(recorder, absence.node, content)
    if draft is not None:
        await hand_locks_over(session, draft.id, row.id)
    await bring_locks_back(session, absence.departure, recorder.now)
    if draft is not None:
        await remove(recorder, [draft.row])
    recorder.item_id = row.id
    recorder.describe("save", item=item_message(absence.name))
    return await finish(recorder, row)


async def save_over(recorder: Recorder, node: NodeView, draft: NodeView, *, is_passing: bool) -> Item:
    """Give the file the content of a draft, which is removed if a program gave it its name; else it goes to the trash.

    A draft that was only locked so far has no content: the file keeps its own until that is sent. Needs the role editor
    on both, and on the folder that the draft is in.
    """
    session = recorder.session
    await require_may_take_out(session, recorder.actor.principal, draft, "put_into_trash")
    content = await saved_content(session, draft)
    if is_passing:
        recorder.describe("save", item=node.subject)
        if not await awaits_content(session, draft.row, recorder.now):
            await write(recorder, node, content)
        await remove(recorder, [draft.row])
    else:
        recorder.describe("write_from", item=node.subject, source=draft.subject)
        recorder.touch(draft.row)
        await trash_tree(recorder, draft.row)
        await write(recorder, node, content)
    return await finish(recorder, node.row, node)


async def write(recorder: Recorder, node: NodeView, content: SavedContent) -> None:
    """Make the content the newest version of the file, unless it is the same; take over a draft's properties."""
    row, session = node.row, recorder.session
    kind = row.media_type if row.size else media_type_of(row.name, content.media_type)
    current = await current_version(session, row)
    recorder.touch(row)
    if current is None or (current.blob, current.media_type) != (content.blob.hash, kind):
        await add_version(recorder, row, NewContent(content.blob, kind, content.modified_at), before=current)
    elif content.modified_at is not None:
        await set_modified_at(recorder, row, content.modified_at)
    await session.flush()
    if content.draft is not None:
        source = content.draft.id
        await session.run_sync(lambda sync: copy_properties(sync.connection(), source, row.id))


async def remove(recorder: Recorder, rows: Sequence[NodeRow]) -> None:
    """Delete passing files for good, with the folder that they are in: nothing of them is to be restored."""
    for row in rows:
        recorder.note(PASSING, row.id, _place(row), None)
        recorder.session.expunge(row)
    if rows:
        await delete_rows(recorder, rows[0].owner_id, [row.id for row in rows])


async def _return_home(recorder: Recorder, absence: Absence) -> None:
    """Put the file back at its name. No undo takes this back: it would leave the file under a passing name."""
    row = absence.node.row
    before = _place(row)
    if row.trash_id is not None:
        row.trash_id, row.trashed_at = None, None
        await mark_pending(recorder, row)
    await place(recorder, row, absence.folder.id, absence.name)
    recorder.note(PASSING, row.id, before, _place(row))
    await recorder.session.flush()


async def _leave_copy(recorder: Recorder, row: NodeRow, aside: tuple[str | None, str], content: NewContent) -> None:
    folder_id, name = aside
    copy = new_row(recorder, folder_id, row.owner_id, "file", name)
    recorder.session.add(copy)
    recorder.note(PASSING, copy.id, None, _place(copy))
    await add_version(recorder, copy, content)


def _place(row: NodeRow) -> Entry:
    return {"parent_id": row.parent_id, "name": row.name, "owner_id": row.owner_id}
