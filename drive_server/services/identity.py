"""Who people are and how they prove it: users, API keys, the local access token."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from anyio import to_thread
from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import aliased

from drive_server.access import ALL_SCOPES, Actor, Principal, Scope
from drive_server.emails import normalise_email
from drive_server.errors import (
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
    UnauthenticatedError,
)
from drive_server.models import ApiKey, User
from drive_server.storage.tables import ApiKeyRow, NodeRow, UserRow, new_id
from drive_server.storage.token_file import read_token, write_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.storage.database import Database

LOCAL_EMAIL = "me@localhost"
LOCAL_KEY_NAME = "local access token"
FIRST_KEY_NAME = "first key"
SECRET_PREFIX = "dak_"  # noqa: S105 - the public beginning of every secret, by which people and scanners know one
SECRET_BYTES = 32
SHOWN_CHARACTERS = 10
MAX_KEY_NAME_CHARACTERS = 100
MAX_KEY_DAYS = 3650
KEY_ID = re.compile("[0-9a-f]{32}")
USE_IS_NOTED_EVERY = timedelta(minutes=1)


def utc_now() -> datetime:
    """Return the time, aware and in UTC."""
    return datetime.now(UTC)


class IdentityService:
    """Users and their keys. Secrets are handed out once; only their SHA-256 is kept, and looked up."""

    def __init__(self, database: "Database", token_path: "Path", clock: "Callable[[], datetime]" = utc_now) -> None:
        self._database = database
        self._token_path = token_path
        self._clock = clock

    async def authenticate(self, secret: str) -> Principal:
        """Return whom the secret belongs to. Raises `UnauthenticatedError` if it is unknown, revoked or expired."""
        async with self._database.read() as session:
            key, user = await _find_key(session, secret)
        now = self._clock()
        if key.expires_at is not None and key.expires_at <= now:
            raise _unauthenticated("The key has expired: create a new one.")
        if key.last_used_at is None or now - key.last_used_at >= USE_IS_NOTED_EVERY:
            await self._note_use(key.id, now)
        return _principal_of(key, user)

    async def principal_for(self, user_id: str, scopes: "Iterable[str]") -> Principal:
        """Return the principal for a session inside this process. It is never an administrator.

        Raises `UnauthenticatedError` for an unknown user and `InvalidInputError` for an unknown scope.
        """
        granted = _parse_scopes(scopes, may_be_empty=True)
        async with self._database.read() as session:
            user = await session.get(UserRow, user_id)
        if user is None:
            raise UnauthenticatedError("There is no such user.", hint="Sign in again.")
        return Principal(user_id=user.id, email=user.email, scopes=granted, method="in_process")

    async def ensure_local_user(self) -> tuple[User, str]:
        """Return the owner of this drive, an administrator, and the local access token; make what is missing.

        The token stays the same while its file does. Without the file, or with one that holds no valid token, a new
        one is made and the old one revoked. Raises `StorageFailureError` if the file can't be read or written.
        """
        written = await to_thread.run_sync(read_token, self._token_path)
        async with self._database.read() as session:
            user = await _find_user(session, LOCAL_EMAIL)
            if user is not None and written is not None and await _is_local_token(session, user.id, written):
                return _to_user(user), written
        return await self._make_local_token()

    async def create_user(self, actor: Actor, email: str) -> tuple[User, str]:
        """Make a user with an empty drive, and a first key with all scopes; the secret is shown only here.

        Only for administrators, with a key that has all scopes itself. Raises `ForbiddenError`, `MissingScopeError`,
        `InvalidInputError` for what is no email address, `StateConflictError` if the user exists.
        """
        if not actor.principal.is_admin:
            raise ForbiddenError("Only an administrator can add users.", hint="Ask the owner of this drive.")
        _require_scopes(actor.principal, ALL_SCOPES)
        address = normalise_email(email)
        secret = _new_secret()
        async with self._database.write() as session:
            if await _find_user(session, address) is not None:
                raise StateConflictError("There is a user with this email already.", hint="Use another email.")
            user = await _add_user(session, address, self._clock())
            session.add(_key_row(user.id, FIRST_KEY_NAME, ALL_SCOPES, secret, self._clock()))
        return _to_user(user), secret

    async def create_key(
        self, actor: Actor, name: str, scopes: "Iterable[str]", days: int | None = None
    ) -> tuple[ApiKey, str]:
        """Make a key for the caller that expires after `days` days (None: never); the secret is shown only here.

        It has no scope that the key in use lacks, and does not outlive that key. Raises `MissingScopeError`,
        and `InvalidInputError` for a bad name, scope or number of days.
        """
        granted = _parse_scopes(scopes)
        _require_scopes(actor.principal, granted)
        now = self._clock()
        ends = [end for end in (actor.principal.expires_at, _expiry(days, now)) if end is not None]
        secret = _new_secret()
        row = _key_row(actor.user_id, _clean_key_name(name), granted, secret, now)
        row.expires_at = min(ends, default=None)
        async with self._database.write() as session:
            session.add(row)
        return _to_key(row), secret

    async def list_keys(self, actor: Actor) -> tuple[ApiKey, ...]:
        """Return the caller's keys, newest first, also the expired and revoked ones."""
        mine = select(ApiKeyRow).where(ApiKeyRow.user_id == actor.user_id)
        async with self._database.read() as session:
            rows = await session.scalars(mine.order_by(ApiKeyRow.created_at.desc(), ApiKeyRow.id))
            return tuple(_to_key(row) for row in rows)

    async def revoke_key(self, actor: Actor, key_id: str) -> ApiKey:
        """End a key of the caller at once; one that has ended stays as it is.

        A key can't end one with scopes that it lacks itself (`MissingScopeError`). Raises `NotFoundError` for an
        unknown key and for somebody else's.
        """
        async with self._database.write() as session:
            row = await session.get(ApiKeyRow, key_id) if KEY_ID.fullmatch(key_id) else None
            if row is None or row.user_id != actor.user_id:
                raise NotFoundError("There is no such key.", hint="List your keys and use an id from there.")
            _require_scopes(actor.principal, _parse_scopes(row.scopes))
            row.revoked_at = row.revoked_at or self._clock()
        return _to_key(row)

    async def me(self, actor: Actor) -> User:
        """Return the caller. Raises `UnauthenticatedError` if the account is gone."""
        async with self._database.read() as session:
            user = await session.get(UserRow, actor.user_id)
        if user is None:
            raise _unauthenticated("The account is gone.")
        return _to_user(user)

    async def _note_use(self, key_id: str, now: datetime) -> None:
        # The condition is asked again: of many requests at once only the first one writes.
        stale: ColumnElement[bool] = or_(
            ApiKeyRow.last_used_at.is_(None), ApiKeyRow.last_used_at <= now - USE_IS_NOTED_EVERY
        )
        async with self._database.write() as session:
            await session.execute(update(ApiKeyRow).where(ApiKeyRow.id == key_id, stale).values(last_used_at=now))

    async def _make_local_token(self) -> tuple[User, str]:
        # All of it inside one write transaction, the file too, so that two processes that start at once agree.
        async with self._database.write() as session:
            now = self._clock()
            user = await _find_user(session, LOCAL_EMAIL) or await _add_user(session, LOCAL_EMAIL, now, is_admin=True)
            written = await to_thread.run_sync(read_token, self._token_path)
            if written is not None and await _is_local_token(session, user.id, written):
                return _to_user(user), written
            await session.execute(update(ApiKeyRow).where(*_live_local(user.id)).values(revoked_at=now))
            secret = _new_secret()
            session.add(_key_row(user.id, LOCAL_KEY_NAME, ALL_SCOPES, secret, now, method="token"))
            await session.flush()
            await to_thread.run_sync(write_token, self._token_path, secret)
        return _to_user(user), secret


def _new_secret() -> str:
    return SECRET_PREFIX + token_urlsafe(SECRET_BYTES)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _unauthenticated(hint: str) -> UnauthenticatedError:
    return UnauthenticatedError("This key is not valid.", hint=hint)


async def _find_key(session: "AsyncSession", secret: str) -> tuple[ApiKeyRow, UserRow]:
    opener = aliased(ApiKeyRow)
    query = (
        select(ApiKeyRow, UserRow)
        .join(UserRow, UserRow.id == ApiKeyRow.user_id)
        .outerjoin(opener, opener.id == ApiKeyRow.opened_by)
        .where(ApiKeyRow.secret_hash == _digest(secret), ApiKeyRow.revoked_at.is_(None), opener.revoked_at.is_(None))
    )
    found = (await session.execute(query)).one_or_none()
    if found is None:
        raise _unauthenticated("Check that it was copied whole, or create a new one.")
    key, user = found
    return key, user


async def _find_user(session: "AsyncSession", email: str) -> UserRow | None:
    return await session.scalar(select(UserRow).where(UserRow.email == email))


async def _add_user(session: "AsyncSession", email: str, now: datetime, *, is_admin: bool = False) -> UserRow:
    user = UserRow(id=new_id(), email=email, root_id=new_id(), is_admin=is_admin, created_at=now)
    root = NodeRow(id=user.root_id, owner_id=user.id, kind="folder", name="", created_at=now, updated_at=now)
    for row in (user, root):
        session.add(row)
        await session.flush()
    return user


def _live_local(user_id: str) -> tuple[ColumnElement[bool], ...]:
    return ApiKeyRow.user_id == user_id, ApiKeyRow.method == "token", ApiKeyRow.revoked_at.is_(None)


async def _is_local_token(session: "AsyncSession", user_id: str, secret: str) -> bool:
    found = select(ApiKeyRow.id).where(*_live_local(user_id), ApiKeyRow.secret_hash == _digest(secret))
    return await session.scalar(found) is not None


def _key_row(
    user_id: str, name: str, scopes: frozenset[Scope], secret: str, now: datetime, method: str = "api_key"
) -> ApiKeyRow:
    return ApiKeyRow(
        id=new_id(),
        user_id=user_id,
        name=name,
        prefix=secret[:SHOWN_CHARACTERS],
        secret_hash=_digest(secret),
        method=method,
        scopes=sorted(scopes),
        created_at=now,
    )


def _require_scopes(principal: Principal, needed: "Iterable[Scope]") -> None:
    lacking = sorted(set(needed) - principal.scopes)
    if lacking:
        raise MissingScopeError(
            f"This key lacks the scope '{lacking[0]}', so it can't give, take or use it.",
            hint="Use a key that has all the scopes in question.",
            details={"scope": str(lacking[0]), "lacking": [str(scope) for scope in lacking]},
        )


def _parse_scopes(words: "Iterable[str]", *, may_be_empty: bool = False) -> frozenset[Scope]:
    listed = [words] if isinstance(words, str) else list(words)
    known = {scope.value: scope for scope in Scope}
    if not all(word in known for word in listed) or not (listed or may_be_empty):
        raise InvalidInputError("A key needs scopes that exist.", hint=f"Use some of: {', '.join(known)}.")
    return frozenset(known[word] for word in listed)


def _clean_key_name(name: str) -> str:
    clean = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(clean) <= MAX_KEY_NAME_CHARACTERS or not clean.isprintable():
        raise InvalidInputError(
            "That name can't be used for a key.",
            hint=f"Use 1 to {MAX_KEY_NAME_CHARACTERS} printable characters.",
        )
    return clean


def _expiry(days: int | None, now: datetime) -> datetime | None:
    if days is None:
        return None
    if isinstance(days, bool) or not 1 <= days <= MAX_KEY_DAYS:
        raise InvalidInputError("A key can't last that long.", hint=f"Give 1 to {MAX_KEY_DAYS} days, or none.")
    return now + timedelta(days=days)


def _principal_of(key: ApiKeyRow, user: UserRow) -> Principal:
    return Principal(
        user_id=user.id,
        email=user.email,
        scopes=_parse_scopes(key.scopes),
        method=key.method,
        key_name=key.name,
        is_admin=user.is_admin,
        expires_at=key.expires_at,
        key_id=key.opened_by or key.id,
    )


def _to_user(row: UserRow) -> User:
    return User(row.id, row.email, row.root_id, row.is_admin, row.created_at)


def _to_key(row: ApiKeyRow) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        prefix=row.prefix,
        scopes=tuple(row.scopes),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )
