"""The access that people grant to programs: codes, access tokens and refresh tokens (OAuth 2.1, RFC 7009, RFC 8707).

A grant is a key of the person, named after the program and listed with the others; ending that key ends all of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_bytes, token_urlsafe
from typing import Final

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.signing import Signer
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.security import record, record_refusal
from drive_server.services.identity.keys import (
    ACCESS_METHOD,
    ACCESS_PREFIX,
    KEY_METHOD,
    MAX_KEY_NAME_CHARACTERS,
    SECRET_BYTES,
    descendants,
    digest,
    expiry,
    key_row,
    maker_of,
    new_secret,
    parse_scopes,
    require_scopes,
)
from drive_server.services.identity.programs.clients import Program
from drive_server.services.identity.service import IdentityService
from drive_server.storage.tables.people import ApiKeyRow, UserRow
from drive_server.storage.tables.programs import ProgramGrantRow, ProgramRow

CODE_LASTS: Final = timedelta(minutes=1)
ACCESS_LASTS: Final = timedelta(hours=1)
KNOWN_FOR: Final = timedelta(days=1)
"""So long after its end an access token is known: a program that still sends it is no guesser."""
CODE_PREFIX: Final = "dac_"
REFRESH_PREFIX: Final = "dar_"
REFRESH_PURPOSE: Final = "program refresh"
ID_BYTES: Final = 16
NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Asked:
    """The access that a program asks a person for, in a request that was checked."""

    program: Program
    redirect_uri: str
    is_redirect_explicit: bool
    challenge: str
    resource: str


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant as its program sees it. `ends_at` is when the code counts no more, or the whole grant ends."""

    key_id: str
    user_id: str
    client_id: str
    scopes: tuple[str, ...]
    resource: str
    redirect_uri: str
    is_redirect_explicit: bool
    challenge: str
    code_expires_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a program gets: shown once, and stored as digests."""

    access: str
    refresh: str
    seconds: int
    scopes: tuple[str, ...]


class GrantService:
    """Grants access to programs, and ends it. Each change is one transaction, so that a code counts once."""

    def __init__(self, database: Database, signer: Signer, identity: IdentityService, clock: Clock = utc_now) -> None:
        self._database = database
        self._signer = signer
        self._identity = identity
        self._clock = clock

    async def grant(self, actor: Actor, asked: Asked, scopes: Iterable[str], days: int) -> str:
        """Grant the request, in the caller's name, for so many days at most; return the code for the program.

        It has no scope that the caller lacks, and ends no later than the caller's own credential. Raises
        `MissingScopeError`, `FreshProofNeededError`, `InvalidInputError` for scopes or days that do not exist.
        """
        granted = parse_scopes(scopes)
        require_scopes(actor.principal, granted)
        self._identity.require_fresh(actor.principal)
        now, code = self._clock(), CODE_PREFIX + token_urlsafe(SECRET_BYTES)
        # Nobody gets the secret of the key itself.
        key = key_row(actor.user_id, key_name_of(asked), granted, new_secret(), now)
        key.opened_by = maker_of(actor.principal)
        key.expires_at = now + CODE_LASTS
        row = ProgramGrantRow(
            key_id=key.id,
            client_id=asked.program.id,
            resource=asked.resource,
            redirect_uri=asked.redirect_uri,
            is_redirect_explicit=asked.is_redirect_explicit,
            challenge=asked.challenge,
            code_digest=digest(code),
            code_expires_at=key.expires_at,
            ends_at=expiry(actor.principal, days, now) or now + timedelta(days=days),
        )

        async def work(session: AsyncSession) -> None:
            session.add_all([key, row])

        await self._database.change(work)
        record("program_let_in", "done", actor=actor.user_id, key=key.id, scopes=" ".join(key.scopes))
        return code

    async def by_code(self, program: Program, code: str) -> Grant | None:
        """Return the grant of a code that this program got, None for any other text.

        A code that comes a second time was stolen, from the program or by it: it ends all that came of it (OAuth 2.1,
        section 4.1.3), and is None.
        """
        found = await self._database.look(lambda session: _by_code(session, code))
        if found is None:
            return None
        grant, is_used = found
        if is_used:
            record_refusal("access", "code_replayed", actor=grant.user_id, key=grant.key_id)
            await self.end(grant.key_id)
        return None if is_used or grant.client_id != program.id else grant

    async def redeem(self, grant: Grant) -> Tokens | None:
        """Return the tokens for the code of this grant; None if it was used meanwhile, or the person ended it."""

        async def work(session: AsyncSession) -> Tokens | None:
            row, key = await _living(session, grant.key_id)
            now = self._clock()
            if row is None or key is None or row.code_used_at is not None or row.code_expires_at <= now:
                return None
            row.code_used_at = now
            key.expires_at = row.ends_at
            await session.execute(update(ProgramRow).where(ProgramRow.id == row.client_id).values(used_at=now))
            return self._issue(session, row, key, key.scopes)

        tokens = await self._database.change(work)
        if tokens is None:
            # Two came with the same code, one a moment before the other.
            await self.end(grant.key_id)
        return tokens

    async def by_refresh(self, program: Program, token: str) -> Grant | None:
        """Return the grant of a refresh token of this program, None for any other text.

        One that was used before is known to two: it ends all of its grant (OAuth 2.1, section 4.3.1), and is None.
        """
        key_id = self._grant_of(token)
        found = await self._database.look(lambda session: _by_id(session, key_id)) if key_id else None
        if found is None or found[0].client_id != program.id:
            return None
        grant, refresh_digest = found
        if refresh_digest != digest(token):
            await self._end_reused(grant)
            return None
        return grant

    async def refresh(self, grant: Grant, token: str, scopes: Iterable[str]) -> Tokens | None:
        """Return new tokens for a refresh token, which counts no more; None if the grant ended, or it was used."""

        async def work(session: AsyncSession) -> tuple[Tokens | None, bool]:
            row, key = await _living(session, grant.key_id)
            is_over = key is None or (key.expires_at is not None and key.expires_at <= self._clock())
            if row is None or key is None or is_over:
                return None, False
            if row.refresh_digest != digest(token):
                return None, True
            return self._issue(session, row, key, [scope for scope in scopes if scope in key.scopes]), False

        tokens, is_reused = await self._database.change(work)
        if is_reused:
            await self._end_reused(grant)
        return tokens

    async def by_access(self, token: str) -> Grant | None:
        """Return the grant of an access token, None for any other text."""

        async def work(session: AsyncSession) -> Grant | None:
            is_it = ApiKeyRow.secret_hash == digest(token), ApiKeyRow.method == ACCESS_METHOD
            key_id = await session.scalar(select(ApiKeyRow.opened_by).where(*is_it))
            found = await _by_id(session, key_id) if key_id else None
            return found[0] if found else None

        return await self._database.look(work)

    async def end(self, key_id: str) -> None:
        """End a grant at once, with its tokens, streams and runs; one that has ended stays so."""

        async def work(session: AsyncSession) -> str | None:
            key = await session.get(ApiKeyRow, key_id, with_for_update=True)
            if key is None or key.revoked_at is not None:
                return None
            for one in (key, *await descendants(session, key_id)):
                one.revoked_at = self._clock()
            return key.user_id

        user_id = await self._database.change(work)
        if user_id is not None:
            await self._identity.revocations.tell_new()
            record("key_ended", "by the program", actor=user_id, key=key_id)

    async def remove_old(self) -> None:
        """Remove codes that nobody fetched tokens for, grants that are over, and access tokens of long ago."""
        now = self._clock()
        unused = select(ProgramGrantRow.key_id).where(
            ProgramGrantRow.code_used_at.is_(None), ProgramGrantRow.code_expires_at <= now - CODE_LASTS
        )
        over = select(ApiKeyRow.id).where(
            or_(ApiKeyRow.revoked_at.is_not(None), ApiKeyRow.expires_at <= now - KNOWN_FOR)
        )
        living = select(ApiKeyRow.id)
        old = ApiKeyRow.method == ACCESS_METHOD, ApiKeyRow.expires_at <= now - KNOWN_FOR

        async def work(session: AsyncSession) -> None:
            await session.execute(delete(ApiKeyRow).where(ApiKeyRow.id.in_(unused)))
            is_over = or_(ProgramGrantRow.key_id.in_(over), ProgramGrantRow.key_id.not_in(living))
            await session.execute(delete(ProgramGrantRow).where(is_over))
            await session.execute(delete(ApiKeyRow).where(*old))

        await self._database.change(work)

    async def _end_reused(self, grant: Grant) -> None:
        record_refusal("access", "refresh_reused", actor=grant.user_id, key=grant.key_id)
        await self.end(grant.key_id)

    def _issue(self, session: AsyncSession, row: ProgramGrantRow, key: ApiKeyRow, scopes: list[str]) -> Tokens:
        """Make new tokens of a grant, in this transaction."""
        now, access = self._clock(), ACCESS_PREFIX + token_urlsafe(SECRET_BYTES)
        token = key_row(key.user_id, key.name, parse_scopes(scopes), access, now, method=ACCESS_METHOD)
        token.expires_at = ends = min(now + ACCESS_LASTS, row.ends_at)
        token.opened_by, token.proof = key.id, KEY_METHOD
        session.add(token)
        key.last_used_at = now
        refresh = REFRESH_PREFIX + self._signer.sign(REFRESH_PURPOSE, bytes.fromhex(key.id) + token_bytes(NONCE_BYTES))
        row.refresh_digest = digest(refresh)
        seconds = int((ends - now).total_seconds())
        return Tokens(access, refresh, seconds, tuple(token.scopes))

    def _grant_of(self, refresh: str) -> str | None:
        """Return the id of the grant whose refresh token the drive signed, used or not."""
        is_one = refresh.startswith(REFRESH_PREFIX)
        payload = self._signer.verify(REFRESH_PURPOSE, refresh.removeprefix(REFRESH_PREFIX)) if is_one else None
        return payload[:ID_BYTES].hex() if payload is not None and len(payload) == ID_BYTES + NONCE_BYTES else None


def key_name_of(asked: Asked) -> str:
    """Return the name of the key: the program's own name, and the host that gets the answer."""
    source = asked.program.source(asked.redirect_uri) or "localhost"
    room = MAX_KEY_NAME_CHARACTERS - len(" ()")
    host = source[-(room // 2) :]
    return f"{asked.program.name[: room - len(host)]} ({host})"


async def _living(session: AsyncSession, key_id: str) -> tuple[ProgramGrantRow | None, ApiKeyRow | None]:
    """Return a grant with its key, for a change; no key if it was revoked, or its person may not sign in.

    The lock makes changes of one grant follow one another.
    """
    row = await session.get(ProgramGrantRow, key_id, with_for_update=True, populate_existing=True)
    query = (
        select(ApiKeyRow)
        .join(UserRow, UserRow.id == ApiKeyRow.user_id)
        .where(ApiKeyRow.id == key_id, ApiKeyRow.revoked_at.is_(None), UserRow.disabled_at.is_(None))
        .with_for_update(of=ApiKeyRow)
    )
    return row, await session.scalar(query)


async def _by_code(session: AsyncSession, code: str) -> tuple[Grant, bool] | None:
    query = select(ProgramGrantRow, ApiKeyRow).join(ApiKeyRow, ApiKeyRow.id == ProgramGrantRow.key_id)
    found = (await session.execute(query.where(ProgramGrantRow.code_digest == digest(code)))).one_or_none()
    return (_to_grant(found[0], found[1]), found[0].code_used_at is not None) if found is not None else None


async def _by_id(session: AsyncSession, key_id: str) -> tuple[Grant, str | None] | None:
    query = select(ProgramGrantRow, ApiKeyRow).join(ApiKeyRow, ApiKeyRow.id == ProgramGrantRow.key_id)
    found = (await session.execute(query.where(ProgramGrantRow.key_id == key_id))).one_or_none()
    return (_to_grant(found[0], found[1]), found[0].refresh_digest) if found is not None else None


def _to_grant(row: ProgramGrantRow, key: ApiKeyRow) -> Grant:
    return Grant(
        key_id=key.id,
        user_id=key.user_id,
        client_id=row.client_id,
        scopes=tuple(key.scopes),
        resource=row.resource,
        redirect_uri=row.redirect_uri,
        is_redirect_explicit=row.is_redirect_explicit,
        challenge=row.challenge,
        code_expires_at=row.code_expires_at,
        ends_at=row.ends_at,
    )
