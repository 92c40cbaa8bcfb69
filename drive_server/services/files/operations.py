"""The steps that changes of the tree are made of, shared by files, documents and undo. Each records its changes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Row, Select, Table, bindparam, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import NameConflictError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.knowledge.formats import format_of
from drive_server.models.items import Item
from drive_server.services.journal.changes import check_etag, check_replaced
from drive_server.services.journal.recorder import ContentChange, Recorder
from drive_server.services.quota import hold_sync, release_sync
from drive_server.services.tree.ancestors import MAX_DEPTH, Reader
from drive_server.services.tree.items import describe, etag_of
from drive_server.services.tree.names import display_name, numbered_name
from drive_server.services.tree.nodes import NodeView, child_view, depth_of, descendants, locate
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow, VersionRow

MAX_SUGGESTIONS = 50
# Asked several times by each change of a content: built once.
_VERSION = select(VersionRow).where(
    VersionRow.node_id == bindparam("node_id"), VersionRow.number == bindparam("number")
)
_STORED: Select[*tuple[Any, ...]] = select(
    VersionRow.blob, VersionRow.size, VersionRow.media_type, VersionRow.modified_at, VersionRow.checksums
).where(VersionRow.node_id == bindparam("node_id"), VersionRow.number == bindparam("number"))
_VERSIONS, _ENTRIES = cast("Table", VersionRow.__table__), cast("Table", IndexEntryRow.__table__)
_ADD_VERSION = insert(_VERSIONS)
_DROP_VERSIONS = (
    delete(_VERSIONS)
    .where(_VERSIONS.c.node_id == bindparam("file"), _VERSIONS.c.number <= bindparam("last"))
    .returning(_VERSIONS.c.blob)
)
_CONTENT = (
    select(VersionRow)
    .where(VersionRow.node_id == bindparam("node_id"), VersionRow.blob == bindparam("blob"))
    .order_by((VersionRow.number == bindparam("number")).desc(), VersionRow.number.desc())
    .limit(1)
)
_CHILDREN = select(NodeRow.id, NodeRow.kind).where(NodeRow.parent_id == bindparam("parent"), NodeRow.trash_id.is_(None))
_ANY_CHILD = _CHILDREN.limit(1)
_CHILD_NAMED = _CHILDREN.where(NodeRow.name == bindparam("name"))
_MARK_ENTRY = update(_ENTRIES).where(_ENTRIES.c.file_id == bindparam("file"))
_ADD_ENTRY = insert(_ENTRIES)
# Rows that the session holds are read anew when located; loading thousands just to update them is not worth it.
UNSYNCHRONISED = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class NewContent:
    """A content for a file. `modified_at` is its own date, None: the time of the change; `data` helps a dry run."""

    blob: Blob
    media_type: str
    modified_at: datetime | None = None
    data: bytes | None = None


def content_of(version: VersionRow, media_type: str | None = None) -> NewContent:
    """Return an earlier content with its date, to give it to a file again."""
    return NewContent(
        Blob(version.blob, version.size, version.checksums), media_type or version.media_type, version.modified_at
    )


async def begin(recorder: Recorder, node: NodeView, if_match: str | None = None) -> None:
    """Start a change of one item: note which, and raise `EtagMismatchError` if it is not as the caller knows it."""
    recorder.item_id = node.id
    recorder.etag = etag_of(node.row)
    await check_etag(recorder.session, recorder.actor, node, if_match)


async def finish(recorder: Recorder, row: NodeRow, node: NodeView | None = None) -> Item:
    """End a change of one item: return it as it is now, and show it first in the effect unless it was shown."""
    check_replaced(recorder)
    await recorder.session.flush()
    node = node or await locate(recorder.session, recorder.actor.principal, row.id)
    recorder.item_id = row.id
    if all(shown["id"] != row.id for shown in recorder.items):
        others, recorder.items = recorder.items, []
        recorder.show(row, node.path)
        recorder.items += others
    return await describe(recorder.session, node)


def namer(actor: Actor) -> str | None:
    """Return the id of the person who gives a name; None for a visitor by a link, who may be anybody."""
    return actor.user_id if actor.principal.link_id is None else None


def add_node(recorder: Recorder, parent: NodeView, kind: str, name: str) -> NodeRow:
    """Put a new item into the folder; it belongs to the folder's owner, whoever makes it, and names it."""
    row = new_row(recorder, parent.id, parent.row.owner_id, kind, name)
    recorder.add(row)
    return row


def new_row(recorder: Recorder, parent_id: str | None, owner_id: str, kind: str, name: str) -> NodeRow:
    """Return the row of a new item without content, named by the caller and not recorded yet."""
    return NodeRow(
        id=new_id(),
        parent_id=parent_id,
        owner_id=owner_id,
        kind=kind,
        name=name,
        named_by=namer(recorder.actor),
        revision=1,
        version=0,
        size=0,
        media_type="",
        created_at=recorder.now,
        updated_at=recorder.now,
        modified_at=recorder.now,
    )


def new_node_view(parent: NodeView, row: NodeRow) -> NodeView:
    """Return an item that was just put into the folder, as the caller sees it: nobody was given a role on it yet."""
    path, role, shared = child_view(parent, row.name, 0, 0)
    return NodeView(row, role, path, (parent.id, *parent.ancestors), shared)


async def add_version(recorder: Recorder, row: NodeRow, content: NewContent, before: VersionRow | None = None) -> None:
    """Make this the file's newest content. Call `touch` first unless the row is new."""
    blob = content.blob
    if before is None:
        with recorder.session.no_autoflush:  # the row is written once, with all that changes of it
            before = await current_version(recorder.session, row)
    # Its version is the highest number that a content of it has: only the oldest contents are ever dropped.
    row.version, row.size, row.media_type = row.version + 1, blob.size, content.media_type
    row.updated_at, row.modified_at = recorder.now, content.modified_at or recorder.now
    await recorder.session.run_sync(_keep, recorder, row, blob)
    after = {"number": row.version, "blob": blob.hash, "size": blob.size, "media_type": content.media_type}
    recorder.note("versions", row.id, _noted(before), after)
    old = Blob(before.blob, before.size) if before else None
    recorder.contents.append(ContentChange(row.name, old, blob, content.data))
    recorder.wakes_index = True


def _keep(session: Session, recorder: Recorder, row: NodeRow, blob: Blob) -> None:
    """Write down all that a new content changes: several statements in one go."""
    session.flush()
    version = {
        "node_id": row.id,
        "number": row.version,
        "blob": blob.hash,
        "size": blob.size,
        "media_type": row.media_type,
        "created_at": recorder.now,
        "modified_at": row.modified_at,
        "checksums": blob.checksums,
        "author_id": recorder.actor.user_id,
        "run_id": recorder.actor.run_id,
    }
    session.connection().execute(_ADD_VERSION, version)
    hold_sync(session, row.owner_id, [blob])
    if row.version == 1:  # nobody knows of a new file yet
        _add_entry(session, recorder, row)
    else:
        _drop_oldest(session, row, recorder.limits.max_versions)
        _mark_entry(session, recorder, row)


def _drop_oldest(session: Session, row: NodeRow, limit: int) -> None:
    """Keep no more versions than allowed: the newest ones."""
    if row.version <= limit:
        return
    dropped = session.connection().scalars(_DROP_VERSIONS, {"file": row.id, "last": row.version - limit}).all()
    release_sync(session, row.owner_id, dropped)


async def current_version(session: AsyncSession, row: NodeRow) -> VersionRow | None:
    """Return the version that is the file's content now; None for a file that has none yet."""
    if row.version == 0:
        return None
    return await get_version(session, row.id, row.version)


async def get_version(session: AsyncSession, node_id: str, number: int) -> VersionRow | None:
    """Return the version of that number, if there is one."""
    return await session.scalar(_VERSION, {"node_id": node_id, "number": number})


def stored_sync(reader: Reader, node_id: str, number: int) -> Row[Any] | None:
    """Return blob, size, media type, date and checksums of the version of that number, if there is one."""
    return reader.execute(_STORED, {"node_id": node_id, "number": number}).one_or_none()


async def find_content(session: AsyncSession, node_id: str, blob_hash: str, number: int) -> VersionRow | None:
    """Return the version of the file that still has this content, that of the number if it does."""
    return await session.scalar(_CONTENT, {"node_id": node_id, "blob": blob_hash, "number": number})


async def set_modified_at(recorder: Recorder, row: NodeRow, at: datetime) -> None:
    """Give the item's content, as it is now, another date. Call `touch` first."""
    row.modified_at, row.updated_at = at, recorder.now
    await recorder.session.flush()
    current = (_VERSIONS.c.node_id == row.id) & (_VERSIONS.c.number == row.version)
    await recorder.session.execute(update(_VERSIONS).where(current).values(modified_at=at))


async def has_children(session: AsyncSession, folder_id: str) -> bool:
    """Return whether anything live is in the folder."""
    return await session.scalar(_ANY_CHILD, {"parent": folder_id}) is not None


async def trash_tree(recorder: Recorder, row: NodeRow) -> None:
    """Move the item and all that is live below it to the trash. Call `touch` first."""
    row.trash_id, row.trashed_at = row.id, recorder.now
    if row.kind == "file":
        await mark_pending(recorder, row)
    else:
        await _trash_below(recorder, row)
    await recorder.session.flush()


async def _trash_below(recorder: Recorder, row: NodeRow) -> None:
    below = update(NodeRow).where(NodeRow.id.in_(select(descendants(row.id).c.id)))
    await recorder.session.execute(
        below.values(trash_id=row.id, trashed_at=recorder.now), execution_options=UNSYNCHRONISED
    )
    await _mark_all_pending(recorder, select(NodeRow.id).where(NodeRow.trash_id == row.id))


async def untrash_tree(recorder: Recorder, row: NodeRow) -> None:
    """Bring the item back from the trash with all that went there with it. Call `touch` first."""
    if row.kind == "file":
        await mark_pending(recorder, row)
    else:
        await _mark_all_pending(recorder, select(NodeRow.id).where(NodeRow.trash_id == row.id))
        rest = update(NodeRow).where(NodeRow.trash_id == row.id, NodeRow.id != row.id)
        await recorder.session.execute(rest.values(trash_id=None, trashed_at=None), execution_options=UNSYNCHRONISED)
    row.trash_id, row.trashed_at = None, None


async def place(recorder: Recorder, row: NodeRow, parent_id: str, name: str) -> None:
    """Put the item, under that name, into the folder. Call `touch` first. To the index only a new format matters."""
    if row.kind == "file" and format_of(row.name, row.media_type) != format_of(name, row.media_type):
        await mark_pending(recorder, row)
    row.parent_id, row.name, row.updated_at = parent_id, name, recorder.now


async def mark_pending(recorder: Recorder, row: NodeRow) -> None:
    """Tell the index that the file changed, in the transaction of the change."""
    await recorder.session.run_sync(_mark_entry, recorder, row)
    recorder.wakes_index = True


def _mark_entry(session: Session, recorder: Recorder, row: NodeRow) -> None:
    values = {"file": row.id, **_pending(recorder), "version": row.version}
    if session.connection().execute(_MARK_ENTRY, values).rowcount == 0:
        _add_entry(session, recorder, row)


def _add_entry(session: Session, recorder: Recorder, row: NodeRow) -> None:
    values = {"file_id": row.id, "owner_id": row.owner_id, **_pending(recorder), "version": row.version}
    session.connection().execute(_ADD_ENTRY, values)


async def require_free_name(session: AsyncSession, parent_id: str, name: str, *, except_id: str | None = None) -> None:
    """Raise `NameConflictError`, with a free name in `details["suggestion"]`, if another live item has the name."""
    taken = (await session.execute(_CHILD_NAMED, {"parent": parent_id, "name": name})).one_or_none()
    if taken is None or taken.id == except_id:
        return
    suggestion = await free_name(session, parent_id, name)
    raise NameConflictError(
        Message.of("name_taken", name=display_name(name), suggestion=display_name(suggestion)),
        details={"name": name, "existing_id": taken.id, "existing_kind": taken.kind, "suggestion": suggestion},
    )


async def free_name(session: AsyncSession, parent_id: str, name: str, *, except_id: str | None = None) -> str:
    """Return the name if it is free in the folder, else the first free `name (2)`, `name (3)`, ..."""
    candidates = [name, *(numbered_name(name, number) for number in range(2, MAX_SUGGESTIONS))]
    query = select(NodeRow.name).where(
        NodeRow.parent_id == parent_id, NodeRow.trash_id.is_(None), NodeRow.name.in_(candidates)
    )
    if except_id:
        query = query.where(NodeRow.id != except_id)
    taken = set((await session.execute(query)).scalars())
    return next((free for free in candidates if free not in taken), numbered_name(name, int(new_id()[:8], 16)))


async def require_room_below(session: AsyncSession, parent: NodeView, moved: NodeRow | None = None) -> None:
    """Raise `StateConflictError` if an item put into the folder would be below itself or too deep."""
    if moved and moved.id in (parent.id, *parent.ancestors):
        raise StateConflictError(Message.of("into_itself"))
    height = 1
    if moved and moved.kind == "folder":
        below = descendants(moved.id, trash_id=moved.trash_id)
        height += await session.scalar(select(func.max(below.c.depth))) or 0
    if await depth_of(session, parent) + height > MAX_DEPTH:
        raise StateConflictError(Message.of("too_deep", limit=MAX_DEPTH), details={"limit": MAX_DEPTH})


async def _mark_all_pending(recorder: Recorder, ids: Select[str]) -> None:
    statement = update(IndexEntryRow).where(IndexEntryRow.file_id.in_(ids)).values(_pending(recorder))
    await recorder.session.execute(statement, execution_options=UNSYNCHRONISED)
    recorder.wakes_index = True


def _pending(recorder: Recorder) -> dict[str, object]:
    return {"state": "pending", "reason": "", "attempts": 0, "updated_at": recorder.now}


def _noted(version: VersionRow | None) -> dict[str, object] | None:
    if version is None:
        return None
    return {"number": version.number, "blob": version.blob, "size": version.size, "media_type": version.media_type}
