"""One-time addresses that log a browser in, so that nobody pastes a lasting secret into one."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Principal, require_person
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.sql.database import Database
from drive_server.services.identity.keys import SECRET_BYTES, digest
from drive_server.services.identity.proofs.freshness import SESSION
from drive_server.storage.tables.people import LoginLinkRow

if TYPE_CHECKING:
    from drive_server.services.identity.service import IdentityService

PAGE: Final = "/login"
HOLDS_FOR: Final = timedelta(minutes=10)
MAX_OF_ONE_PERSON: Final = 10
_PRINCIPAL: Final = TypeAdapter(Principal)


@dataclass(frozen=True, slots=True)
class LoginLink:
    """An address that logs one browser in, once, before it expires."""

    url: str
    expires_at: datetime


class LoginLinks:
    """Makes and redeems them, for all processes of the drive; a row has the digest of the secret."""

    def __init__(
        self, database: Database, identity: "IdentityService", public_url: str, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._identity = identity
        self._public_url = public_url
        self._clock = clock

    async def create(self, principal: Principal) -> LoginLink:
        """Return a new link for the caller; of more than ten of one person, the oldest gives way."""
        require_person(principal)
        now = self._clock()
        secret, ends = token_urlsafe(SECRET_BYTES), min(now + HOLDS_FOR, principal.expires_at or now + HOLDS_FOR)
        proved_at = principal.proved_at if principal.method == SESSION else now
        row = LoginLinkRow(
            digest=digest(secret),
            user_id=principal.user_id,
            caller=_PRINCIPAL.dump_python(replace(principal, proved_at=proved_at), mode="json"),
            created_at=now,
            expires_at=ends,
        )

        async def work(session: AsyncSession) -> None:
            await session.execute(delete(LoginLinkRow).where(LoginLinkRow.expires_at <= now))
            own = select(LoginLinkRow.digest).where(LoginLinkRow.user_id == principal.user_id)
            newest = own.order_by(LoginLinkRow.created_at.desc())
            old = (await session.scalars(newest.offset(MAX_OF_ONE_PERSON - 1))).all()
            await session.execute(delete(LoginLinkRow).where(LoginLinkRow.digest.in_(old)))
            session.add(row)

        await self._database.change(work)
        return LoginLink(f"{public_address(self._public_url)}{PAGE}/{secret}", ends)

    async def find(self, secret: str) -> Principal:
        """Return the person whom a link logs in; it stays as it is. Raises `NotFoundError` if it holds no more."""
        return self._holder(await self._database.look(lambda session: session.get(LoginLinkRow, digest(secret))))

    async def redeem(self, secret: str) -> Principal:
        """Use a link up, and return the person it logs in, with no scope that the maker's key has lost since.

        Raises `NotFoundError` as `find` does, `UnauthenticatedError` if that key was revoked or its person disabled.
        """

        async def work(session: AsyncSession) -> LoginLinkRow | None:
            used = delete(LoginLinkRow).where(LoginLinkRow.digest == digest(secret))
            return await session.scalar(used.returning(LoginLinkRow))

        maker = self._holder(await self._database.change(work))
        if maker.key_id is None:
            await self._identity.principal_for(maker.user_id, [])
            return maker
        now = await self._identity.authenticate_key(maker.key_id)
        return replace(maker, scopes=maker.scopes & now.scopes)

    def _holder(self, row: LoginLinkRow | None) -> Principal:
        if row is None or row.expires_at <= self._clock():
            raise NotFoundError(
                "This address to log in was used, has expired, or never was.",
                hint="Print a new one with `drive-agent login-link`.",
            )
        return _PRINCIPAL.validate_python(row.caller)
