"""One action on many items, each for itself: the changes are one change, and each item left has its reason."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.errors import DriveError, InvalidInputError, StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.models.changes import Outcome
from drive_server.models.items import BulkEntry, BulkOutcome, Item, OnConflict
from drive_server.services.files.conflicts import check_choice
from drive_server.services.files.copying import CopyChoice, copy
from drive_server.services.files.moving import MoveChoice, move
from drive_server.services.files.trash import delete_for_good, restore, trash
from drive_server.services.journal.recorder import Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.progress import silent
from drive_server.services.quota import savepoint
from drive_server.services.tree.nodes import locate_folder

MAX_ITEMS: Final = 500

BulkAction = Literal["move", "copy", "trash", "restore", "delete"]


@dataclass(frozen=True, slots=True)
class BulkItem:
    """An item, by id or path, and the etag at which it was seen, if that matters."""

    ref: str
    if_match: str | None = None


@dataclass(frozen=True, slots=True)
class BulkChange:
    """The action on each of the items. `parent` is the folder to move or copy to, or to restore to."""

    action: BulkAction
    items: Sequence[BulkItem]
    parent: str | None = None
    on_conflict: OnConflict = "fail"


class BulkService:
    """Does one action on up to 500 items in one transaction, and records it as one change.

    An item that the action fails for is left as it was, and the others go on.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def change(self, actor: Actor, wanted: BulkChange) -> Outcome[BulkOutcome]:
        """Return the outcome of each item. Raises for faults common to all: the scope, the folder, the storage."""
        kind = _KINDS[wanted.action]
        for scope in kind.scopes:
            require_scope(actor.principal, scope)
        _check(wanted)

        async def operation(recorder: Recorder) -> BulkOutcome:
            folder = await _folder_message(recorder, wanted)
            entries = [await _entry(recorder, wanted, item) for item in wanted.items]
            changed = sum(entry.problem is None for entry in entries)
            recorder.count = changed
            recorder.describe(kind.described, count=changed, **folder)
            return BulkOutcome(results=tuple(entries), changed=changed)

        arguments = {
            "items": [[item.ref, item.if_match] for item in wanted.items],
            "parent": wanted.parent,
            "on_conflict": wanted.on_conflict,
        }
        return await self._journal.change(actor, kind.recorded, arguments, operation)


def _check(wanted: BulkChange) -> None:
    check_choice(wanted.on_conflict)
    if not 0 < len(wanted.items) <= MAX_ITEMS:
        raise InvalidInputError(Message.of("bulk_items", limit=MAX_ITEMS), details={"limit": MAX_ITEMS})
    if wanted.parent is None and wanted.action in {"move", "copy"}:
        raise InvalidInputError(Message.of("bulk_parent"))


async def _folder_message(recorder: Recorder, wanted: BulkChange) -> dict[str, Message]:
    if wanted.parent is None:
        return {}
    folder = await locate_folder(recorder.session, recorder.actor.principal, wanted.parent, Role.EDITOR)
    recorder.item_id = folder.id
    return {"folder": folder.subject}


async def _entry(recorder: Recorder, wanted: BulkChange, item: BulkItem) -> BulkEntry:
    await asyncio.sleep(0)
    step = Recorder(recorder.session, recorder.actor, recorder.now, recorder.limits)
    try:
        async with savepoint(recorder.session, recorder.limits, recorder.actor.user_id):
            done = await _KINDS[wanted.action].run(step, wanted, item)
            await recorder.session.flush()
            recorder.absorb(step)
    except DriveError as error:
        if isinstance(error, StorageFailureError) or error.code == DriveError.code:
            raise
        return BulkEntry(ref=item.ref, problem={"status": error.status, **error.to_dict()})
    return BulkEntry(ref=item.ref, item=done)


async def _move(step: Recorder, wanted: BulkChange, item: BulkItem) -> Item:
    return await move(step, item.ref, wanted.parent or "", MoveChoice(wanted.on_conflict, item.if_match))


async def _copy(step: Recorder, wanted: BulkChange, item: BulkItem) -> Item:
    choice = CopyChoice(wanted.on_conflict, item.if_match)
    return await copy(step, item.ref, wanted.parent or "", None, choice, silent)


async def _trash(step: Recorder, wanted: BulkChange, item: BulkItem) -> Item:
    del wanted
    return await trash(step, item.ref, item.if_match)


async def _restore(step: Recorder, wanted: BulkChange, item: BulkItem) -> Item:
    return await restore(step, item.ref, wanted.parent, wanted.on_conflict, item.if_match)


async def _delete(step: Recorder, wanted: BulkChange, item: BulkItem) -> Item:
    del wanted
    return (await delete_for_good(step, item.ref, item.if_match)).items[0]


@dataclass(frozen=True, slots=True)
class _Kind:
    """An action: its name in the journal, the sentence about it, the scopes that it needs, and its function."""

    recorded: str
    described: str
    scopes: tuple[Scope, ...]
    run: Callable[[Recorder, BulkChange, BulkItem], Awaitable[Item]]


_KINDS: Final[dict[BulkAction, _Kind]] = {
    "move": _Kind("move_many", "move_many", (Scope.WRITE,), _move),
    "copy": _Kind("copy", "copy_many", (Scope.READ, Scope.WRITE), _copy),
    "trash": _Kind("trash", "trash_many", (Scope.DELETE,), _trash),
    "restore": _Kind("restore", "restore_many", (Scope.WRITE,), _restore),
    "delete": _Kind("delete_for_good", "delete_many", (Scope.DELETE,), _delete),
}
