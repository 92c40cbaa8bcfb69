"""The steps that changes of the tree are made of, shared by files, documents and undo. Each notes what it does."""

from sqlalchemy import Select, bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.errors import NameConflictError, StateConflictError
from drive_server.models import Item
from drive_server.names import display_name, numbered_name
from drive_server.services.changes import check_etag, check_replaced
from drive_server.services.items import describe, etag_of
from drive_server.services.nodes import MAX_DEPTH, Located, depth_of, descendants, live_child, locate
from drive_server.services.quota import BATCH, hold, release_all
from drive_server.services.writing import ContentChange, Writing
from drive_server.storage.blobs import Blob
from drive_server.storage.tables import IndexEntryRow, NodeRow, VersionRow, new_id

MAX_SUGGESTIONS = 50
# Asked several times by each change of a content: built once.
_VERSION = select(VersionRow).where(
    VersionRow.node_id == bindparam("node_id"), VersionRow.number == bindparam("number")
)
# Rows that the session holds are read anew when located; loading thousands just to update them is not worth it.
UNSYNCHRONISED = {"synchronize_session": False}


async def begin(writing: Writing, located: Located, if_match: str | None = None) -> None:
    """Start a change of one item: note which, and raise `EtagMismatchError` if it is not as the caller knows it."""
    writing.item_id = located.id
    writing.etag = etag_of(located.row)
    await check_etag(writing.session, writing.actor, located, if_match)


async def finish(writing: Writing, row: NodeRow, located: Located | None = None) -> Item:
    """End a change of one item: return it as it is now, and show it first in the effect unless it was shown.

    Pass `located` if in this change neither its place nor its name nor who sees it changed since.
    """
    check_replaced(writing)
    await writing.session.flush()
    located = located or await locate(writing.session, writing.actor.principal, row.id)
    writing.item_id = row.id
    if all(shown["id"] != row.id for shown in writing.items):
        others, writing.items = writing.items, []
        writing.show(row, located.path)
        writing.items += others
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


async def add_version(
    writing: Writing,
    row: NodeRow,
    blob: Blob,
    media_type: str,
    data: bytes | None = None,
    before: VersionRow | None = None,
) -> None:
    """Make the blob the file's newest content. Call `touch` first unless the row is new; `data` helps a dry run.

    Pass `before`, the content that it has, if that is known.
    """
    session = writing.session
    with session.no_autoflush:  # the row is written once, with all that changes of it
        before = before or await current_version(session, row)
        last = await _highest_number(session, row)
    row.version, row.size, row.media_type, row.updated_at = last + 1, blob.size, media_type, writing.now
    await session.flush()
    version = VersionRow(
        node_id=row.id,
        number=row.version,
        blob=blob.hash,
        size=blob.size,
        media_type=media_type,
        created_at=writing.now,
        author_id=writing.actor.user_id,
        run_id=writing.actor.run_id,
    )
    session.add(version)
    await hold(session, row.owner_id, blob)
    if version.number > writing.limits.max_versions:  # before that there can't be too many
        await _drop_oldest(writing, row)
    writing.note("versions", row.id, _noted(before), _noted(version))
    old = Blob(before.blob, before.size) if before else None
    writing.contents.append(ContentChange(row.name, old, blob, data))
    await mark_pending(writing, row)


async def _highest_number(session: AsyncSession, row: NodeRow) -> int:
    """Return the highest number that a version of the file has; 0 for a new file."""
    if row.version == 0:
        return 0
    return await session.scalar(select(func.max(VersionRow.number)).where(VersionRow.node_id == row.id)) or 0


async def _drop_oldest(writing: Writing, row: NodeRow) -> None:
    """Keep no more versions than allowed: the newest ones."""
    newest_first = select(VersionRow.id, VersionRow.blob).where(VersionRow.node_id == row.id)
    surplus = newest_first.order_by(VersionRow.number.desc()).offset(writing.limits.max_versions)
    dropped = (await writing.session.execute(surplus)).all()
    for start in range(0, len(dropped), BATCH):
        ids = [version_id for version_id, _ in dropped[start : start + BATCH]]
        await writing.session.execute(
            delete(VersionRow).where(VersionRow.id.in_(ids)), execution_options=UNSYNCHRONISED
        )
    await release_all(writing.session, row.owner_id, [blob for _, blob in dropped])


async def current_version(session: AsyncSession, row: NodeRow) -> VersionRow | None:
    """Return the version that is the file's content now; None for a file that has none yet."""
    if row.version == 0:
        return None
    return await get_version(session, row.id, row.version)


async def get_version(session: AsyncSession, node_id: str, number: int) -> VersionRow | None:
    """Return the version of that number, if there is one."""
    return await session.scalar(_VERSION, {"node_id": node_id, "number": number})


async def has_content(session: AsyncSession, node_id: str, blob_hash: str) -> bool:
    """Whether some version of the file still has this content."""
    query = select(VersionRow.id).where(VersionRow.node_id == node_id, VersionRow.blob == blob_hash).limit(1)
    return await session.scalar(query) is not None


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
    values = {**_pending(writing), "version": row.version}
    statement = update(IndexEntryRow).where(IndexEntryRow.file_id == row.id).values(values)
    known = await writing.session.scalar(statement.returning(IndexEntryRow.file_id), execution_options=UNSYNCHRONISED)
    if known is None:
        writing.session.add(IndexEntryRow(file_id=row.id, owner_id=row.owner_id, **values))
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


async def require_room_below(session: AsyncSession, parent: Located, moved: NodeRow | None = None) -> None:
    """Raise `StateConflictError` if an item put into the folder would be below itself or too deep."""
    if moved and moved.id in (parent.id, *parent.ancestors):
        raise StateConflictError("A folder can't be put into itself.", hint="Choose a folder outside of it.")
    height = 1
    if moved and moved.kind == "folder":
        below = descendants(moved.id, trash_id=moved.trash_id)
        height += await session.scalar(select(func.max(below.c.depth))) or 0
    if await depth_of(session, parent) + height > MAX_DEPTH:
        raise StateConflictError(
            "Folders can't be nested that deep.", hint=f"Stay below {MAX_DEPTH} levels.", details={"limit": MAX_DEPTH}
        )


async def _mark_all_pending(writing: Writing, ids: Select[str]) -> None:
    statement = update(IndexEntryRow).where(IndexEntryRow.file_id.in_(ids)).values(_pending(writing))
    await writing.session.execute(statement, execution_options=UNSYNCHRONISED)
    writing.wakes_index = True


def _pending(writing: Writing) -> dict[str, object]:
    return {"state": "pending", "reason": "", "attempts": 0, "updated_at": writing.now}


def _noted(version: VersionRow | None) -> dict[str, object] | None:
    if version is None:
        return None
    return {
        "number": version.number,
        "blob": version.blob,
        "size": version.size,
        "media_type": version.media_type,
    }
