"""People and groups that a person may name when they share: those they have to do with already, and no others."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from sqlalchemy import ColumnElement, Select, case, or_, select, true

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.services.tree.grantees import GROUP, granted_to, name_key
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import GroupMemberRow, GroupRow, UserRow
from drive_server.storage.tables.sharing import ShareRow

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.sql.database import Database

MAX_CONTACTS: Final = 100


@dataclass(frozen=True, slots=True)
class Contact:
    """A person or group to share with: `address` is a person's email, or a group's as `group:NAME`."""

    kind: Literal["person", "group"]
    address: str
    name: str


class ContactService:
    """Finds contacts. It discloses nobody's account: who was only shared with is told as the caller wrote them."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    async def find(self, actor: Actor, words: str = "", limit: int = 20) -> tuple[Contact, ...]:
        """Return the people and groups with these words in the name or address, those that begin with them first.

        People are those the caller shares something with, those who share with the caller, and members of the caller's
        groups; for administrators everybody with an account. Groups are all groups.
        """
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        sought = " ".join(words.split())
        async with self._database.read() as session:
            people = await _people(session, actor, sought, limit)
            groups = await _groups(session, sought, limit)
        key = sought.casefold()

        def order(one: Contact) -> tuple[bool, str]:
            begins = any(text.casefold().startswith(key) for text in (one.name, one.address.removeprefix(GROUP)))
            return not begins, (one.name or one.address).casefold()

        return tuple(sorted([*people, *groups], key=order)[:limit])


async def _people(session: "AsyncSession", actor: Actor, sought: str, limit: int) -> list[Contact]:
    is_known = true() if actor.principal.is_admin else UserRow.id.in_(_sharing_with(actor).union(_colleagues(actor)))
    key = sought.casefold()
    is_sought = or_(UserRow.email.contains(key, autoescape=True), UserRow.name.icontains(sought, autoescape=True))
    begins = or_(UserRow.email.startswith(key, autoescape=True), UserRow.name.istartswith(sought, autoescape=True))
    known = (
        select(UserRow.email, UserRow.name)
        .where(is_known, is_sought, UserRow.id != actor.user_id, UserRow.removed_at.is_(None))
        .order_by(_first(begins), UserRow.email)
        .limit(limit)
    )
    given = (
        select(ShareRow.email)
        .join(NodeRow, NodeRow.id == ShareRow.node_id)
        .where(NodeRow.owner_id == actor.user_id, ~ShareRow.email.startswith(GROUP))
        .where(ShareRow.email.contains(key, autoescape=True))
        .group_by(ShareRow.email)
        .order_by(_first(ShareRow.email.startswith(key, autoescape=True)), ShareRow.email)
        .limit(limit)
    )
    names = dict.fromkeys(await session.scalars(given), "")
    names |= {row.email: row.name for row in await session.execute(known)}
    return [Contact("person", email, name) for email, name in names.items()]


async def _groups(session: "AsyncSession", sought: str, limit: int) -> list[Contact]:
    key, column = name_key(sought), GroupRow.name_key
    query = select(GroupRow.name).where(column.contains(key, autoescape=True))
    begins = column.startswith(key, autoescape=True)
    names = await session.scalars(query.order_by(_first(begins), column).limit(limit))
    return [Contact("group", GROUP + name, name) for name in names]


def _sharing_with(actor: Actor) -> Select[str]:
    """Return the query for the owners of items that are shared with the caller and not in the trash."""
    return (
        select(NodeRow.owner_id)
        .join(ShareRow, ShareRow.node_id == NodeRow.id)
        .where(granted_to(actor.principal.email), NodeRow.trash_id.is_(None))
    )


def _colleagues(actor: Actor) -> Select[str]:
    mine = select(GroupMemberRow.group_id).where(GroupMemberRow.user_id == actor.user_id)
    return select(GroupMemberRow.user_id).where(GroupMemberRow.group_id.in_(mine))


def _first(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 0), else_=1)
