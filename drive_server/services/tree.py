"""The steps that changes of the tree are made of, shared by files, documents and undo. Each notes what it does."""

from sqlalchemy import Select, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.errors import NameConflictError, StateConflictError
from drive_server.models import Item
from drive_server.names import display_name, numbered_name
from drive_server.services.changes import check_etag
from drive_server.services.items import describe, etag_of
from drive_server.services.nodes import MAX_DEPTH, Located, descendants, live_child, locate
from drive_server.services.writing import ContentChange, Writing
from drive_server.storage.blobs import Blob
from drive_server.storage.tables import IndexEntryRow, NodeRow, VersionRow, new_id

MAX_SUGGESTIONS = 50
# Rows that the session holds are read anew when located; loading thousands just to update them is not worth it.
UNSYNCHRONISED = {"synchronize_session": False}


async def begin(writing: Writing, located: Located, if_match: str | None = None) -> None:
    """Start a change of one item: note which, and raise `EtagMismatchError` if it is not as the caller knows it."""
    writing.item_id = located.id
    writing.etag = etag_of(located.row)
    await check_etag(writing.session, writing.actor, located, if_match)


async def finish(writing: Writing, row: NodeRow) -> Item:
    """End a change of one item: return it as it is now, and show it in the effect if nothing else is shown."""
    await writing.session.flush()
    located = await locate(writing.session, writing.actor.principal, row.id)
    writing.item_id = row.id
    if not writing.items:
        writing.show(row, located.path)
    return await describe(writing.session, located)


def add_node(writing: Writing, parent: Located, kind: str, name: str) -> NodeRow:
    """Put a new item into the folder; it belongs to the folder's owner, whoever makes it."""
    row = NodeRow(
        id=new_id(),
        parent_id=parent.id,
        owner_id=parent.row.owner_id,
        kind=kind,
        name=name,
        revision=1,
        version=0,
        size=0,
        media_type="",
        created_at=writing.now,
        updated_at=writing.now,
    )
    writing.add(row)
    return row


async def add_version(writing: Writing, row: NodeRow, blob: Blob, media_type: str, data: bytes | None = None) -> None:
    """Make the blob the file's newest content. Call `touch` first unless the row is new; `data` helps a dry run."""
    session = writing.session
    before = await current_version(session, row)
    last = await session.scalar(select(func.max(VersionRow.number)).where(VersionRow.node_id == row.id))
    version = VersionRow(
        node_id=row.id,
        number=(last or 0) + 1,
        blob=blob.hash,
        size=blob.size,
        media_type=media_type,
        created_at=writing.now,
        author_id=writing.actor.user_id,
        run_id=writing.actor.run_id,
    )
    session.add(version)
    row.version, row.size, row.media_type, row.updated_at = version.number, blob.size, media_type, writing.now
    writing.note("versions", row.id, _noted(before), _noted(version))
    old = Blob(before.blob, before.size) if before else None
    writing.contents.append(ContentChange(row.name, old, blob, data))
    await mark_pending(writing, row)


async def current_version(session: AsyncSession, row: NodeRow) -> VersionRow | None:
    """Return the version that is the file's content now."""
    return await get_version(session, row.id, row.version)


async def get_version(session: AsyncSession, node_id: str, number: int) -> VersionRow | None:
    """Return the version of that number, if there is one."""
    query = select(VersionRow).where(VersionRow.node_id == node_id, VersionRow.number == number)
    return (await session.execute(query)).scalar_one_or_none()


async def trash_tree(writing: Writing, row: NodeRow) -> None:
    """Move the item and all that is live below it to the trash. Call `touch` first."""
    below = select(descendants(row.id).c.id)
    values = {"trash_id": row.id, "trashed_at": writing.now}
    row.trash_id, row.trashed_at = row.id, writing.now
    await writing.session.execute(
        update(NodeRow).where(NodeRow.id.in_(below)).values(values), execution_options=UNSYNCHRONISED
    )
    await writing.session.flush()
    await _mark_all_pending(writing, select(NodeRow.id).where(NodeRow.trash_id == row.id))


async def untrash_tree(writing: Writing, row: NodeRow) -> None:
    """Bring the item back from the trash with all that went there with it. Call `touch` first."""
    with_it = select(NodeRow.id).where(NodeRow.trash_id == row.id)
    await _mark_all_pending(writing, with_it)
    rest = update(NodeRow).where(NodeRow.trash_id == row.id, NodeRow.id != row.id)
    await writing.session.execute(rest.values(trash_id=None, trashed_at=None), execution_options=UNSYNCHRONISED)
    row.trash_id, row.trashed_at = None, None


async def place(writing: Writing, row: NodeRow, parent_id: str, name: str) -> None:
    """Put the item, under that name, into the folder. Call `touch` first. The index knows files by their names too."""
    if row.kind == "file" and row.name != name:
        await mark_pending(writing, row)
    row.parent_id, row.name, row.updated_at = parent_id, name, writing.now


async def mark_pending(writing: Writing, row: NodeRow) -> None:
    """Tell the index that the file changed, in the transaction of the change."""
    entry = await writing.session.get(IndexEntryRow, row.id)
    if entry is None:
        entry = IndexEntryRow(file_id=row.id, owner_id=row.owner_id)
        writing.session.add(entry)
    entry.version, entry.state, entry.reason, entry.attempts = row.version, "pending", "", 0
    entry.updated_at = writing.now
    writing.wakes_index = True


async def require_free_name(session: AsyncSession, parent_id: str, name: str, *, except_id: str | None = None) -> None:
    """Raise `NameConflictError`, with a free name in `details["suggestion"]`, if another live item has the name."""
    taken = await live_child(session, parent_id, name)
    if taken is None or taken.id == except_id:
        return
    suggestion = await free_name(session, parent_id, name)
    raise NameConflictError(
        f"'{display_name(name)}' is in the folder already.",
        hint=f"Use another name, such as '{display_name(suggestion)}', or change the item that is there.",
        details={"name": name, "existing_id": taken.id, "existing_kind": taken.kind, "suggestion": suggestion},
    )


async def free_name(session: AsyncSession, parent_id: str, name: str) -> str:
    """Return the name if it is free in the folder, else the first free `name (2)`, `name (3)`, ..."""
    candidates = [name, *(numbered_name(name, number) for number in range(2, MAX_SUGGESTIONS))]
    query = select(NodeRow.name).where(
        NodeRow.parent_id == parent_id, NodeRow.trash_id.is_(None), NodeRow.name.in_(candidates)
    )
    taken = set((await session.execute(query)).scalars())
    return next((free for free in candidates if free not in taken), numbered_name(name, int(new_id()[:8], 16)))


async def require_room_below(session: AsyncSession, parent: Located, moved: NodeRow | None = None) -> None:
    """Raise `StateConflictError` if an item put into the folder would be below itself or too deep."""
    if moved and moved.id in (parent.id, *parent.ancestors):
        raise StateConflictError("A folder can't be moved into itself.", hint="Choose a folder outside of it.")
    height = 1
    if moved and moved.kind == "folder":
        below = descendants(moved.id, trash_id=moved.trash_id)
        height += await session.scalar(select(func.max(below.c.depth))) or 0
    if len(parent.ancestors) + height > MAX_DEPTH:
        raise StateConflictError(
            "Folders can't be nested that deep.", hint=f"Stay below {MAX_DEPTH} levels.", details={"limit": MAX_DEPTH}
        )


async def _mark_all_pending(writing: Writing, ids: Select[str]) -> None:
    values = {"state": "pending", "reason": "", "attempts": 0, "updated_at": writing.now}
    statement = update(IndexEntryRow).where(IndexEntryRow.file_id.in_(ids)).values(values)
    await writing.session.execute(statement, execution_options=UNSYNCHRONISED)
    writing.wakes_index = True


def _noted(version: VersionRow | None) -> dict[str, object] | None:
    if version is None:
        return None
    return {
        "number": version.number,
        "blob": version.blob,
        "size": version.size,
        "media_type": version.media_type,
    }
