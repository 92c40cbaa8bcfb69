"""What a rehearsed change touches: which items, in which folders before and after, whether others see them there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.models import Touch
from drive_server.services.journal.recorder import TREES, Entry, Writing, touched_items
from drive_server.services.tree.located import BATCH, Located
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import count_below, locate_many
from drive_server.storage.tables import LinkRow, ShareRow

MAX_TOUCHED: Final = 1_000
MAX_COUNTED_FOLDERS: Final = 50


@dataclass(frozen=True, slots=True)
class _Move:
    """The folder that an item was in before the change (None: it is new), if the change tells of it."""

    is_new: bool
    parent_before: str | None


async def touches_of(writing: Writing) -> tuple[Touch, ...] | None:
    """Return what the change touches, with its effects in the session but not committed. Call after a flush.

    None where it can't be told: more than 1,000 items, or one that the caller does not see. Of a tree that is copied
    it is the topmost item.
    """
    entries = [entry for entry in writing.entries() if entry["table"] != TREES]
    ids = touched_items(entries)
    if len(ids) > MAX_TOUCHED:
        return None
    moves = _moves(entries)
    parents = {move.parent_before for move in moves.values() if move.parent_before}
    located = await locate_many(writing.session, writing.actor.principal, [*ids, *parents])
    if not ids <= located.keys():
        return None
    looking = _Looking(writing, located, moves)
    seen_by_others = await _with_access(writing.session, looking.places_of(ids))
    counts = await _counts(writing.session, [located[key] for key in ids if key not in moves or not moves[key].is_new])
    return tuple(looking.touch(key, seen_by_others, counts.get(key, 0)) for key in sorted(ids))


@dataclass(frozen=True, slots=True)
class _Looking:
    writing: Writing
    located: Mapping[str, Located]
    moves: Mapping[str, _Move]

    def places_of(self, ids: Iterable[str]) -> set[str]:
        """Return the items and all folders that they are in after the change."""
        return {place for key in ids for place in (key, *self.located[key].ancestors)}

    def before(self, key: str) -> tuple[str, ...] | None:
        """Return the folders that the item was in; None if it was nowhere, or where the caller does not see."""
        move = self.moves.get(key, _Move(is_new=False, parent_before=None))
        if move.is_new:
            return None
        if move.parent_before is None:
            return self.located[key].ancestors
        parent = self.located.get(move.parent_before)
        return (parent.id, *parent.ancestors) if parent else None

    def touch(self, key: str, seen_by_others: set[str], below: int) -> Touch:
        item = self.located[key]
        is_mine = item.row.owner_id == self.writing.actor.user_id
        before = self.before(key)
        reached = {key, *item.ancestors} - {key, *before} if before is not None else {key, *item.ancestors}
        return Touch(
            id=key,
            name=display_name(item.row.name),
            path=display_name(item.path),
            items=1 + below,
            mine=is_mine,
            inside=item.ancestors,
            was_inside=before,
            others=not is_mine or item.shared or not seen_by_others.isdisjoint({key, *item.ancestors}),
            gains=bool(reached & seen_by_others) or (before is None and not is_mine),
        )


def _moves(entries: Sequence[Entry]) -> dict[str, _Move]:
    """Return of each item that is new, or was moved, where it was before the first of its changes."""
    found: dict[str, _Move] = {}
    for entry in entries:
        if entry["table"] != "nodes" or entry["id"] in found:
            continue
        before: Mapping[str, Any] | None = entry["before"]
        if before is None:
            found[entry["id"]] = _Move(is_new=True, parent_before=None)
        elif "parent_id" in before:
            found[entry["id"]] = _Move(is_new=False, parent_before=before["parent_id"])
    return found


async def _with_access(session: AsyncSession, places: set[str]) -> set[str]:
    """Return those of the places to which somebody was given a role, or a link."""
    found: set[str] = set()
    ordered = sorted(places)
    for start in range(0, len(ordered), BATCH):
        batch = ordered[start : start + BATCH]
        shares = select(ShareRow.node_id).where(ShareRow.node_id.in_(batch))
        links = select(LinkRow.node_id).where(LinkRow.node_id.in_(batch))
        found.update(await session.scalars(shares.union(links)))
    return found


async def _counts(session: AsyncSession, located: Sequence[Located]) -> dict[str, int]:
    """Return how many live items are below each folder that was there before, of the first 50."""
    folders = [item.id for item in located if item.row.kind == "folder" and item.row.trash_id is None]
    return {key: await count_below(session, key) for key in folders[:MAX_COUNTED_FOLDERS]}
