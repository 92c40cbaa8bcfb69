"""Notices: items that others shared with a person, people who left the person's shares; in the drive, and by mail.

Also deletions for good by a program of theirs that did not ask.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Principal, Role, Scope, require_person, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.context import public_address
from drive_server.kernel.messages import Message
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.shared_poll import SharedPoll, Watch
from drive_server.models.base import Page
from drive_server.models.items import Item
from drive_server.services.journal.changes import summary_of
from drive_server.services.journal.unasked import CHANGE
from drive_server.services.mail.outbox import MailText, Outbox
from drive_server.services.tree.grantees import GROUP, Grantee, is_group
from drive_server.services.tree.items import checked_limit, describe_all
from drive_server.services.tree.nodes import BATCH, NodeView, item_message, locate_many, shared_ids
from drive_server.storage.journal_numbers import Numbers, read_numbers
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.people import GroupMemberRow, UserRow
from drive_server.storage.tables.sharing import NoticeRow, ShareRow

if TYPE_CHECKING:
    from drive_server.kernel.sql.database import Database
    from drive_server.services.journal.recorder import Recorder

SHARE: Final = "share"
LEFT: Final = "left"
DELETED: Final = "deleted"
NoticeKind = Literal["share", "left", "deleted"]
POLL_SECONDS: Final = 2.0
_UNREAD: Final = (
    select(NoticeRow.email, NoticeRow.id)
    .where(NoticeRow.email.in_(bindparam("emails", expanding=True)), NoticeRow.read_at.is_(None))
    .order_by(NoticeRow.id)
)


@dataclass(frozen=True, slots=True)
class Notice:
    """An item as it is now: `by` (an email) shared it with the caller, or has left it, if it is the caller's own.

    Without an item: the summary of a change.
    """

    id: int
    by: str
    item: Item | None
    created_at: datetime
    read_at: datetime | None
    change: Message | str = ""

    @property
    def kind(self) -> NoticeKind:
        """Return its kind: nobody can share an item with its owner."""
        if self.item is None:
            return DELETED
        return LEFT if self.item.role == Role.OWNER.label else SHARE

    @property
    def message(self) -> Message | str:
        """The notice as a sentence."""
        if self.item is None:
            return self.change
        role, item = Message.of(f"role.{self.item.role}"), item_message(self.item.name)
        if self.kind == LEFT:
            return Message.of("notice.left", by=self.by, item=item)
        return Message.of("notice.share", by=self.by, item=item, role=role)


class NoticeService:
    """Notes new shares and people who leave them, and lists both for those concerned as long as they hold.

    `polls` reads for those who watch.
    """

    def __init__(self, database: "Database", outbox: Outbox, public_url: str, clock: Clock = utc_now) -> None:
        self._database = database
        self._outbox = outbox
        self._public_url = public_url
        self._clock = clock
        self._people: dict[str, Principal] = {}
        self._counted: dict[str, tuple[Numbers, list[int], int]] = {}
        self.polls = SharedPoll[int](self._unread_of, POLL_SECONDS, 0)
        outbox.texts[SHARE] = self._mail_text
        outbox.texts[LEFT] = self._mail_of_leaving

    async def note(self, recorder: "Recorder", node: NodeView, grantee: Grantee) -> None:
        """Note, in the transaction of a new share, the person it is given to; those with an account get a mail."""
        session, now = recorder.session, recorder.now
        emails = [grantee.key]
        if is_group(grantee.key):
            members = select(UserRow.email).join(GroupMemberRow, GroupMemberRow.user_id == UserRow.id)
            emails = [*await session.scalars(members.where(GroupMemberRow.group_id == grantee.key[len(GROUP) :]))]
        for email in sorted({*emails} - {recorder.actor.principal.email}):
            await _put(recorder, email, node.id)
            user_id = await session.scalar(select(UserRow.id).where(UserRow.email == email))
            if user_id is not None:
                once = f"{SHARE} {node.id} {user_id} {now:%Y-%m-%d}"
                params = {"item": node.id, "by": recorder.actor.user_id}
                await self._outbox.put(session, user_id, SHARE, params, once)

    async def note_leaving(self, recorder: "Recorder", node: NodeView) -> None:
        """Note, in the transaction in which the caller leaves a share, for the owner of the item, who gets a mail."""
        owner_id, by = node.row.owner_id, recorder.actor.user_id
        email = await recorder.session.scalar(select(UserRow.email).where(UserRow.id == owner_id))
        if email is not None:
            await _put(recorder, email, node.id)
            once = f"{LEFT} {node.id} {by} {recorder.now:%Y-%m-%d}"
            await self._outbox.put(recorder.session, owner_id, LEFT, {"item": node.id, "by": by}, once)

    async def list(
        self, actor: Actor, *, unread: bool = False, limit: int = 100, cursor: str | None = None
    ) -> Page[Notice]:
        """Return the caller's notices, newest first, about items that they can see now."""
        principal = _reader(actor)
        size = checked_limit(limit)
        cursors = Cursors(self._database.signer, actor.user_id, "notices", str(unread))
        conditions = [*_of(principal), *([NoticeRow.read_at.is_(None)] if unread else [])]
        if cursor is not None:
            conditions.append(NoticeRow.id < cursors.decode(cursor, int)[0])
        query = select(NoticeRow, UserRow.email).join(UserRow, UserRow.id == NoticeRow.by_user).where(*conditions)
        async with self._database.read() as session:
            rows = (await session.execute(query.order_by(NoticeRow.id.desc()).limit(size + 1))).all()
            shown = rows[:size]
            nodes = await locate_many(session, principal, [row.node_id for row, _ in shown])
            items = {item.id: item for item in await describe_all(session, [*nodes.values()])}
            changes = await _changes(session, [row.node_id for row, _ in shown])
        notices = tuple(
            Notice(row.id, by, items.get(row.node_id), row.created_at, row.read_at, changes.get(row.node_id, ""))
            for row, by in shown
            if row.node_id in items or row.node_id in changes
        )
        return Page(notices, cursors.encode(shown[-1][0].id) if len(rows) > size else None)

    async def unread(self, actor: Actor) -> int:
        """Return how many notices the caller has not read."""
        return await self._database.look(lambda session: _count_unread(session, _reader(actor)))

    def watch(self, actor: Actor) -> "Watch[int]":
        """Watch how many notices the caller has not read."""
        person = _reader(actor)
        self._people[person.email] = person
        return self.polls.watch(person.email)

    async def _unread_of(self, emails: Collection[str]) -> dict[str, int]:
        """Return how many notices these people have not read: of all who have some, those about items they can see now.

        People are counted anew when their notices changed, or anything in the drive.
        """
        people, ids = sorted(emails), dict[str, list[int]]()
        async with self._database.read() as session:
            newest = await read_numbers(session)
            for start in range(0, len(people), BATCH):
                for email, number in await session.execute(_UNREAD, {"emails": people[start : start + BATCH]}):
                    ids.setdefault(email, []).append(number)
            counted: dict[str, tuple[Numbers, list[int], int]] = {}
            for email, numbers in ids.items():
                known = self._counted.get(email)
                if known is None or known[:2] != (newest, numbers):
                    known = newest, numbers, await _count_unread(session, self._people[email])
                counted[email] = known
        self._counted = counted
        return {email: count for email, (_, _, count) in counted.items()}

    async def mark_read(self, actor: Actor, ids: Sequence[int] | None = None) -> None:
        """Mark the caller's notices as read: these, or all. Ids of nobody's and of others' change nothing."""
        principal = _reader(actor)
        mine = [NoticeRow.email == principal.email, NoticeRow.read_at.is_(None)]
        if ids is not None:
            mine.append(NoticeRow.id.in_(ids))
        marked = update(NoticeRow).where(*mine).values(read_at=self._clock())
        await self._database.change(lambda session: session.execute(marked))
        self.polls.wake()

    async def _mail_text(self, user_id: str, params: Mapping[str, Any]) -> MailText | None:
        async with self._database.read() as session:
            user, by = await session.get_one(UserRow, user_id), await session.get_one(UserRow, params["by"])
            principal = Principal(user.id, user.email, frozenset({Scope.READ}), "in_process")
            node = (await locate_many(session, principal, [params["item"]])).get(params["item"])
        if node is None or node.row.trash_id:
            return None
        url = public_address(self._public_url)
        words = {"by": by.email, "item": node.subject, "role": node.role.title, "url": url}
        return MailText(Message.of("mail.share.subject", **words), Message.of("mail.share", **words), url)

    async def _mail_of_leaving(self, user_id: str, params: Mapping[str, Any]) -> MailText | None:
        async with self._database.read() as session:
            by = await session.get_one(UserRow, params["by"])
            node = await session.scalar(_left_behind(user_id, by.email).where(NodeRow.id == params["item"]))
        if node is None:
            return None
        url = public_address(self._public_url)
        words = {"by": by.email, "item": item_message(node.name), "url": url}
        return MailText(Message.of("mail.left.subject", **words), Message.of("mail.left", **words), url)


async def _put(recorder: "Recorder", email: str, node_id: str) -> None:
    """Put a notice of the caller's change, in the place of an earlier one of theirs about the same item."""
    by = recorder.actor.user_id
    own = NoticeRow.email == email, NoticeRow.node_id == node_id, NoticeRow.by_user == by
    row = await recorder.session.scalar(select(NoticeRow).where(*own))
    row = row or NoticeRow(email=email, node_id=node_id, by_user=by)
    row.created_at, row.read_at = recorder.now, None
    recorder.session.add(row)


def _left_behind(owner_id: str, by: Any) -> Select[NodeRow]:
    """Return the query for an owner's live items that the person with an email, `by`, has no share of."""
    shared = exists().where(ShareRow.node_id == NodeRow.id, ShareRow.email == by)
    return select(NodeRow).where(NodeRow.owner_id == owner_id, NodeRow.trash_id.is_(None), ~shared)


def _reader(actor: Actor) -> Principal:
    require_person(actor.principal)
    require_scope(actor.principal, Scope.READ)
    return actor.principal


async def _count_unread(session: AsyncSession, person: Principal) -> int:
    query = select(func.count()).select_from(NoticeRow).where(*_of(person), NoticeRow.read_at.is_(None))
    return await session.scalar(query) or 0


def _of(principal: Principal) -> tuple[ColumnElement[bool], ...]:
    leaver = select(UserRow.email).where(UserRow.id == NoticeRow.by_user).correlate(NoticeRow).scalar_subquery()
    left = _left_behind(principal.user_id, leaver).where(NodeRow.id == NoticeRow.node_id).correlate(NoticeRow).exists()
    is_told = or_(NoticeRow.node_id.in_(shared_ids(principal)), left, NoticeRow.node_id.startswith(CHANGE))
    return NoticeRow.email == principal.email, is_told


async def _changes(session: AsyncSession, about: Sequence[str]) -> dict[str, Message | str]:
    """Return the summaries of the changes that the notices are about."""
    ids = [int(one.removeprefix(CHANGE)) for one in about if one.startswith(CHANGE)]
    rows = await session.scalars(select(ChangeRow).where(ChangeRow.id.in_(ids))) if ids else ()
    return {f"{CHANGE}{row.id}": summary_of(row) for row in rows}
