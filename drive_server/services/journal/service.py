"""Every change goes through here: done once per key, recorded in its transaction, shown before."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import NoneType
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter
from sqlalchemy import Table, insert, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from drive_server.kernel.access import Actor, Scope, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import IdempotencyConflictError, InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.engine import beside
from drive_server.models.access import ApiKey, Link, Share, User
from drive_server.models.base import Page
from drive_server.models.changes import Change, Effect, Outcome, RedoResult, Touch, UndoResult
from drive_server.models.items import BulkOutcome, DeletedItems, Item, MovedItems, Rearranged, RestoredItems
from drive_server.services.journal.changes import ChangeFilter, ChangeKind, find_changes, parse_moment
from drive_server.services.journal.effects import touches_of, unified_diff_of
from drive_server.services.journal.recorder import Recorder, touched_items
from drive_server.services.journal.revocation import HoldsRun, refuse_if_revoked, revoke_run
from drive_server.services.journal.turns import change_in_turn
from drive_server.services.journal.unasked import name_unasked, note_unasked
from drive_server.services.quota import Limits, require_room
from drive_server.services.tree.ancestors import Reader
from drive_server.services.tree.items import checked_limit
from drive_server.storage.blobs import BlobStore
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow

RESULTS = (
    NoneType,
    ApiKey,
    BulkOutcome,
    DeletedItems,
    Item,
    Link,
    MovedItems,
    Rearranged,
    RedoResult,
    RestoredItems,
    Share,
    UndoResult,
    User,
)
_ADAPTERS: dict[str, TypeAdapter[Any]] = {model.__name__: TypeAdapter(model) for model in RESULTS}


def encode_result(value: object) -> dict[str, Any]:
    """Return the value as JSON that `decode_result` reads."""
    name = type(value).__name__
    return {"type": name, "value": _ADAPTERS[name].dump_python(value, mode="json")}


def decode_result(recorded: dict[str, Any]) -> Any:
    """Return the value that was recorded."""
    return _ADAPTERS[recorded["type"]].validate_python(recorded["value"])


T = TypeVar("T")
Operation = Callable[[Recorder], Awaitable[T]]

DEFAULT_LIMITS = Limits()
ITEMS_AT_ONCE = 500
MAX_LEFT_SHOWN = 20
# Executed by each write: built once.
_CHANGES = cast("Table", ChangeRow.__table__)
_ADD_CHANGE = insert(_CHANGES).returning(_CHANGES.c.id)
_ADD_ITEMS = insert(cast("Table", ChangeItemRow.__table__))
LIMITS = {
    "tool": 64,
    "run_id": 64,
    "idempotency_key": 255,
    "approved_by": 320,
    "approved_key": 255,
    "tool_call_id": 190,
    "approval_id": 64,
    "grant_id": 64,
}


@dataclass(slots=True)
class _Done(Generic[T]):
    """A finished operation: its value, whether it changes anything, its number or the items of a dry run."""

    recorder: Recorder
    value: T
    changes: bool = False
    touches: tuple[Touch, ...] | None = None
    change_id: int | None = None


def _nobody_listens() -> None:
    """Stand in until the composition names the listener to changes of content."""


class Journal:
    """Runs operations exactly once, and records them.

    `on_content_change` is called after every commit that changed indexed content, `on_change` after every commit that
    recorded a change: followers of the table `changes` by id look there then. `kinds` has the kind of each action, as
    the tools that record them say (`ToolSpec.changes`), and services for actions of no tool.
    """

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        *,
        on_content_change: Callable[[], None] = _nobody_listens,
        on_change: Callable[[], None] = _nobody_listens,
        limits: Limits = DEFAULT_LIMITS,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self.on_content_change = on_content_change
        self.on_change = on_change
        self.limits = limits
        self._clock = clock
        self.kinds: dict[str, ChangeKind] = {}
        self.holds_run: HoldsRun | None = None
        """Asked in the transaction of each change of a run, where several processes share the runs."""

    def register(self, action: str, kind: ChangeKind) -> None:
        """List the changes of an action under a kind, and no other. Raises `ValueError` if they have another."""
        if self.kinds.setdefault(action, kind) != kind:
            raise ValueError(f"the action {action} is of the kind {self.kinds[action]}, not {kind}")

    async def change(
        self, actor: Actor, action: str, arguments: Mapping[str, Any], operation: Operation[T], *, waits: bool = False
    ) -> Outcome[T]:
        """Run the operation in one write transaction and record it there.

        It awaits its session and whatever `Database.change` allows; one that `waits` may await anything.

        A known idempotency key returns the recorded outcome and runs nothing; the same key with another action or other
        arguments raises `IdempotencyConflictError`. For a dry run everything is rolled back and the effect returned.
        An operation that changes nothing is no change: its outcome has no id, and no list of changes has it.
        `arguments` are JSON and tell one call from another: put a digest there, not a content. Raises
        `CallCancelledError` for a call of a run that was revoked.
        """
        digest = _digest(actor, action, arguments)

        async def work(session: AsyncSession) -> _Done[T] | Outcome[T]:
            if actor.guard is not None:
                await actor.guard(session)
            replayed = None if actor.dry_run else await _replay(session, actor, digest)
            if replayed:
                return replayed
            await refuse_if_revoked(session, actor, self.holds_run)
            recorder = Recorder(session, actor, self._clock(), self.limits)
            done = _Done(recorder, await operation(recorder))
            await self._finish(recorder)
            done.changes = recorder.changes_anything()
            if actor.dry_run:
                done.touches = await touches_of(recorder)
                await session.rollback()
            else:
                await _write_down(done, action, digest)
            return done

        done = await change_in_turn(self._database, work, actor.user_id, waits=waits)
        if isinstance(done, Outcome):
            return done
        if actor.dry_run:
            return Outcome(done.value, effect=await self._effect(done.recorder, done.changes, done.touches))
        if done.recorder.wakes_index:
            self.on_content_change()
        if done.changes:
            self.on_change()
        return Outcome(done.value, done.change_id if done.changes else None)

    async def revoke(self, user_id: str, run_id: str) -> None:
        """Return once no call of the run changes anything any more: one in its transaction ends first."""

        async def work(session: AsyncSession) -> None:
            await revoke_run(session, user_id, run_id, self._clock())

        await change_in_turn(self._database, work, user_id)

    async def _finish(self, recorder: Recorder) -> None:
        """Write down all that was done, and refuse it if there is no room for it or its contents are not there."""
        await recorder.session.flush()
        require_room(recorder.session, self.limits, recorder.actor.user_id)
        if not recorder.actor.dry_run:
            hashes = {change.after.hash for change in recorder.contents}
            await beside(recorder.session, lambda: self._blobs.require_all(hashes))

    async def recorded(self, actor: Actor, action: str, arguments: Mapping[str, Any]) -> Outcome[Any] | None:
        """Return the outcome of this very call if it was made before; for operations that read before they write."""
        digest = _digest(actor, action, arguments)
        if actor.dry_run or actor.idempotency_key is None:
            return None

        async def work(session: AsyncSession) -> Outcome[Any] | None:
            return await _replay(session, actor, digest)

        return await self._database.look(work)

    async def has_recorded(self, actor: Actor) -> bool:
        """Return whether a call of the tool with this idempotency key was recorded before, this one or another."""
        if actor.dry_run or actor.idempotency_key is None:
            return False
        return await self._database.read_sync(lambda reader: has_recorded_sync(reader, actor))

    async def list_changes(
        self,
        actor: Actor,
        *,
        item: str | None = None,
        run_id: str | None = None,
        since: str | None = None,
        until: str | None = None,
        tool: str | None = None,
        by: str | None = None,
        kind: ChangeKind | None = None,
        everybodys: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Change]:
        """Return changes, newest first: the caller's own, or with `item` those of everyone to that item.

        A viewer of an item sees no changes of others to it; an editor sees them without other items' names.
        `since` (inclusive) and `until` (exclusive) are ISO 8601; `by` is an email: changes by that person in the
        caller's own tree, or to the item. Administrators may ask for `everybodys`. Raises `InvalidInputError` for a
        malformed time and `ForbiddenError` for filters that only administrators may use.
        """
        require_scope(actor.principal, Scope.READ)
        actions = frozenset(action for action, of in self.kinds.items() if of == kind)
        wanted = ChangeFilter(item, run_id, parse_moment(since), parse_moment(until), tool, by, kind, actions)
        size = checked_limit(limit)
        cursors = Cursors(self._database.signer, actor.user_id, "changes", *wanted.key(), int(everybodys))
        before = cursors.decode(cursor, int)[0] if cursor is not None else None
        found = await self._database.read_sync(
            lambda connection: find_changes(
                connection, actor.principal, wanted, everybodys=everybodys, before_id=before, size=size + 1
            )
        )
        return Page(tuple(found[:size]), cursors.encode(found[size - 1].id) if len(found) > size else None)

    async def _effect(self, recorder: Recorder, changes: bool, touches: tuple[Touch, ...] | None) -> Effect:
        return Effect(
            message=recorder.effect or recorder.message,
            count=recorder.count if changes else 0,
            items=tuple(recorder.items[: recorder.shown]),
            diff=await unified_diff_of(self._blobs, recorder.contents),
            gains_access=tuple(recorder.gains_access),
            loses_access=tuple(recorder.loses_access),
            reversible=recorder.reversible,
            etag=recorder.etag,
            left=tuple(recorder.left[:MAX_LEFT_SHOWN]),
            touches=touches,
        )


def has_recorded_sync(reader: Reader, actor: Actor) -> bool:
    """Do as `Journal.has_recorded` does, in a transaction that is under way."""
    if actor.dry_run or actor.idempotency_key is None:
        return False
    query = select(ChangeRow.id).where(
        ChangeRow.user_id == actor.user_id,
        ChangeRow.idempotency_key == actor.idempotency_key,
        ChangeRow.tool == actor.tool,
    )
    return reader.scalar(query) is not None


async def _replay(session: AsyncSession, actor: Actor, digest: str) -> Outcome[Any] | None:
    if actor.idempotency_key is None:
        return None
    query = select(ChangeRow).where(
        ChangeRow.user_id == actor.user_id, ChangeRow.idempotency_key == actor.idempotency_key
    )
    row = (await session.execute(query)).scalar_one_or_none()
    if row is None:
        return None
    if row.arguments_digest != digest:
        raise IdempotencyConflictError(Message.of("key_used"))
    return Outcome(decode_result(row.result), row.id if row.entries else None, replayed=True)


async def _write_down(done: _Done[Any], action: str, digest: str) -> None:
    is_unasked = done.changes and name_unasked(done.recorder)
    done.change_id = await _record(done.recorder, action, digest, encode_result(done.value))
    if is_unasked and done.change_id is not None:
        note_unasked(done.recorder, done.change_id)


async def _record(recorder: Recorder, action: str, digest: str, result: dict[str, Any]) -> int | None:
    """Write the row. A call that changed nothing is recorded for its key only: its repeat does nothing either."""
    actor, entries = recorder.actor, recorder.entries()
    if not entries and actor.idempotency_key is None:
        return None
    values = {
        "at": recorder.now,
        "user_id": actor.user_id,
        "method": actor.principal.method,
        "key_name": actor.principal.key_name,
        "tool": actor.tool,
        "run_id": actor.run_id,
        "idempotency_key": actor.idempotency_key,
        "arguments_digest": digest,
        "action": action,
        "summary": recorder.message.en if recorder.message else "",
        "message": recorder.message.to_json() if recorder.message else None,
        "item_id": recorder.item_id,
        "entries": entries,
        "result": result,
        "approved_by": actor.approved_by,
        "approved_key": actor.approved_key,
        "tool_call_id": actor.tool_call_id,
        "approval_id": actor.approval_id,
        "grant_id": actor.grant_id,
        "undoes": recorder.undoes,
    }
    await asyncio.sleep(0)  # a large change's items took a while to gather, and take one to write down
    change_id = await recorder.session.run_sync(_insert, values, sorted(touched_items(entries)))
    for notify in recorder.on_recorded:
        notify(change_id)
    return change_id


def _insert(session: Session, values: dict[str, Any], touched: list[str]) -> int:
    connection = session.connection()
    change_id: int = connection.execute(_ADD_CHANGE, values).scalar_one()
    for start in range(0, len(touched), ITEMS_AT_ONCE):
        items = [{"change_id": change_id, "item_id": item} for item in touched[start : start + ITEMS_AT_ONCE]]
        connection.execute(_ADD_ITEMS, items)
    return change_id


def _digest(actor: Actor, action: str, arguments: Mapping[str, Any]) -> str:
    for attribute, limit in LIMITS.items():
        _check_mark(attribute, getattr(actor, attribute) or "", limit)
    canonical = json.dumps({"action": action, "arguments": dict(arguments)}, sort_keys=True)
    return sha256(canonical.encode()).hexdigest()


def _check_mark(attribute: str, value: str, limit: int) -> None:
    if len(value) > limit or not value.isprintable():
        raise InvalidInputError(
            f"The call's {attribute} is too long or not printable.", hint=f"Use at most {limit} printable characters."
        )
