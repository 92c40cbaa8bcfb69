"""Browser sessions: opened, listed, ended. A session is a key of its own kind, whose secret is a cookie."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Principal, require_person
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.security import record
from drive_server.services.identity.keys import (
    KEY_ID,
    SECRET_BYTES,
    SHOWN_CHARACTERS,
    digest,
    parse_scopes,
    require_scopes,
)
from drive_server.services.identity.proofs.freshness import SESSION, is_as_strong, proof_of, require_as_strong
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import ApiKeyRow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SESSION_PREFIX: Final = "das_"
SESSION_METHOD: Final = SESSION
SESSION_NAME: Final = "browser session"
LIFETIME: Final = timedelta(days=30)
READ_CHARACTERS: Final = 1000
"""The part of a browser's own words that is looked at."""
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A session of the caller. `device` has the browser and its system, empty if it did not tell."""

    id: str
    device: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    is_current: bool


def device_of(user_agent: str) -> str:
    """Return browser and system by the browser's own words, as "Firefox, Linux"; of anything else nothing is stored."""
    read = user_agent[:READ_CHARACTERS]
    found = (next((name for mark, name in table if mark in read), "") for table in (_BROWSERS, _SYSTEMS))
    return ", ".join(filter(None, found))


class SessionService:
    """Opens and ends browser sessions; `IdentityService.authenticate` accepts their secrets.

    `on_revoked` is called after sessions were ended from elsewhere than their own browser.
    """

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self.on_revoked: Callable[[], Awaitable[None]] = _tell_nobody

    async def create(self, principal: Principal, user_agent: str = "") -> tuple[str, datetime]:
        """Open a session with the scopes of the proof that was shown; return its secret and when it ends.

        It ends no later than that proof, and is as strong and as fresh.
        """
        require_person(principal)
        now = self._clock()
        ends = min(now + LIFETIME, principal.expires_at or now + LIFETIME)
        secret = SESSION_PREFIX + token_urlsafe(SECRET_BYTES)
        row = ApiKeyRow(
            id=new_id(),
            user_id=principal.user_id,
            name=SESSION_NAME,
            prefix=secret[:SHOWN_CHARACTERS],
            secret_hash=digest(secret),
            method=SESSION_METHOD,
            scopes=sorted(principal.scopes),
            created_at=now,
            expires_at=ends,
            opened_by=principal.key_id,
            device=device_of(user_agent),
            proof=proof_of(principal),
            proof_id=principal.proof_id,
            # A session that lets another browser in is no fresh proof for it.
            proved_at=principal.proved_at if principal.method == SESSION_METHOD else principal.proved_at or now,
        )

        async def work(session: AsyncSession) -> None:
            over = ApiKeyRow.user_id == principal.user_id, ApiKeyRow.method == SESSION_METHOD
            await session.execute(delete(ApiKeyRow).where(*over, ApiKeyRow.expires_at <= now))
            session.add(row)

        await self._database.change(work)
        return secret, ends

    async def list(self, principal: Principal, current: str = "") -> tuple[BrowserSession, ...]:
        """Return the caller's sessions that have not ended, newest first. `current` is the secret of the one in use."""
        require_person(principal)
        living = or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > self._clock())
        query = select(ApiKeyRow).where(*_sessions_of(principal.user_id), living)
        shown = digest(current)

        async def work(session: AsyncSession) -> tuple[BrowserSession, ...]:
            rows = await session.scalars(query.order_by(ApiKeyRow.created_at.desc(), ApiKeyRow.id))
            return tuple(
                BrowserSession(
                    row.id, row.device, row.created_at, row.expires_at, row.last_used_at, row.secret_hash == shown
                )
                for row in rows
            )

        return await self._database.look(work)

    async def prove(self, secret: str, session: Principal, proof: Principal) -> None:
        """Take note that the person of the session proved anew who they are.

        Raises `ForbiddenError` for another person's proof, and for a weaker one than the session was opened with.
        """
        require_as_strong(session, proof)
        is_it = (ApiKeyRow.secret_hash == digest(secret), *_sessions_of(session.user_id))

        async def work(rows: AsyncSession) -> None:
            await rows.execute(update(ApiKeyRow).where(*is_it).values(proved_at=proof.proved_at or self._clock()))

        await self._database.change(work)

    async def id_of(self, secret: str) -> str:
        """Return the id of the session with this secret. Raises `NotFoundError` for an unknown one."""
        query = select(ApiKeyRow.id).where(ApiKeyRow.secret_hash == digest(secret), ApiKeyRow.method == SESSION_METHOD)
        found = await self._database.read_sync(lambda connection: connection.scalar(query))
        if found is None:
            raise NotFoundError(Message.of("no_session"))
        return found

    async def prove_by_issuer(self, session_id: str, proof: Principal) -> None:
        """Take note that the issuer proved anew who the person of this session is.

        Raises `UnauthenticatedError` if the session ended meanwhile or is another person's, `ForbiddenError` if it was
        opened with a stronger proof.
        """

        async def work(rows: AsyncSession) -> None:
            is_it = (ApiKeyRow.id == session_id, *_sessions_of(proof.user_id))
            row = await rows.scalar(select(ApiKeyRow).where(*is_it))
            if row is None:
                raise UnauthenticatedError(Message.of("login_failed"))
            if not is_as_strong(proof_of(proof), row.proof):
                raise ForbiddenError(Message.of("weaker_proof"))
            row.proved_at = proof.proved_at

        await self._database.change(work)

    async def end(self, secret: str) -> None:
        """Log out: end the session with this secret. An unknown one is ended already; its runs go on."""
        is_it = (ApiKeyRow.secret_hash == digest(secret), ApiKeyRow.method == SESSION_METHOD)

        async def work(session: AsyncSession) -> None:
            await session.execute(delete(ApiKeyRow).where(*is_it))

        await self._database.change(work)

    async def end_one(self, principal: Principal, session_id: str) -> None:
        """End a session of the caller, by its id. Raises `NotFoundError` for an unknown one and for somebody else's.

        A key can't end a session with scopes that it lacks itself: `MissingScopeError`.
        """
        require_person(principal)

        async def work(session: AsyncSession) -> None:
            row = await session.get(ApiKeyRow, session_id) if KEY_ID.fullmatch(session_id) else None
            is_theirs = row is not None and row.user_id == principal.user_id and row.method == SESSION_METHOD
            if row is None or not is_theirs or row.revoked_at is not None:
                raise NotFoundError(Message.of("no_session"))
            require_scopes(principal, parse_scopes(row.scopes, may_be_empty=True))
            row.revoked_at = self._clock()

        await self._database.change(work)
        record("sign_out", "done", actor=principal.user_id, session=session_id)
        await self.on_revoked()

    async def end_all(self, principal: Principal, but: str = "") -> None:
        """End all sessions of the person but the one with this secret.

        Raises `MissingScopeError` if one has a scope that the caller lacks.
        """
        wanted = (*_sessions_of(principal.user_id), ApiKeyRow.secret_hash != digest(but))

        async def work(session: AsyncSession) -> None:
            found = await session.scalars(select(ApiKeyRow.scopes).where(*wanted))
            require_scopes(principal, {scope for scopes in found for scope in parse_scopes(scopes, may_be_empty=True)})
            await revoke_sessions(session, principal.user_id, self._clock(), but)

        await self._database.change(work)
        record("sign_out", "all others", actor=principal.user_id)
        await self.on_revoked()

    async def end_opened_by(self, user_id: str, passkey_id: str, but: str = "") -> None:
        """End the sessions that a passkey of the person opened, but the one with this secret."""

        async def work(session: AsyncSession) -> None:
            await revoke_sessions(session, user_id, self._clock(), but, ApiKeyRow.proof_id == passkey_id)

        await self._database.change(work)
        await self.on_revoked()


async def revoke_sessions(
    session: AsyncSession, user_id: str, now: datetime, but: str = "", *which: ColumnElement[bool]
) -> None:
    """Revoke sessions of a person, but the one with this secret. The rows stay until they expire: runs end by them."""
    others = ApiKeyRow.secret_hash != digest(but)
    await session.execute(update(ApiKeyRow).where(*_sessions_of(user_id), others, *which).values(revoked_at=now))


def _sessions_of(user_id: str) -> tuple[ColumnElement[bool], ...]:
    return ApiKeyRow.user_id == user_id, ApiKeyRow.method == SESSION_METHOD, ApiKeyRow.revoked_at.is_(None)


async def _tell_nobody() -> None:
    pass
