"""Many items that get their names and folders at once: conflicts first, then one after another, also in a circle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from typing import Final

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.errors import EtagMismatchError, NameConflictError
from drive_server.kernel.messages import Message
from drive_server.models.items import OnConflict, Rearranged, RearrangedItem
from drive_server.services.files.moving import ITEMS_AT_ONCE, require_fits, require_may_take_out
from drive_server.services.files.operations import namer, place
from drive_server.services.files.patterns import temporary_name
from drive_server.services.journal.recorder import Recorder
from drive_server.services.progress import Progress
from drive_server.services.tree.items import etag_of
from drive_server.services.tree.names import display_name, numbered_name
from drive_server.services.tree.nodes import BATCH, NodeView, locate_many
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow

MAX_NAMED: Final = 10

Place = tuple[str, str]
"""The id of a folder, and a name in it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The folder and name that an item is to get. `named_here`: the person gave the name itself, word by word."""

    node: NodeView
    folder: NodeView
    name: str
    named_here: bool = False

    @property
    def now(self) -> Place:
        """The place of the item: its folder and its name."""
        return str(self.node.row.parent_id), self.node.row.name

    @property
    def wanted(self) -> Place:
        """The place that it is to have."""
        return self.folder.id, self.name

    @property
    def moves(self) -> bool:
        """Return whether it changes its folder."""
        return self.node.row.parent_id != self.folder.id


async def arrange(
    recorder: Recorder, targets: Sequence[Target], on_conflict: OnConflict, progress: Progress
) -> Rearranged:
    """Give all items their places or, by an error, none.

    Raises `NameConflictError` that names all names that are taken or wanted twice, unless `on_conflict` is `rename`.
    """
    placed = await _resolve(recorder.session, targets, on_conflict)
    _require_as_shown(recorder, placed)
    changing = [target for target in placed if target.now != target.wanted]
    was = {target.node.id: target.node.path for target in placed}
    for target in changing:
        await _check(recorder, target)
        recorder.show(target.node.row, target.node.path, _becomes(target))
    recorder.count, recorder.shown = len(changing), 2 * len(changing)
    await _Placing(recorder, changing).run(progress)
    now = await locate_many(recorder.session, recorder.actor.principal, was)
    items = [RearrangedItem(id=key, name=now[key].row.name, path=now[key].path, was=was[key]) for key in was]
    return Rearranged(items=tuple(items), changed=len(changing))


async def _check(recorder: Recorder, target: Target) -> None:
    if target.moves:
        await require_may_take_out(recorder.session, recorder.actor.principal, target.node, "moved")
        await require_fits(recorder.session, target.node, target.folder)


def _becomes(target: Target) -> Message:
    if target.moves:
        return Message.of("goes_to", path=display_name(f"{target.folder.path.rstrip('/')}/{target.name}"))
    return Message.of("becomes", name=display_name(target.name))


@dataclass(slots=True)
class _Placing:
    """Items on their way. One whose place another still has waits; of a circle, one steps aside for a moment."""

    recorder: Recorder
    changing: Sequence[Target]

    async def run(self, progress: Progress) -> None:
        waiting = {target.node.id: target for target in self.changing}
        held = {target.now: target.node.id for target in self.changing}
        while waiting:
            ready = [one for one in waiting.values() if held.get(one.wanted, one.node.id) == one.node.id]
            for target in ready or [self._aside(next(iter(waiting.values())))]:
                if len(waiting) % ITEMS_AT_ONCE == 0:
                    await progress(len(self.changing) - len(waiting), len(self.changing))
                held.pop(target.now, None)
                await self._place(target)
                if ready:
                    del waiting[target.node.id]
        await progress(len(self.changing), len(self.changing))

    def _aside(self, target: Target) -> Target:
        return replace(target, name=temporary_name(target.node.row, new_id()), named_here=False)

    async def _place(self, target: Target) -> None:
        row = target.node.row
        self.recorder.touch(row)
        await place(self.recorder, row, target.folder.id, target.name)
        if target.named_here:
            row.named_by = namer(self.recorder.actor)
        await self.recorder.session.flush()


async def _resolve(session: AsyncSession, targets: Sequence[Target], on_conflict: OnConflict) -> list[Target]:
    """Return the targets with names that are free once all items have left their places."""
    leaving = {target.node.id for target in targets if target.now != target.wanted}
    taken = await _taken(session, targets, leaving)
    claimed: set[Place] = set()
    placed: list[Target] = []
    refused: list[Target] = []
    for target in targets:
        if target.wanted in claimed or taken.get(target.wanted, target.node.id) != target.node.id:
            refused.append(target)
            if on_conflict == "rename":
                placed.append(await _numbered(session, target, claimed, leaving))
        else:
            placed.append(target)
        claimed.update(one.wanted for one in placed[-1:])
    if refused and on_conflict != "rename":
        raise _taken_error(refused)
    return placed


def _taken_error(refused: Sequence[Target]) -> NameConflictError:
    names = list(dict.fromkeys(display_name(target.name) for target in refused))
    shown = [*names[:MAX_NAMED], *(["…"] if len(names) > MAX_NAMED else [])]
    return NameConflictError(
        Message.of("names_taken", count=len(names), names=Message.joined("commas", shown)),
        details={"items": [{"id": target.node.id, "name": target.name} for target in refused[:MAX_NAMED]]},
    )


async def _taken(session: AsyncSession, targets: Sequence[Target], leaving: set[str]) -> dict[Place, str]:
    """Return the places of live items, other than those that leave theirs, that a target wants."""
    wanted: dict[str, list[str]] = {}
    for target in targets:
        wanted.setdefault(target.folder.id, []).append(target.name)
    found: dict[Place, str] = {}
    for folder, names in wanted.items():
        found.update(await _children(session, folder, names))
    return {where: item for where, item in found.items() if item not in leaving}


async def _children(session: AsyncSession, folder: str, names: Sequence[str]) -> Mapping[Place, str]:
    found: dict[Place, str] = {}
    for start in range(0, len(names), BATCH):
        query = select(NodeRow.name, NodeRow.id).where(
            NodeRow.parent_id == folder, NodeRow.trash_id.is_(None), NodeRow.name.in_(names[start : start + BATCH])
        )
        found.update({(folder, row.name): row.id for row in await session.execute(query)})
    return found


async def _numbered(session: AsyncSession, target: Target, claimed: set[Place], leaving: set[str]) -> Target:
    for first in count(2, BATCH):
        names = [numbered_name(target.name, number) for number in range(first, first + BATCH)]
        there = await _children(session, target.folder.id, names)
        taken = {where for where, item in there.items() if item not in leaving}
        free = next((name for name in names if (target.folder.id, name) not in claimed | taken), None)
        if free is not None:
            return replace(target, name=free)
    raise AssertionError


def _require_as_shown(recorder: Recorder, placed: Sequence[Target]) -> None:
    """Raise `EtagMismatchError` unless the same items, unchanged, get the same places as was approved."""
    shown = [[etag_of(one.node.row), one.folder.path, one.name] for one in placed]
    recorder.etag = f"arrange-{sha256(orjson.dumps(shown)).hexdigest()[:16]}"
    approved = recorder.actor.if_match
    if approved is not None and approved != recorder.etag:
        raise EtagMismatchError(Message.of("batch_not_as_shown"), details={"etag": recorder.etag})
