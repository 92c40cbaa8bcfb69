"""Groups of people, which are given roles together; administrators make them and say who is in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Scope, require_admin, require_person, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import InvalidInputError, NameConflictError, NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.identity.emails import normalise_email
from drive_server.services.tree.grantees import GROUP, name_key
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import GroupMemberRow, GroupRow, UserRow
from drive_server.storage.tables.sharing import ShareRow

if TYPE_CHECKING:
    from drive_server.services.journal.recorder import Recorder
    from drive_server.services.journal.service import Journal

DELETE: Final = "delete_group"
MAX_GROUP_CHARACTERS: Final = 100
MAX_MEMBERS_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Group:
    """A group. `members` are emails, for administrators; `is_member` says whether the caller is one."""

    id: str
    name: str
    is_member: bool
    members: tuple[str, ...] | None


class GroupService:
    """Manages groups. A new member has its roles at once, and one taken out has them no more."""

    def __init__(self, database: Database, journal: "Journal", clock: Clock = utc_now) -> None:
        self._database = database
        self._journal = journal
        self._clock = clock
        journal.register(DELETE, "share")

    async def list(self, actor: Actor) -> tuple[Group, ...]:
        """Return all groups by name: everybody may share with them, and administrators see who is in them."""
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)

        async def work(session: AsyncSession) -> tuple[Group, ...]:
            rows = (await session.scalars(select(GroupRow).order_by(GroupRow.name_key))).all()
            return await _described(session, actor, rows)

        return await self._database.look(work)

    async def create(self, actor: Actor, name: str, members: Iterable[str] = ()) -> Group:
        """Make a group of people with an account, named by email. Only for administrators.

        Raises `InvalidInputError` for a name that can't be used, `NameConflictError` for one that another group has,
        and `NotFoundError` for a person without an account.
        """
        require_admin(actor.principal)
        clean, now = _checked(name), self._clock()

        async def work(session: AsyncSession) -> Group:
            await _require_free(session, clean)
            row = GroupRow(id=new_id(), name=clean, name_key=name_key(clean), created_at=now)
            session.add(row)
            await session.flush()
            await _put_in(session, row, members)
            return (await _described(session, actor, [row]))[0]

        return await self._database.change(work)

    async def change(
        self, actor: Actor, group: str, name: str | None = None, add: Iterable[str] = (), remove: Iterable[str] = ()
    ) -> Group:
        """Rename a group, named by id or name, and change who is in it. Raises as `create` does."""
        require_admin(actor.principal)

        async def work(session: AsyncSession) -> Group:
            row = await _find(session, group)
            if name is not None:
                clean = _checked(name)
                await _require_free(session, clean, but=row.id)
                row.name, row.name_key = clean, name_key(clean)
            await _put_in(session, row, add)
            gone = select(UserRow.id).where(UserRow.email.in_([normalise_email(email) for email in remove]))
            leaving = GroupMemberRow.group_id == row.id, GroupMemberRow.user_id.in_(gone)
            await session.execute(delete(GroupMemberRow).where(*leaving))
            return (await _described(session, actor, [row]))[0]

        return await self._database.change(work)

    async def delete(self, actor: Actor, group: str) -> None:
        """Delete a group, named by id or name, with all roles that it was given. Only for administrators."""
        require_admin(actor.principal)

        async def operation(recorder: "Recorder") -> None:
            session = recorder.session
            row = await _find(session, group)
            recorder.describe(DELETE)
            recorder.reversible = False
            for share in (await session.scalars(select(ShareRow).where(ShareRow.email == GROUP + row.id))).all():
                await recorder.remove(share)
            recorder.note("groups", row.id, {"name": row.name}, None)
            await session.execute(delete(GroupMemberRow).where(GroupMemberRow.group_id == row.id))
            await session.delete(row)

        await self._journal.change(actor, DELETE, {"group": group}, operation)


async def _described(session: AsyncSession, actor: Actor, rows: Sequence[GroupRow]) -> tuple[Group, ...]:
    query = (
        select(GroupMemberRow.group_id, UserRow.id, UserRow.email)
        .join(UserRow, UserRow.id == GroupMemberRow.user_id)
        .where(GroupMemberRow.group_id.in_([row.id for row in rows]))
        .order_by(UserRow.email)
    )
    members: dict[str, list[tuple[str, str]]] = {row.id: [] for row in rows}
    for group_id, user_id, email in await session.execute(query):
        members[group_id].append((user_id, email))
    shows = actor.principal.is_admin
    return tuple(
        Group(
            row.id,
            row.name,
            any(user_id == actor.user_id for user_id, _ in members[row.id]),
            tuple(email for _, email in members[row.id]) if shows else None,
        )
        for row in rows
    )


async def _find(session: AsyncSession, group: str) -> GroupRow:
    row = await session.get(GroupRow, group)
    row = row or await session.scalar(select(GroupRow).where(GroupRow.name_key == name_key(group)))
    if row is None:
        raise NotFoundError(Message.of("no_group"))
    return row


async def _require_free(session: AsyncSession, name: str, but: str = "") -> None:
    taken = select(GroupRow.id).where(GroupRow.name_key == name_key(name), GroupRow.id != but)
    if await session.scalar(taken):
        raise NameConflictError(Message.of("group_name_taken"))


async def _put_in(session: AsyncSession, row: GroupRow, emails: Iterable[str]) -> None:
    wanted = {normalise_email(email) for email in emails}
    living = select(UserRow.id).where(UserRow.email.in_(wanted), UserRow.removed_at.is_(None))
    found = set(await session.scalars(living))
    if len(found) < len(wanted):
        raise NotFoundError(Message.of("no_user"))
    there = set(await session.scalars(select(GroupMemberRow.user_id).where(GroupMemberRow.group_id == row.id)))
    session.add_all([GroupMemberRow(group_id=row.id, user_id=user_id) for user_id in found - there])
    await session.flush()


def _checked(name: str) -> str:
    clean = " ".join(name.split())
    is_plain = clean.isprintable() and not {"/", "@"} & {*clean}
    if not 0 < len(clean) <= MAX_GROUP_CHARACTERS or not is_plain:
        raise InvalidInputError(Message.of("bad_group_name", limit=MAX_GROUP_CHARACTERS))
    return clean
