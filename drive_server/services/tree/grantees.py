"""Who a role is given to: a person by email, or a group; and which shares count for a person."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, String, literal, select, type_coerce, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.messages import Message
from drive_server.services.identity.emails import normalise_email
from drive_server.storage.tables.people import GroupMemberRow, GroupRow, UserRow
from drive_server.storage.tables.sharing import ShareRow

GROUP: Final = "group:"
"""The beginning of a group's address: its name follows for people, its id in the table of shares."""


@dataclass(frozen=True, slots=True)
class Grantee:
    """A holder of a role: as the table of shares names them, and as people do."""

    key: str
    shown: str


def granted_to(email: Any) -> ColumnElement[bool]:
    """Return the condition for the shares that count for a person: their own, and those of their groups."""
    groups = (
        select(literal(GROUP) + GroupMemberRow.group_id)
        .join(UserRow, UserRow.id == GroupMemberRow.user_id)
        .where(UserRow.email == email)
    )
    return ShareRow.email.in_(union_all(select(type_coerce(email, String)), groups))


def name_key(name: str) -> str:
    """Return a group's name as it is compared: without case, and with single spaces."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", " ".join(name.split())).casefold())


def normalise_grantee(raw: str) -> str:
    """Return an address in the form in which it is compared. Raises `InvalidInputError` for a malformed one."""
    text = raw.strip(" ")
    return f"{GROUP}{name_key(text[len(GROUP) :])}" if is_group(text) else normalise_email(raw)


def is_group(address: str) -> bool:
    """Return whether the address is a group's."""
    return address[: len(GROUP)].casefold() == GROUP


async def find_grantee(session: AsyncSession, address: str) -> Grantee:
    """Return the grantee of a normalised address. Raises `NotFoundError` for a group that does not exist."""
    if not is_group(address):
        return Grantee(address, address)
    group = await session.scalar(select(GroupRow).where(GroupRow.name_key == address[len(GROUP) :]))
    if group is None:
        raise NotFoundError(Message.of("no_group"))
    return Grantee(GROUP + group.id, GROUP + group.name)


async def shown_grantees(session: AsyncSession, keys: Iterable[str]) -> dict[str, str]:
    """Return the addresses of people and groups as people see them, by those in the table; no groups that are gone."""
    found = {key: key for key in keys if not is_group(key)}
    ids = [key[len(GROUP) :] for key in keys if is_group(key)]
    if ids:
        rows = await session.execute(select(GroupRow.id, GroupRow.name).where(GroupRow.id.in_(ids)))
        found |= {GROUP + row.id: GROUP + row.name for row in rows}
    return found


async def with_members(session: AsyncSession, people: Iterable[str]) -> frozenset[str]:
    """Return the people with the ids of the members in the place of groups."""
    people = frozenset(people)
    ids = [person[len(GROUP) :] for person in people if is_group(person)]
    if not ids:
        return people
    members = await session.scalars(select(GroupMemberRow.user_id).where(GroupMemberRow.group_id.in_(ids)))
    return frozenset({*(person for person in people if not is_group(person)), *members})
