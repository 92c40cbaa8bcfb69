"""The sessions of browsers: a secret of their own in a cookie, so that the key that was typed in is kept nowhere."""

from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Final

from sqlalchemy import ColumnElement, delete

from drive_server.access import Principal, require_person
from drive_server.clock import Clock, utc_now
from drive_server.services.identity.keys import SECRET_BYTES, SHOWN_CHARACTERS, digest
from drive_server.storage.database import Database
from drive_server.storage.tables import ApiKeyRow, new_id

SESSION_PREFIX: Final = "das_"
SESSION_METHOD: Final = "session"
SESSION_NAME: Final = "browser session"
LIFETIME: Final = timedelta(days=30)


class SessionService:
    """Opens and ends sessions. `IdentityService.authenticate` takes their secrets like those of keys."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def create(self, principal: Principal) -> tuple[str, datetime]:
        """Open a session with the scopes of the key that was shown; return its secret and when it ends.

        It ends after 30 days, or before that with the key. The person's expired sessions are removed.
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
        )
        async with self._database.write() as session:
            await session.execute(delete(ApiKeyRow).where(*_sessions_of(principal), ApiKeyRow.expires_at <= now))
            session.add(row)
        return secret, ends

    async def end(self, secret: str) -> None:
        """End the session with this secret; an unknown one is ended already."""
        is_it = (ApiKeyRow.secret_hash == digest(secret), ApiKeyRow.method == SESSION_METHOD)
        async with self._database.write() as session:
            await session.execute(delete(ApiKeyRow).where(*is_it))

    async def end_all(self, principal: Principal) -> None:
        """End all sessions of the person."""
        async with self._database.write() as session:
            await session.execute(delete(ApiKeyRow).where(*_sessions_of(principal)))


def _sessions_of(principal: Principal) -> tuple[ColumnElement[bool], ...]:
    return ApiKeyRow.user_id == principal.user_id, ApiKeyRow.method == SESSION_METHOD
