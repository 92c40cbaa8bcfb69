"""Copies of files and of whole folders: new items with the same contents, which belong to the owner of their folder."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Row, and_, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Role
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.models.items import Item, OnConflict
from drive_server.services.files.conflicts import resolve_conflict
from drive_server.services.files.moving import refuse_root
from drive_server.services.files.operations import (
    add_node,
    add_version,
    begin,
    content_of,
    finish,
    require_room_below,
)
from drive_server.services.files.versions import current_of
from drive_server.services.journal.recorder import MAX_EFFECT_ITEMS, TREES, Recorder
from drive_server.services.progress import Progress
from drive_server.services.quota import hold_all
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import BATCH, NodeView, descendants, locate_folder, locate_live
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow, VersionRow


class Leaf(NamedTuple):
    """An item below a folder: where it is, its name, and its content if it is a file."""

    id: str
    parent_id: str
    name: str
    blob: str | None


def fingerprint(leaves: Iterable[Leaf]) -> str:
    """Return a text that is the same for the same items in any order."""
    return sha256(orjson.dumps([tuple(leaf) for leaf in sorted(leaves, key=lambda leaf: leaf.id)])).hexdigest()


async def leaves_below(session: AsyncSession, node_id: str) -> list[Leaf]:
    """Return the live items below the folder."""
    below = descendants(node_id)
    content = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
    query = (
        select(below.c.id, below.c.parent_id, below.c.name, VersionRow.blob)
        .join(NodeRow, NodeRow.id == below.c.id)
        .outerjoin(VersionRow, content)
    )
    leaves: list[Leaf] = []
    async for rows in (await session.stream(query)).partitions(BATCH):
        leaves += [Leaf(*row) for row in rows]
    return leaves


MAX_COPIED_ITEMS = 100_000
ROWS_AT_ONCE = 250
Found = Row[str, str, str, str, str, int, str, str | None, str | None, datetime]
"""Id, parent_id, kind and name of an item; blob, size, media type and checksums of its content, None for folders; who
named it, and its date."""


class CopyChoice(NamedTuple):
    """The way to copy: the rule for a taken name, the state to copy, and whether a folder's content is copied too."""

    on_conflict: OnConflict
    if_match: str | None = None
    replaces_any_kind: bool = False
    with_contents: bool = True


async def copy(
    recorder: Recorder, ref: str, new_parent: str, name: str | None, choice: CopyChoice, progress: Progress
) -> Item:
    """Copy the item, with all that is live in it, into the folder.

    Everyone who sees a folder sees all that is in it.
    """
    session, principal = recorder.session, recorder.actor.principal
    source = await locate_live(session, principal, ref)
    folder = await locate_folder(session, principal, new_parent, Role.EDITOR)
    await begin(recorder, source, choice.if_match)
    refuse_root(source, "copied")
    await require_room_below(session, folder, source.row)
    below = await _rows_below(session, source) if choice.with_contents else []
    protected = (source.id, *source.ancestors)
    kind = None if choice.replaces_any_kind else source.row.kind
    found = await resolve_conflict(
        recorder, folder, name or source.row.name, kind, choice.on_conflict, protected=protected
    )
    row = add_node(recorder, folder, source.row.kind, found.name)
    row.modified_at = source.row.modified_at
    if name is None:
        row.named_by = source.row.named_by
    if source.row.kind == "file":
        await session.flush()
        content = await current_of(session, source.row)
        await add_version(recorder, row, content_of(content))
        recorder.contents.clear()  # the same content in two places is nothing to compare
    recorder.count += len(below)
    await _copy_below(recorder, source, row, below, progress)
    _show(recorder, source, f"{folder.path.rstrip('/')}/{found.name}", below)
    holding = Message.of("holding", count=len(below)) if source.row.kind == "folder" else ""
    recorder.describe("copy", item=source.subject, holding=holding, folder=folder.subject, ending=found.ending)
    return await finish(recorder, row)


async def _rows_below(session: AsyncSession, source: NodeView) -> Sequence[Found]:
    """Return the items below, from the top down, read before the first copy is made."""
    if source.row.kind == "file":
        return []
    below = descendants(source.id)
    columns = (below.c.id, below.c.parent_id, below.c.kind, below.c.name)
    content = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
    contents = (VersionRow.blob, VersionRow.size, VersionRow.media_type, VersionRow.checksums)
    query = (
        select(*columns, *contents, NodeRow.named_by, NodeRow.modified_at)
        .join(NodeRow, NodeRow.id == below.c.id)
        .outerjoin(VersionRow, content)
        .order_by(below.c.depth, below.c.name)
        .limit(MAX_COPIED_ITEMS + 1)
    )
    # In parts: turning all rows into objects at once would hold up everybody else in the process.
    rows: list[Found] = []
    async for part in (await session.stream(query)).partitions(ROWS_AT_ONCE):
        rows += part
    if len(rows) > MAX_COPIED_ITEMS:
        raise InvalidInputError(
            Message.of("too_many_copies", limit=MAX_COPIED_ITEMS), details={"limit": MAX_COPIED_ITEMS}
        )
    return rows


async def _copy_below(
    recorder: Recorder, source: NodeView, top: NodeRow, below: Sequence[Found], progress: Progress
) -> None:
    total = len(below) + 1
    ids = {source.id: top.id} | {row.id: new_id() for row in below}
    done = 1
    await progress(done, total)
    for rows in _batches(below):
        await _insert(recorder, top.owner_id, ids, rows)
        done += len(rows)
        await progress(done, total)
    if below:
        leaves = [Leaf(ids[row.id], ids[row.parent_id], row.name, row.blob) for row in below]
        recorder.note(TREES, top.id, None, {"items": [leaf.id for leaf in leaves], "digest": fingerprint(leaves)})


def _show(recorder: Recorder, source: NodeView, path: str, below: Sequence[Found]) -> None:
    """Name the copied items, by the ids of their originals and the paths of the copies."""
    paths = {source.id: path}
    for row in below[: MAX_EFFECT_ITEMS - 1] if recorder.actor.dry_run else []:
        paths[row.id] = f"{paths[row.parent_id]}/{row.name}"
        shown = {"name": display_name(row.name), "path": display_name(paths[row.id])}
        recorder.items.append({"id": row.id, "kind": row.kind, **shown})


async def _insert(recorder: Recorder, owner_id: str, ids: dict[str, str], rows: Sequence[Found]) -> None:
    """Insert copies of the rows, of which the ones above were inserted before, with their contents as version 1."""
    session = recorder.session
    files = [row for row in rows if row.kind == "file"]
    await session.flush()
    await session.execute(insert(NodeRow), [_node(recorder, owner_id, ids, row) for row in rows])
    if not files:
        return
    await session.execute(insert(VersionRow), [_version(recorder, ids, row) for row in files])
    await session.execute(insert(IndexEntryRow), [_index_entry(recorder, owner_id, ids, row) for row in files])
    await hold_all(session, owner_id, [Blob(row.blob, row.size) for row in files])
    recorder.wakes_index = True


def _node(recorder: Recorder, owner_id: str, ids: dict[str, str], row: Found) -> dict[str, Any]:
    is_file = row.kind == "file"
    return {
        "id": ids[row.id],
        "parent_id": ids[row.parent_id],
        "owner_id": owner_id,
        "kind": row.kind,
        "name": row.name,
        "named_by": row.named_by,
        "revision": 1,
        "version": int(is_file),
        "size": row.size if is_file else 0,
        "media_type": row.media_type if is_file else "",
        "created_at": recorder.now,
        "updated_at": recorder.now,
        "modified_at": row.modified_at,
    }


def _version(recorder: Recorder, ids: dict[str, str], row: Found) -> dict[str, Any]:
    return {
        "node_id": ids[row.id],
        "number": 1,
        "blob": row.blob,
        "size": row.size,
        "media_type": row.media_type,
        "created_at": recorder.now,
        "modified_at": row.modified_at,
        "checksums": row.checksums,
        "author_id": recorder.actor.user_id,
        "run_id": recorder.actor.run_id,
    }


def _index_entry(recorder: Recorder, owner_id: str, ids: dict[str, str], row: Found) -> dict[str, Any]:
    return {
        "file_id": ids[row.id],
        "owner_id": owner_id,
        "version": 1,
        "state": "pending",
        "reason": "",
        "attempts": 0,
        "updated_at": recorder.now,
    }


def _batches(rows: Sequence[Found]) -> Iterator[Sequence[Found]]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]
