"""Deletion for good of what is in the trash: whole trees with all that belongs to them. The journal's record stays."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.services.files.operations import UNSYNCHRONISED
from drive_server.services.journal.recorder import MAX_EFFECT_ITEMS, TREES, Writing
from drive_server.services.progress import Progress
from drive_server.services.quota import release_all
from drive_server.services.tree.located import BATCH
from drive_server.services.tree.nodes import locate_many, whole_trees
from drive_server.storage.tables import IndexEntryRow, LinkRow, NodeRow, ShareRow, VersionRow


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
