"""Every change goes through here: done once per key, recorded in its transaction, shown before, taken back after."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Actor, Role, Scope, require_scope
from drive_server.errors import IdempotencyConflictError, InvalidInputError
from drive_server.models import Change, Effect, Outcome, Page, UndoResult
from drive_server.services.changes import as_seen_by, to_change
from drive_server.services.effects import unified_diff_of
from drive_server.services.items import checked_limit, decode_cursor, encode_cursor
from drive_server.services.nodes import locate
from drive_server.services.results import decode_result, encode_result
from drive_server.services.undo import Undoing, select_changes
from drive_server.services.writing import MAX_EFFECT_ITEMS, Writing, touched_items
from drive_server.storage.blobs import BlobStore
from drive_server.storage.database import Database
from drive_server.storage.tables import ChangeItemRow, ChangeRow, UserRow

T = TypeVar("T")
Operation = Callable[[Writing], Awaitable[T]]

LIMITS = {"tool": 64, "run_id": 64, "idempotency_key": 255, "approved_by": 320}


def _now() -> datetime:
    return datetime.now(UTC)


def _nobody_listens() -> None:
    """Stand in until the composition says who wakes on a change of content."""


class Journal:
    """Runs operations exactly once, records them, and takes them back.

    `on_content_change` is called after every commit that changed what the index should hold.
    """

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        *,
        on_content_change: Callable[[], None] = _nobody_listens,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self.on_content_change = on_content_change
        self._clock = clock

    async def change(
        self, actor: Actor, action: str, arguments: Mapping[str, Any], operation: Operation[T]
    ) -> Outcome[T]:
        """Run the operation in one write transaction and record it there.

        A known idempotency key returns what was recorded and runs nothing; the same key with another action or other
        arguments raises `IdempotencyConflictError`. For a dry run everything is rolled back and the effect returned.
        `arguments` are JSON and tell one call from another: put a digest there, not a content.
        """
        digest = _digest(actor, action, arguments)
        async with self._database.write() as session:
            known = None if actor.dry_run else await _replay(session, actor, digest)
            if known:
                return known
            writing = Writing(session, actor, self._clock())
            value = await operation(writing)
            await session.flush()
            entries = writing.entries()
            if actor.dry_run:
                await session.rollback()
                change_id = None
            else:
                change_id = await _record(writing, action, digest, entries, encode_result(value))
        if actor.dry_run:
            return Outcome(value, effect=await self._effect(writing, bool(entries)))
        if writing.wakes_index:
            self.on_content_change()
        return Outcome(value, change_id)

    async def recorded(self, actor: Actor, action: str, arguments: Mapping[str, Any]) -> Outcome[Any] | None:
        """Return the outcome of this very call if it was made before; for operations that read before they write."""
        digest = _digest(actor, action, arguments)
        if actor.dry_run or actor.idempotency_key is None:
            return None
        async with self._database.read() as session:
            return await _replay(session, actor, digest)

    async def list_changes(
        self,
        actor: Actor,
        *,
        item: str | None = None,
        run_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Change]:
        """Return changes, newest first: the caller's own, or with `item` those of everyone to that item.

        Who only views an item sees no changes of others to it; who edits it sees them without other items' names.
        """
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        before = decode_cursor(cursor, int)[0] if cursor else None
        async with self._database.read() as session:
            located = await locate(session, actor.principal, item) if item is not None else None
            query = select(ChangeRow, UserRow.email).join(UserRow, UserRow.id == ChangeRow.user_id)
            if located:
                touching = select(ChangeItemRow.change_id).where(ChangeItemRow.item_id == located.id)
                query = query.where(ChangeRow.id.in_(touching))
            if located is None or located.role < Role.EDITOR:
                query = query.where(ChangeRow.user_id == actor.user_id)
            if run_id is not None:
                query = query.where(ChangeRow.run_id == run_id)
            if before is not None:
                query = query.where(ChangeRow.id < before)
            rows = (await session.execute(query.order_by(ChangeRow.id.desc()).limit(size + 1))).all()
        changes = [to_change(row, email) for row, email in rows[:size]]
        seen = [as_seen_by(actor.principal, change, located) if located else change for change in changes]
        return Page(tuple(seen), encode_cursor(changes[-1].id) if len(rows) > size else None)

    async def undo(
        self, actor: Actor, *, run_id: str | None = None, change_id: int | None = None, preview: bool = False
    ) -> Outcome[UndoResult]:
        """Take back a run or a change of the caller; without either, what they did last.

        What was changed since stays, and `skipped` says why. The undo is one change that can itself be undone.
        Raises `NotFoundError` for changes that are not the caller's and `StateConflictError` if all is undone already.
        """
        require_scope(actor.principal, Scope.READ if preview else Scope.WRITE)
        acting = replace(actor, dry_run=actor.dry_run or preview)

        async def operation(writing: Writing) -> UndoResult:
            changes = await select_changes(writing.session, acting, run_id, change_id)
            undoing = Undoing(writing, check_scopes=not preview)
            await undoing.take_back(changes)
            return undoing.result(acting.principal.email, preview=acting.dry_run)

        outcome = await self.change(acting, "undo", {"run_id": run_id, "change_id": change_id}, operation)
        undone = tuple(replace(change, undone_by=outcome.change_id) for change in outcome.value.undone)
        return replace(outcome, value=replace(outcome.value, undone=undone, change_id=outcome.change_id))

    async def _effect(self, writing: Writing, changes: bool) -> Effect:
        return Effect(
            summary=writing.effect_summary or writing.summary,
            count=writing.count if changes else 0,
            items=tuple(writing.items[:MAX_EFFECT_ITEMS]),
            diff=await unified_diff_of(self._blobs, writing.contents),
            gains_access=tuple(writing.gains_access),
            loses_access=tuple(writing.loses_access),
            reversible=writing.reversible,
            etag=writing.etag,
        )


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
        raise IdempotencyConflictError(
            "This idempotency key was used for another call.", hint="Use a new key for a new call."
        )
    return Outcome(decode_result(row.result), row.id, replayed=True)


async def _record(
    writing: Writing, action: str, digest: str, entries: list[dict[str, Any]], result: dict[str, Any]
) -> int | None:
    """Write the row. A call that changed nothing is recorded for its key only: its repeat does nothing either."""
    actor = writing.actor
    if not entries and actor.idempotency_key is None:
        return None
    row = ChangeRow(
        at=writing.now,
        user_id=actor.user_id,
        method=actor.principal.method,
        key_name=actor.principal.key_name,
        tool=actor.tool,
        run_id=actor.run_id,
        idempotency_key=actor.idempotency_key,
        arguments_digest=digest,
        action=action,
        summary=writing.summary,
        item_id=writing.item_id,
        entries=entries,
        result=result,
        approved_by=actor.approved_by,
        undoes=writing.undoes,
    )
    writing.session.add(row)
    await writing.session.flush()
    writing.session.add_all(ChangeItemRow(change_id=row.id, item_id=item) for item in sorted(touched_items(entries)))
    for notify in writing.on_recorded:
        notify(row.id)
    return row.id


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
