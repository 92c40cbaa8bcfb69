"""The trash: into it, back out of it, and out of it for good, by hand or when its time is over."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import ALL_SCOPES, Actor, Principal, Role
from drive_server.clock import Clock, utc_now
from drive_server.errors import EtagMismatchError, ForbiddenError, NotFoundError, StateConflictError
from drive_server.messages import Message
from drive_server.models import DeletedItems, Item, OnConflict
from drive_server.services.files.conflicts import make_way
from drive_server.services.files.moving import require_fits, require_may_take_out
from drive_server.services.files.operations import UNSYNCHRONISED, begin, finish, place, trash_tree, untrash_tree
from drive_server.services.journal.changes import REPLACES
from drive_server.services.journal.recorder import MAX_EFFECT_ITEMS, TREES, Writing
from drive_server.services.journal.service import Journal
from drive_server.services.progress import Progress, silent
from drive_server.services.quota import release_all
from drive_server.services.tree.items import describe, describe_all, etag_of
from drive_server.services.tree.nodes import (
    BATCH,
    Located,
    count_below,
    descendants,
    locate,
    locate_folder,
    locate_live,
    locate_many,
    whole_trees,
)
from drive_server.storage.database import Database
from drive_server.storage.tables import IndexEntryRow, LinkRow, NodeRow, ShareRow, UserRow, VersionRow


async def delete_trees(writing: Writing, tops: Sequence[NodeRow], progress: Progress) -> int:
    """Delete these items of one person's trash and all below them, and return how many items that is.

    What was trashed out of a folder before the folder itself goes along: there is nowhere left to restore it to.
    """
    if not tops:
        return 0
    ids = await _deepest_first(writing.session, [row.id for row in tops])
    await _show(writing, ids)
    for row in tops:
        writing.gone(row)
        writing.session.expunge(row)
    writing.note(TREES, tops[0].id, {"items": ids}, None)
    writing.reversible = False
    writing.count = len(ids)
    for done, part in _batches(ids):
        await progress(done, len(ids))
        await _delete(writing, tops[0].owner_id, part)
    await progress(len(ids), len(ids))
    return len(ids)


async def _show(writing: Writing, ids: Sequence[str]) -> None:
    """Name them in the effect, from the top down."""
    if not writing.actor.dry_run:
        return
    nearest = ids[: -MAX_EFFECT_ITEMS - 1 : -1]
    located = await locate_many(writing.session, writing.actor.principal, nearest)
    for entry in (located[node_id] for node_id in nearest if node_id in located):
        writing.show(entry.row, entry.path)


async def _delete(writing: Writing, owner_id: str, ids: Sequence[str]) -> None:
    session = writing.session
    hashes = (await session.scalars(select(VersionRow.blob).where(VersionRow.node_id.in_(ids)))).all()
    await release_all(session, owner_id, hashes)
    # The index finds the entries of files that are gone, removes their passages, and then the entries.
    forget = {"state": "pending", "reason": "", "attempts": 0, "updated_at": writing.now}
    await session.execute(
        update(IndexEntryRow).where(IndexEntryRow.file_id.in_(ids)).values(forget), execution_options=UNSYNCHRONISED
    )
    for table in (VersionRow, ShareRow, LinkRow):
        await session.execute(delete(table).where(table.node_id.in_(ids)), execution_options=UNSYNCHRONISED)
    await session.execute(delete(NodeRow).where(NodeRow.id.in_(ids)), execution_options=UNSYNCHRONISED)
    writing.wakes_index = True


async def _deepest_first(session: AsyncSession, tops: Sequence[str]) -> list[str]:
    """Return the ids of the whole trees, what is in a folder before the folder."""
    parents: dict[str, str | None] = {}
    for _, part in _batches(tops):
        trees = whole_trees(select(NodeRow.id).where(NodeRow.id.in_(part)))
        found = await session.stream(select(trees.c.id, trees.c.parent_id))
        async for rows in found.partitions(BATCH):
            parents |= dict(rows)
    depths = _depths(parents)
    return sorted(parents, key=lambda node_id: (-depths[node_id], node_id))


def _depths(parents: Mapping[str, str | None]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for node_id in parents:
        chain: list[str] = []
        here: str | None = node_id
        while here is not None and here in parents and here not in depths:
            chain.append(here)
            here = parents[here]
        depth = depths.get(here or "", 0)
        for passed in reversed(chain):
            depth += 1
            depths[passed] = depth
    return depths


def _batches(ids: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    for start in range(0, len(ids), BATCH):
        yield start, ids[start : start + BATCH]


async def trash_item(writing: Writing, ref: str, if_match: str | None = None) -> Item:
    """Move the item, with all that is live in it, to the trash."""
    session, principal = writing.session, writing.actor.principal
    located = await locate_live(session, principal, ref, Role.EDITOR)
    await begin(writing, located, if_match)
    await require_may_take_out(session, principal, located, "put_into_trash")
    below = await _show_all(writing, located)
    await _keep_to_shown(writing, located)
    writing.touch(located.row)
    await trash_tree(writing, located.row)
    writing.describe("trash", item=located.subject, holding=_holding(located.row, below))
    return await finish(writing, located.row)


async def restore_item(writing: Writing, ref: str, to_parent: str | None, on_conflict: OnConflict) -> Item:
    """Bring the item back with all that went to the trash with it: to where it was, or to the folder named."""
    session, principal = writing.session, writing.actor.principal
    located = await locate(session, principal, ref, Role.EDITOR)
    await begin(writing, located)
    _require_trashed_by_itself(located, "restore")
    await require_may_take_out(session, principal, located, "restored")
    folder = await _restore_folder(session, principal, located, to_parent)
    await require_fits(session, located, folder)
    row, item = located.row, located.subject
    found = await make_way(writing, folder, row.name, row.kind, on_conflict, comes=row, stays=located.ancestors)
    writing.touch(row)
    # While it is in the trash still: where it was, its name may be taken.
    if (row.parent_id, row.name) != (folder.id, found.name):
        await place(writing, row, folder.id, found.name)
    await untrash_tree(writing, row)
    writing.describe("restore", item=item, folder=folder.subject, ending=found.ending)
    return await finish(writing, row)


async def delete_item(writing: Writing, ref: str, if_match: str | None = None) -> DeletedItems:
    """Delete an item that is in the trash, with all that is in it. For its owner only."""
    session = writing.session
    located = await locate(session, writing.actor.principal, ref, Role.OWNER)
    await begin(writing, located, if_match)
    _require_trashed_by_itself(located, "delete")
    item = await describe(session, located)
    subject = located.subject
    count = await delete_trees(writing, [located.row], silent)
    writing.describe("delete_for_good", item=subject, holding=_holding(located.row, count - 1))
    return DeletedItems(count, (item,))


async def empty_trash(writing: Writing, progress: Progress) -> DeletedItems:
    """Delete all that is in the caller's own trash."""
    session, principal = writing.session, writing.actor.principal
    own = (NodeRow.owner_id == principal.user_id, NodeRow.trash_id == NodeRow.id)
    tops = (await session.scalars(select(NodeRow).where(*own).order_by(NodeRow.trashed_at.desc(), NodeRow.id))).all()
    _require_as_shown(writing, [etag_of(row) for row in tops])
    shown = [row.id for row in tops[:MAX_EFFECT_ITEMS]]
    located = await locate_many(session, principal, shown)
    items = await describe_all(session, [located[node_id] for node_id in shown])
    count = await delete_trees(writing, tops, progress)
    writing.count = count
    writing.describe("empty_trash", count=count)
    return DeletedItems(count, tuple(items))


async def _show_all(writing: Writing, located: Located) -> int:
    """Note what goes along for the effect, and return how many items that is."""
    below = descendants(located.id)
    total = await count_below(writing.session, located.id)
    writing.count = total + 1
    nearest = select(below.c.id).order_by(below.c.depth, below.c.name).limit(MAX_EFFECT_ITEMS - 1)
    ids = (await writing.session.scalars(nearest)).all() if writing.actor.dry_run else []
    found = await locate_many(writing.session, writing.actor.principal, ids)
    for entry in (located, *(found[node_id] for node_id in ids)):
        writing.show(entry.row, entry.path)
    return total


async def _keep_to_shown(writing: Writing, located: Located) -> None:
    """Have what goes along checked against what a person was shown, where one was asked."""
    actor = writing.actor
    if located.row.kind != "folder" or not (actor.dry_run or REPLACES in (actor.if_match or "")):
        return
    below = descendants(located.id)
    state = select(NodeRow.id, NodeRow.revision).join(below, below.c.id == NodeRow.id).order_by(NodeRow.id)
    writing.replaces += [f"{node_id}-{revision}" for node_id, revision in await writing.session.execute(state)]


def _holding(row: NodeRow, below: int) -> Message | Literal[""]:
    return Message.of("holding", count=below) if row.kind == "folder" else ""


def _require_trashed_by_itself(located: Located, wanted: str) -> None:
    if located.row.trash_id is None:
        code = "not_in_trash" if wanted == "restore" else "not_in_trash_yet"
        raise StateConflictError(Message.of(code, item=located.subject))
    if located.row.trash_id != located.id:
        raise StateConflictError(
            Message.of("trashed_inside", item=located.subject, wanted=Message.of(wanted)),
            details={"folder_id": located.row.trash_id} if located.row.trash_id in located.ancestors else {},
        )


async def _restore_folder(
    session: AsyncSession, principal: Principal, located: Located, to_parent: str | None
) -> Located:
    if to_parent is not None:
        return await locate_folder(session, principal, to_parent, Role.EDITOR)
    try:
        return await locate_folder(session, principal, located.row.parent_id or "", Role.EDITOR)
    except (NotFoundError, ForbiddenError, StateConflictError) as error:
        raise StateConflictError(Message.of("folder_gone", item=located.subject)) from error


def _require_as_shown(writing: Writing, etags: list[str]) -> None:
    """What was shown and approved is what gets deleted."""
    writing.etag = f"trash-{sha256(' '.join(sorted(etags)).encode()).hexdigest()[:16]}"
    approved = writing.actor.if_match
    if approved is not None and approved != writing.etag:
        raise EtagMismatchError(
            Message.of("trash_not_as_shown"),
            details={"etag": writing.etag},
        )


TOOL: Final = "expiry"
METHOD: Final = "system"
ITEMS_AT_ONCE = 100


class Expiry:
    """Empties the trash of what went there more than `days` days ago, in the name of whom it belongs to."""

    def __init__(self, database: Database, journal: Journal, days: int, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._journal = journal
        self._days = days
        self._clock = clock

    async def run_once(self) -> int:
        """Delete what is due, in changes of bounded size, and return how many items that were."""
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

        async def operation(writing: Writing) -> DeletedItems:
            tops = await _oldest(writing, owner.user_id, due)
            count = await delete_trees(writing, tops, silent)
            writing.describe("expire", count=count, days=self._days)
            return DeletedItems(count, ())

        arguments = {"until": due.isoformat()}
        return (await self._journal.change(owner, "expire", arguments, operation)).value.count


async def _oldest(writing: Writing, owner_id: str, due: datetime) -> Sequence[NodeRow]:
    query = select(NodeRow).where(NodeRow.owner_id == owner_id, *_is_due(due)).order_by(NodeRow.trashed_at, NodeRow.id)
    return (await writing.session.scalars(query.limit(ITEMS_AT_ONCE))).all()


def _is_due(due: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return NodeRow.trash_id == NodeRow.id, NodeRow.trashed_at < due
