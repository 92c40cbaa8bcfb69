"""Visits by link: validity, password, and the visitor's rights."""

import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Final

from sqlalchemy import or_, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Principal, Role, Scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import ForbiddenError, NotFoundError
from drive_server.kernel.sql.database import Database
from drive_server.services.sharing.link_downloads import Fetch, LinkDownloads
from drive_server.services.sharing.link_passwords import LinkPasswords, wrong_password
from drive_server.services.sharing.links import PURPOSE
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.sharing import LinkRow

METHOD: Final = "link"
TOOL: Final = "link"
PASS_PURPOSE: Final = "link pass"  # noqa: S105 - the purpose it is signed for
PASS_LASTS: Final = timedelta(hours=1)
_PASS: Final = struct.Struct(">16sQ8s")


@dataclass(frozen=True, slots=True)
class Visit:
    """One request by a link that holds: its item, its role, and the call as the services take it.

    `is_limited`: the link ends after a number of downloads.
    """

    link_id: str
    node_id: str
    role: Role
    has_password: bool
    is_limited: bool
    actor: Actor

    def require_editor(self) -> None:
        """Raise `ForbiddenError` for a link by which one may only read."""
        if self.role < Role.EDITOR:
            raise ForbiddenError(
                "This link is for reading only.", hint="Ask whoever gave you the link for one with the role editor."
            )


class LinkVisits:
    """Opens links. One that is unknown, revoked, expired or used up, or leads to the trash, is the same: not there."""

    def __init__(
        self, database: Database, passwords: LinkPasswords, downloads: LinkDownloads, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._passwords = passwords
        self._downloads = downloads
        self._clock = clock

    async def open(
        self, token: str, address: str, *, password: str | None = None, pass_token: str | None = None
    ) -> Visit:
        """Return a visit by the link of this token, from the address.

        Raises `NotFoundError` for one that is not there, `PasswordRequiredError` without the password or a pass for
        it, and `RateLimitError` after too many wrong passwords.
        """
        row = await self._find(token, address)
        if row.password_hash is not None and not self._is_pass(row, pass_token):
            if password is None:
                raise wrong_password()
            await self._passwords.check(row.id, row.password_hash, password, address)
        return _visit(row)

    async def pass_for(self, token: str, address: str, password: str) -> str:
        """Return a pass for a visitor who knows the password: it holds for an hour, until the password changes."""
        row = await self._find(token, address)
        if row.password_hash is None:
            return ""
        await self._passwords.check(row.id, row.password_hash, password, address)
        ends = int((self._clock() + PASS_LASTS).timestamp())
        return self._database.signer.sign(PASS_PURPOSE, _PASS.pack(bytes.fromhex(row.id), ends, _mark(row)))

    async def count(self, fetch: Fetch) -> None:
        """Count a download unless the fetch belongs to one that was counted. Raises `NotFoundError` if none is left."""

        async def count_link(session: AsyncSession) -> None:
            has_room = or_(LinkRow.max_downloads.is_(None), LinkRow.downloads < LinkRow.max_downloads)
            counted = (
                update(LinkRow).where(LinkRow.id == fetch.link_id, has_room).values(downloads=LinkRow.downloads + 1)
            )
            if not await session.scalar(counted.returning(LinkRow.id)):
                raise no_such_link()

        await self._downloads.count(self._database, fetch, count_link)

    def metered(self, fetch: Fetch, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the chunks of a counted download on, and remember the bytes not sent."""
        return self._downloads.metered(fetch, chunks)

    async def _find(self, token: str, address: str) -> LinkRow:
        payload = self._database.signer.verify(PURPOSE, token)
        if payload is None:
            raise no_such_link()
        async with self._database.read() as session:
            row = await session.get(LinkRow, payload.hex())
            node = await session.get(NodeRow, row.node_id) if row else None
        if row is None or node is None or node.trash_id is not None:
            raise no_such_link()
        if row.expires_at is not None and row.expires_at <= self._clock():
            raise no_such_link()
        is_used_up = row.max_downloads is not None and row.downloads >= row.max_downloads
        if is_used_up and not await self._downloads.has_begun(row.id, address):
            raise no_such_link()
        return row

    def _is_pass(self, row: LinkRow, pass_token: str | None) -> bool:
        payload = self._database.signer.verify(PASS_PURPOSE, pass_token) if pass_token else None
        if payload is None:
            return False
        link_id, ends, mark = _PASS.unpack(payload)
        return link_id.hex() == row.id and mark == _mark(row) and ends > self._clock().timestamp()


def no_such_link() -> NotFoundError:
    """Return the error for every link that leads nowhere."""
    return NotFoundError("There is no such link.", hint="Ask whoever gave you the link for a new one.")


def _mark(row: LinkRow) -> bytes:
    return sha256((row.password_hash or "").encode()).digest()[:8]


def _visit(row: LinkRow) -> Visit:
    role = Role(row.role)
    scopes = frozenset({Scope.READ, Scope.WRITE} if role >= Role.EDITOR else {Scope.READ})
    principal = Principal(
        user_id=row.created_by,
        email="",  # a visitor does not learn whose link it is
        scopes=scopes,
        method=METHOD,
        key_name=f"link {row.id[:8]}",
        link_id=row.id,
    )
    is_limited = row.max_downloads is not None
    return Visit(row.id, row.node_id, role, row.password_hash is not None, is_limited, Actor(principal, tool=TOOL))
