"""The trash: into it, back out of it, and out of it for good, by hand or when its time is over."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import ALL_SCOPES, Actor, Principal, Role
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import EtagMismatchError, ForbiddenError, NotFoundError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.models.items import DeletedItems, Item, OnConflict
from drive_server.services.files.conflicts import resolve_conflict
from drive_server.services.files.moving import require_fits, require_may_take_out
from drive_server.services.files.operations import UNSYNCHRONISED, begin, finish, place, trash_tree, untrash_tree
from drive_server.services.journal.changes import REPLACES
from drive_server.services.journal.recorder import MAX_EFFECT_ITEMS, TREES, Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.progress import Progress, silent
from drive_server.services.quota import release_all
from drive_server.services.tree.items import describe, describe_all, etag_of
from drive_server.services.tree.nodes import (
    BATCH,
    NodeView,
    count_below,
    descendants,
    locate,
    locate_folder,
    locate_live,
    locate_many,
    subtrees,
)
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow, StarRow, VersionRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import LinkRow, ShareRow


async def delete_trees(recorder: Recorder, tops: Sequence[NodeRow], progress: Progress) -> int:
    """Delete these items of one person's trash and all below them, and return how many items that is.

    Items that went to the trash before their folder did are entries of their own: they stay, in the owner's root.
    """
    if not tops:
        return 0
    ids = await _deepest_first(recorder.session, [row.id for row in tops])
    await _keep_own_entries(recorder, tops[0].owner_id, ids)
    await _show(recorder, ids)
    for row in tops:
        recorder.gone(row)
        recorder.session.expunge(row)
    recorder.note(TREES, tops[0].id, {"items": ids}, None)
    recorder.reversible = False
    recorder.count = len(ids)
    for done, part in _batches(ids):
        await progress(done, len(ids))
        await delete_rows(recorder, tops[0].owner_id, part)
    await progress(len(ids), len(ids))
    return len(ids)


async def _show(recorder: Recorder, ids: Sequence[str]) -> None:
    """Name them in the effect, from the top down."""
    if not recorder.actor.dry_run:
        return
    nearest = ids[: -MAX_EFFECT_ITEMS - 1 : -1]
    nodes = await locate_many(recorder.session, recorder.actor.principal, nearest)
    for entry in (nodes[node_id] for node_id in nearest if node_id in nodes):
        recorder.show(entry.row, entry.path)


async def delete_rows(recorder: Recorder, owner_id: str, ids: Sequence[str]) -> None:
    """Delete these items with their versions, shares, links and stars. The session may hold none of them any more."""
    session = recorder.session
    hashes = (await session.scalars(select(VersionRow.blob).where(VersionRow.node_id.in_(ids)))).all()
    await release_all(session, owner_id, hashes)
    # The index finds the entries of files that are gone, removes their passages, and then the entries.
    forget = {"state": "pending", "reason": "", "attempts": 0, "updated_at": recorder.now}
    await session.execute(
        update(IndexEntryRow).where(IndexEntryRow.file_id.in_(ids)).values(forget), execution_options=UNSYNCHRONISED
    )
    for table in (VersionRow, ShareRow, LinkRow, StarRow):
        await session.execute(delete(table).where(table.node_id.in_(ids)), execution_options=UNSYNCHRONISED)
    await session.execute(delete(NodeRow).where(NodeRow.id.in_(ids)), execution_options=UNSYNCHRONISED)
    recorder.wakes_index = True


async def _keep_own_entries(recorder: Recorder, owner_id: str, ids: Sequence[str]) -> None:
    """Put other entries of the trash that are in these folders into the owner's root, where they can be restored."""
    session, going = recorder.session, set(ids)
    root_id = await session.scalar(select(UserRow.root_id).where(UserRow.id == owner_id))
    for _, part in _batches(ids):
        kept = await session.scalars(select(NodeRow).where(NodeRow.parent_id.in_(part), NodeRow.trash_id == NodeRow.id))
        for row in kept.all():
            if row.id not in going:
                recorder.touch(row)
                row.parent_id = root_id
    await session.flush()


async def _deepest_first(session: AsyncSession, tops: Sequence[str]) -> list[str]:
    """Return the ids of the trees without other entries of the trash in them; items before their folder."""
    parents: dict[str, str | None] = {}
    for _, part in _batches(tops):
        trees = subtrees(select(NodeRow.id).where(NodeRow.id.in_(part)), with_entries=False)
        found = await session.stream(select(trees.c.id, trees.c.parent_id))
        async for rows in found.partitions(BATCH):
            parents |= dict(rows)
    depths = _depths(parents)
    return sorted(parents, key=lambda node_id: (-depths[node_id], node_id))


def _depths(parents: Mapping[str, str | None]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for node_id in parents:
        visited: list[str] = []
        here: str | None = node_id
        while here is not None and here in parents and here not in depths:
            visited.append(here)
            here = parents[here]
        depth = depths.get(here or "", 0)
        for each in reversed(visited):
            depth += 1
            depths[each] = depth
    return depths


def _batches(ids: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    for start in range(0, len(ids), BATCH):
        yield start, ids[start : start + BATCH]


async def trash(recorder: Recorder, ref: str, if_match: str | None = None) -> Item:
    """Move the item, with all that is live in it, to the trash."""
    session, principal = recorder.session, recorder.actor.principal
    node = await locate_live(session, principal, ref, Role.EDITOR)
    await begin(recorder, node, if_match)
    await require_may_take_out(session, principal, node, "put_into_trash")
    below = await _show_all(recorder, node)
    await _keep_to_shown(recorder, node)
    recorder.touch(node.row)
    await trash_tree(recorder, node.row)
    recorder.describe("trash", item=node.subject, holding=_holding(node.row, below))
    return await finish(recorder, node.row)


async def restore(
    recorder: Recorder, ref: str, to_parent: str | None, on_conflict: OnConflict, if_match: str | None = None
) -> Item:
    """Bring the item back with all that went to the trash with it: to where it was, or to the folder named."""
    session, principal = recorder.session, recorder.actor.principal
    node = await locate(session, principal, ref, Role.EDITOR)
    await begin(recorder, node, if_match)
    _require_trashed_by_itself(node, "restore")
    await require_may_take_out(session, principal, node, "restored")
    folder = await _restore_folder(session, principal, node, to_parent)
    await require_fits(session, node, folder)
    row, item = node.row, node.subject
    above = node.ancestors
    found = await resolve_conflict(recorder, folder, row.name, row.kind, on_conflict, incoming=row, protected=above)
    recorder.touch(row)
    # While it is in the trash still: where it was, its name may be taken.
    if (row.parent_id, row.name) != (folder.id, found.name):
        await place(recorder, row, folder.id, found.name)
    await untrash_tree(recorder, row)
    recorder.describe("restore", item=item, folder=folder.subject, ending=found.ending)
    return await finish(recorder, row)


async def delete_for_good(recorder: Recorder, ref: str, if_match: str | None = None) -> DeletedItems:
    """Delete an item that is in the trash, with all that is in it. For its owner only."""
    session = recorder.session
    node = await locate(session, recorder.actor.principal, ref, Role.OWNER)
    await begin(recorder, node, if_match)
    _require_trashed_by_itself(node, "delete")
    item = await describe(session, node)
    subject = node.subject
    count = await delete_trees(recorder, [node.row], silent)
    recorder.describe("delete_for_good", item=subject, holding=_holding(node.row, count - 1))
    return DeletedItems(count=count, items=(item,))


async def empty_trash(recorder: Recorder, progress: Progress) -> DeletedItems:
    """Delete all that is in the caller's own trash."""
    session, principal = recorder.session, recorder.actor.principal
    own = (NodeRow.owner_id == principal.user_id, NodeRow.trash_id == NodeRow.id)
    tops = (await session.scalars(select(NodeRow).where(*own).order_by(NodeRow.trashed_at.desc(), NodeRow.id))).all()
    _require_as_shown(recorder, [etag_of(row) for row in tops])
    shown = [row.id for row in tops[:MAX_EFFECT_ITEMS]]
    nodes = await locate_many(session, principal, shown)
    items = await describe_all(session, [nodes[node_id] for node_id in shown])
    count = await delete_trees(recorder, tops, progress)
    recorder.count = count
    if count:
        recorder.describe("empty_trash", count=count)
    else:
        recorder.describe("nothing_in_trash")
    return DeletedItems(count=count, items=tuple(items))


async def _show_all(recorder: Recorder, node: NodeView) -> int:
    """Note the items that go along for the effect, and return their number."""
    below = descendants(node.id)
    total = await count_below(recorder.session, node.id)
    recorder.count = total + 1
    nearest = select(below.c.id).order_by(below.c.depth, below.c.name).limit(MAX_EFFECT_ITEMS - 1)
    ids = (await recorder.session.scalars(nearest)).all() if recorder.actor.dry_run else []
    found = await locate_many(recorder.session, recorder.actor.principal, ids)
    for entry in (node, *(found[node_id] for node_id in ids)):
        recorder.show(entry.row, entry.path)
    return total


async def _keep_to_shown(recorder: Recorder, node: NodeView) -> None:
    """If a person approved this, check that the affected items are still the ones they saw."""
    actor = recorder.actor
    if node.row.kind != "folder" or not (actor.dry_run or REPLACES in (actor.if_match or "")):
        return
    below = descendants(node.id)
    state = select(NodeRow.id, NodeRow.revision).join(below, below.c.id == NodeRow.id).order_by(NodeRow.id)
    recorder.replaces += [f"{node_id}-{revision}" for node_id, revision in await recorder.session.execute(state)]


def _holding(row: NodeRow, below: int) -> Message | Literal[""]:
    return Message.of("holding", count=below) if row.kind == "folder" else ""


def _require_trashed_by_itself(node: NodeView, wanted: str) -> None:
    if node.row.trash_id is None:
        code = "not_in_trash" if wanted == "restore" else "not_in_trash_yet"
        raise StateConflictError(Message.of(code, item=node.subject))
    if node.row.trash_id != node.id:
        raise StateConflictError(
            Message.of("trashed_inside", item=node.subject, wanted=Message.of(wanted)),
            details={"folder_id": node.row.trash_id} if node.row.trash_id in node.ancestors else {},
        )


async def _restore_folder(
    session: AsyncSession, principal: Principal, node: NodeView, to_parent: str | None
) -> NodeView:
    if to_parent is not None:
        return await locate_folder(session, principal, to_parent, Role.EDITOR)
    try:
        return await locate_folder(session, principal, node.row.parent_id or "", Role.EDITOR)
    except (NotFoundError, ForbiddenError, StateConflictError) as error:
        raise StateConflictError(Message.of("folder_gone", item=node.subject)) from error


def _require_as_shown(recorder: Recorder, etags: list[str]) -> None:
    """Raise `EtagMismatchError` unless the trash is as it was approved."""
    recorder.etag = f"trash-{sha256(' '.join(sorted(etags)).encode()).hexdigest()[:16]}"
    approved = recorder.actor.if_match
    if approved is not None and approved != recorder.etag:
        raise EtagMismatchError(Message.of("trash_not_as_shown"), details={"etag": recorder.etag})


TOOL: Final = "expiry"
EXPIRE: Final = "expire"
METHOD: Final = "system"
ITEMS_AT_ONCE = 100


class Expiry:
    """Empties the trash of items that went there more than `days` days ago, in their owner's name."""

    def __init__(self, database: Database, journal: Journal, days: int, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._journal = journal
        self._days = days
        self._clock = clock
        journal.register(EXPIRE, "trash")

    async def run_once(self) -> int:
        """Delete the items that are due, in changes of bounded size, and return their number."""
        due = self._clock() - timedelta(days=self._days)
        async with self._database.read() as session:
            owners = (
                select(UserRow.id, UserRow.email)
                .where(UserRow.id.in_(select(NodeRow.owner_id).where(*_is_due(due))))
                .order_by(UserRow.id)
            )
            found = (await session.execute(owners)).all()
        total = 0
        for user_id, email in found:
            owner = Actor(Principal(user_id, email, ALL_SCOPES, METHOD), tool=TOOL)
            while count := await self._expire(owner, due):
                total += count
        return total

    async def _expire(self, owner: Actor, due: datetime) -> int:
        """Delete the oldest that are due still: somebody may have brought one back just now."""

        async def operation(recorder: Recorder) -> DeletedItems:
            tops = await _oldest(recorder, owner.user_id, due)
            count = await delete_trees(recorder, tops, silent)
            recorder.describe(EXPIRE, count=count, days=self._days)
            return DeletedItems(count=count, items=())

        arguments = {"until": due.isoformat()}
        return (await self._journal.change(owner, EXPIRE, arguments, operation)).value.count


async def _oldest(recorder: Recorder, owner_id: str, due: datetime) -> Sequence[NodeRow]:
    query = select(NodeRow).where(NodeRow.owner_id == owner_id, *_is_due(due)).order_by(NodeRow.trashed_at, NodeRow.id)
    return (await recorder.session.scalars(query.limit(ITEMS_AT_ONCE))).all()


def _is_due(due: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return NodeRow.trash_id == NodeRow.id, NodeRow.trashed_at < due
