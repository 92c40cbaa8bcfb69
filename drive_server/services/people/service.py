"""Accounts: listed, made administrators or not, disabled and enabled, removed; and people's profiles."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import anyio
from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Scope, require_admin, require_person, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    StateConflictError,
    StorageFailureError,
)
from drive_server.kernel.messages import LANGUAGES, Message
from drive_server.kernel.moments import zone_of
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.security import record
from drive_server.models.access import User
from drive_server.services.identity.service import LOCAL_EMAIL, named_user, to_user
from drive_server.services.identity.sessions import SESSION_METHOD
from drive_server.services.people.removal import delete_files, forget_person, hand_over
from drive_server.services.tasks import WORKING
from drive_server.storage.tables.people import ApiKeyRow, UserRow
from drive_server.storage.tables.work import TaskRow

if TYPE_CHECKING:
    from drive_server.services.identity.service import IdentityService
    from drive_server.services.journal.recorder import Recorder
    from drive_server.services.journal.service import Journal

logger = logging.getLogger(__name__)

REMOVE = "remove_person"
MAX_NAME_CHARACTERS = 100
POLL_SECONDS: Final = 1.0
Ended = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """New values of a profile; None leaves one as it is, an empty text takes it away."""

    name: str | None = None
    time_zone: str | None = None
    language: str | None = None


class PeopleService:
    """Manages accounts. Callbacks added by `when_ended` hear of each person who was disabled or removed."""

    def __init__(
        self, database: Database, identity: "IdentityService", journal: "Journal", clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._identity = identity
        self._journal = journal
        self._clock = clock
        self._on_ended: list[Ended] = []
        self._told: dict[str, tuple[Any, ...]] = {}
        self._has_new_listener = False
        self._telling = anyio.Lock()
        journal.register(REMOVE, "trash")

    async def list(self, actor: Actor) -> tuple[User, ...]:
        """Return everybody with an account, by email. Only for administrators.

        Raises `ForbiddenError`, `MissingScopeError` without `read`.
        """
        if not actor.principal.is_admin:
            raise ForbiddenError(Message.of("administrators_only"))
        require_scope(actor.principal, Scope.READ)
        query = select(UserRow).where(UserRow.removed_at.is_(None)).order_by(UserRow.email)

        async def work(session: AsyncSession) -> tuple[User, ...]:
            return tuple(to_user(row) for row in await session.scalars(query))

        return await self._database.look(work)

    async def change_profile(self, actor: Actor, change: ProfileChange) -> User:
        """Set the caller's profile. Raises `InvalidInputError`, `MissingScopeError` without `write`."""
        require_person(actor.principal)
        require_scope(actor.principal, Scope.WRITE)
        values = _checked(change)

        async def work(session: AsyncSession) -> UserRow:
            row = await session.get_one(UserRow, actor.user_id)
            for name, value in values.items():
                setattr(row, name, value)
            return row

        row = await self._database.change(work)
        return to_user(row)

    async def change(
        self, actor: Actor, user: str, *, is_admin: bool | None = None, is_disabled: bool | None = None
    ) -> User:
        """Make a person, named by id or email, an administrator or not, and disable or enable them.

        A disabled person has no session any more, and their keys count for nothing until they are enabled again. Only
        for administrators; who makes one proves anew who they are. Raises `NotFoundError`, `FreshProofNeededError`, and
        `StateConflictError` for the last administrator.
        """
        require_admin(actor.principal)
        if is_admin:
            self._identity.require_fresh(actor.principal)

        async def work(session: AsyncSession) -> tuple[User, UserRow]:
            row = await _find(session, user)
            loses = is_admin is False or is_disabled is True
            if loses:
                await _require_another_admin(session, row)
            row.is_admin = row.is_admin if is_admin is None else is_admin
            if is_disabled is not None:
                row.disabled_at = (row.disabled_at or self._clock()) if is_disabled else None
            if is_disabled:
                await _end_work(session, row.id)
            changed = to_user(row)
            return changed, row

        changed, row = await self._database.change(work)
        made = {"admin": is_admin, "disabled": is_disabled}
        told = {name: str(value).lower() for name, value in made.items() if value is not None}
        record("account", "changed", actor=actor.user_id, person=row.id, **told)
        if is_disabled:
            await self._tell_again(row.id)
        return changed

    async def remove(
        self, actor: Actor, user: str, *, hand_over_to: str | None = None, deletes_files: bool = False
    ) -> None:
        """Remove a person, named by id or email; their files go to another one, or are deleted for good.

        Their keys, sessions, sign-ins, links and shares, given and received, end with it. The journal keeps their
        changes, without their address. All of it is one transaction, and doing it again does nothing. Only for
        administrators. Raises `NotFoundError`, `StateConflictError` for the last administrator and the local owner,
        `QuotaExceededError` if the other has no room, `InvalidInputError` unless exactly one of both is chosen.
        """
        require_admin(actor.principal)
        if deletes_files == (hand_over_to is not None):
            raise InvalidInputError(Message.of("removal_choice"))
        # A removal has no key of the caller's: it is known by whom it removes.
        acting = replace(actor, idempotency_key=None)
        ended: list[str] = []

        async def operation(recorder: "Recorder") -> User:
            row = await _find(recorder.session, user, removed=True)
            ended.append(row.id)
            if row.removed_at is None:
                await self._remove(recorder, row, hand_over_to)
            return to_user(row)

        await self._journal.change(acting, REMOVE, {"user": user}, operation)
        record("account", "removed", actor=actor.user_id, person=ended[0])
        await self._tell_again(ended[0])

    async def removed_ids(self) -> frozenset[str]:
        """Return the ids of all who were removed, so that others can finish a removal that a crash interrupted."""

        async def work(session: AsyncSession) -> frozenset[str]:
            return frozenset(await session.scalars(select(UserRow.id).where(UserRow.removed_at.is_not(None))))

        return await self._database.look(work)

    def when_ended(self, tell: Ended) -> None:
        """Call `tell` with the id of each person who is disabled or removed, by this process or, with `watch`, another.

        Those who were so before are among them.
        """
        self._on_ended.append(tell)
        self._told.clear()
        self._has_new_listener = True

    async def watch(self) -> None:
        """Tell of people whom other processes disable or remove, within a second, until cancelled."""
        while True:
            try:
                state, self._has_new_listener = await self._database.state(), False
                if self._on_ended:
                    await self._tell_new()
                await self._database.until_changed(state, lambda: self._has_new_listener)
            except StorageFailureError:
                logger.warning("Accounts can't be looked at; what ends with one is tried again.")
                await anyio.sleep(POLL_SECONDS)

    async def _remove(self, recorder: "Recorder", row: UserRow, hand_over_to: str | None) -> None:
        session = recorder.session
        if row.email == LOCAL_EMAIL:
            raise StateConflictError(Message.of("local_owner_stays"))
        await _require_another_admin(session, row)
        if hand_over_to is None:
            recorder.describe(REMOVE)
            await forget_person(recorder, row)
            await delete_files(recorder, row)
        else:
            heir = await _find(session, hand_over_to)
            if heir.id == row.id or heir.disabled_at is not None:
                raise InvalidInputError(Message.of("no_heir"))
            recorder.describe("hand_over", email=heir.email)
            await forget_person(recorder, row)
            await hand_over(recorder, row, heir)

    async def _tell_again(self, user_id: str) -> None:
        self._told.pop(user_id, None)
        await self._tell_new()

    async def _tell_new(self) -> None:
        """Tell of everybody who is disabled or removed, once for each time."""
        has_ended = or_(UserRow.disabled_at.is_not(None), UserRow.removed_at.is_not(None))
        query = select(UserRow.id, UserRow.disabled_at, UserRow.removed_at).where(has_ended)
        async with self._telling:
            rows = await self._database.read_sync(lambda connection: connection.execute(query).all())
            found = {row.id: (row.disabled_at, row.removed_at) for row in rows}
            new = [user_id for user_id, ended in found.items() if self._told.get(user_id) != ended]
            self._told = found
            for user_id in new:
                await self._tell(user_id)

    async def _tell(self, user_id: str) -> None:
        for tell in tuple(self._on_ended):
            try:
                await tell(user_id)
            except Exception:
                logger.exception("What goes with the account %s is not all gone; it is tried again later.", user_id)


def _checked(change: ProfileChange) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if change.name is not None:
        values["name"] = " ".join(change.name.split())
        if len(values["name"]) > MAX_NAME_CHARACTERS or not values["name"].isprintable():
            raise InvalidInputError(Message.of("bad_person_name", limit=MAX_NAME_CHARACTERS))
    if change.time_zone is not None:
        if change.time_zone and zone_of(change.time_zone) is None:
            raise InvalidInputError(Message.of("bad_time_zone"))
        values["time_zone"] = change.time_zone
    if change.language is not None:
        if change.language not in ("", *LANGUAGES):
            raise InvalidInputError(Message.of("bad_language"))
        values["language"] = change.language
    return values


async def _find(session: AsyncSession, user: str, *, removed: bool = False) -> UserRow:
    """Return the account; the lock makes changes of it follow one another."""
    condition = named_user(user)
    living = () if removed else (UserRow.removed_at.is_(None),)
    row = await session.scalar(select(UserRow).where(condition, *living).with_for_update())
    if row is None:
        raise NotFoundError(Message.of("no_user"))
    return row


async def _require_another_admin(session: AsyncSession, row: UserRow) -> None:
    """Raise `StateConflictError` if the drive would have no administrator who can sign in."""
    able = UserRow.is_admin.is_(True), UserRow.disabled_at.is_(None), UserRow.removed_at.is_(None)
    others = select(func.count()).select_from(UserRow).where(*able, UserRow.id != row.id)
    is_able = row.is_admin and row.disabled_at is None
    if is_able and not await session.scalar(others):
        raise StateConflictError(Message.of("last_administrator"))


async def _end_work(session: AsyncSession, user_id: str) -> None:
    """End the person's browser sessions and running tasks; the keys stay, and count for nothing meanwhile."""
    sessions = ApiKeyRow.user_id == user_id, ApiKeyRow.method == SESSION_METHOD
    await session.execute(delete(ApiKeyRow).where(*sessions))
    working = TaskRow.user_id == user_id, TaskRow.status == WORKING
    await session.execute(update(TaskRow).where(*working).values(cancel_requested=True))
