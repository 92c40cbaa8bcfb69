"""API keys as rows: their secrets, names, scopes and lives; a caller's principal from one."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, Final, get_args

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.kernel.access import ALL_SCOPES, Principal, Scope
from drive_server.kernel.errors import (
    AccountDisabledError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
    UnauthenticatedError,
    UnknownKeyError,
)
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import Tier
from drive_server.models.access import ApiKey
from drive_server.services.identity.proofs.freshness import PERSONAL, proof_of
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import ApiKeyRow, UserRow

SECRET_PREFIX: Final = "dak_"  # noqa: S105 - the public beginning of every secret, by which people and scanners know one
SECRET_BYTES: Final = 32
SHOWN_CHARACTERS: Final = 10
MAX_KEY_NAME_CHARACTERS: Final = 100
MAX_KEY_DAYS: Final = 3650
KEY_METHOD: Final = "api_key"
LOCAL_METHOD: Final = "token"
ACCESS_METHOD: Final = "oauth"
"""The method of an access token, a key that a program got for a while: `services.identity.programs`."""
ACCESS_PREFIX: Final = "dat_"
MAX_TOKEN_CHARACTERS: Final = 16_384
"""Of a credential of any kind: an issuer's tokens are longer than keys."""
KEY_ID: Final = re.compile("[0-9a-f]{32}")
WANTED: Final = "wanted"


def new_secret() -> str:
    """Return the secret of a new key."""
    return SECRET_PREFIX + token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> str:
    """Return the digest of a secret, which is all that is stored."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def key_row(
    user_id: str, name: str, scopes: frozenset[Scope], secret: str, now: datetime, method: str = KEY_METHOD
) -> ApiKeyRow:
    """Return the row of a new key that does not end by itself."""
    return ApiKeyRow(
        id=new_id(),
        user_id=user_id,
        name=name,
        prefix=secret[:SHOWN_CHARACTERS],
        secret_hash=digest(secret),
        method=method,
        scopes=sorted(scopes),
        created_at=now,
    )


PROFILE: Final = (UserRow.name.label("own_name"), UserRow.time_zone, UserRow.language)
# Built once: every request asks, and building the query would cost more than it does.
_opener = aliased(ApiKeyRow)
_LIVING: Final = (
    select(
        ApiKeyRow.id,
        ApiKeyRow.user_id,
        ApiKeyRow.name,
        ApiKeyRow.method,
        ApiKeyRow.scopes,
        ApiKeyRow.expires_at,
        ApiKeyRow.last_used_at,
        ApiKeyRow.opened_by,
        ApiKeyRow.proof,
        ApiKeyRow.proof_id,
        ApiKeyRow.proved_at,
        ApiKeyRow.tools,
        UserRow.email,
        UserRow.is_admin,
        UserRow.disabled_at,
        *PROFILE,
        _opener.scopes.label("opener_scopes"),
        _opener.tools.label("opener_tools"),
    )
    .join(UserRow, UserRow.id == ApiKeyRow.user_id)
    .outerjoin(_opener, _opener.id == ApiKeyRow.opened_by)
    .where(ApiKeyRow.revoked_at.is_(None), _opener.revoked_at.is_(None))
)
_WITH_SECRET: Final = _LIVING.where(ApiKeyRow.secret_hash == bindparam(WANTED))
_ENDED: Final = select(ApiKeyRow.id).where(ApiKeyRow.secret_hash == bindparam(WANTED))
_WITH_ID: Final = _LIVING.where(ApiKeyRow.id == bindparam(WANTED))


def find_by_secret(
    connection: Connection, secret: str, now: datetime, *, is_for_mcp: bool = False
) -> tuple[Row[Any], Principal]:
    """Return the living key with this secret, and its owner.

    Raises `UnauthenticatedError`, also for a program's access token unless the call `is_for_mcp`; of that,
    `UnknownKeyError` for a secret that was never given out.
    """
    try:
        key, principal = _find(connection, _WITH_SECRET, digest(secret), now)
    except UnknownKeyError as error:
        if connection.execute(_ENDED, {WANTED: digest(secret)}).first() is None:
            raise
        raise UnauthenticatedError(error.reason, hint=error.hint) from None
    if key.method == ACCESS_METHOD and not is_for_mcp:
        # It was made for the resource /mcp (RFC 8707); whoever gets it elsewhere can do nothing with it.
        raise UnauthenticatedError(Message.of("token_for_mcp"))
    return key, principal


def find_by_secrets(
    connection: Connection, secrets: Iterable[str], now: datetime
) -> dict[str, tuple[Row[Any], Principal]]:
    """Return the living keys with these secrets, which were let in before, each with its owner.

    Others are left out.
    """
    found: dict[str, tuple[Row[Any], Principal]] = {}
    for secret in secrets:
        with suppress(UnauthenticatedError, AccountDisabledError):
            found[secret] = find_by_secret(connection, secret, now, is_for_mcp=True)
    return found


def find_by_id(connection: Connection, key_id: str, now: datetime) -> tuple[Row[Any], Principal]:
    """Return the living key with this id, and its owner. Raises `UnauthenticatedError`."""
    return _find(connection, _WITH_ID, key_id, now)


def callers_by_id(connection: Connection, key_ids: Sequence[str]) -> dict[str, Principal]:
    """Return whom the keys with these ids stand for, of those that are not revoked."""
    living: Select[*tuple[Any, ...]] = _LIVING.where(ApiKeyRow.id.in_(key_ids))
    found = connection.execute(living.where(UserRow.disabled_at.is_(None)))
    return {key.id: _principal(key) for key in found}


async def own_key(session: AsyncSession, principal: Principal, key_id: str) -> ApiKeyRow:
    """Return a key of the caller that this caller may change: one with no scope that the caller lacks.

    Raises `NotFoundError` for an unknown key and for somebody else's, `MissingScopeError` for one with more scopes.
    """
    row = await session.get(ApiKeyRow, key_id) if KEY_ID.fullmatch(key_id) else None
    if row is None or row.user_id != principal.user_id:
        raise NotFoundError("There is no such key.", hint="List your keys and use an id from there.")
    require_scopes(principal, parse_scopes(row.scopes, may_be_empty=True))
    return row


async def living_key(session: AsyncSession, principal: Principal, key_id: str, now: datetime) -> ApiKeyRow:
    """Return an API key in use of the caller, as `own_key` does. Raises `StateConflictError` for anything else."""
    row = await own_key(session, principal, key_id)
    has_ended = row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= now)
    if has_ended or row.method != KEY_METHOD:
        raise StateConflictError("This one can't be changed.", hint="Change an API key that is in use, or create one.")
    return row


def require_scopes(principal: Principal, needed: Iterable[Scope]) -> None:
    """Raise `MissingScopeError` unless the caller has all of the scopes."""
    lacking = sorted(set(needed) - _scopes_to_give(principal))
    if lacking:
        raise MissingScopeError(
            f"This key lacks the scope '{lacking[0]}', so it can't give, take or use it.",
            hint="Use a key that has all the scopes in question.",
            details={"scope": str(lacking[0]), "lacking": [str(scope) for scope in lacking]},
        )


def _scopes_to_give(principal: Principal) -> frozenset[Scope]:
    """Return the scopes that the caller may give, take or use: a person with all scopes may give any."""
    is_person = proof_of(principal) in {*PERSONAL, LOCAL_METHOD}
    return frozenset(Scope) if is_person and principal.scopes >= ALL_SCOPES else principal.scopes


def require_lasts(principal: Principal, row: ApiKeyRow) -> None:
    """Raise `StateConflictError` if the key outlives the caller's: scopes given to it would outlive it as well."""
    ends = principal.expires_at
    if ends is not None and (row.expires_at is None or row.expires_at > ends):
        raise StateConflictError(
            "That key lasts longer than the one in use, which can give it no scopes.",
            hint="Use a key that lasts as long, or the local access token.",
        )


def maker_of(principal: Principal) -> str | None:
    """Return the id of the API key that the caller's new keys depend on; None for a person and the local token."""
    return principal.key_id if proof_of(principal) == KEY_METHOD else None


async def descendants(session: AsyncSession, key_id: str) -> list[ApiKeyRow]:
    """Return the keys and sessions that were made with the key, or with one of those, and were not revoked."""
    found: list[ApiKeyRow] = []
    makers = [key_id]
    while makers:
        made = select(ApiKeyRow).where(ApiKeyRow.opened_by.in_(makers), ApiKeyRow.revoked_at.is_(None))
        rows = list(await session.scalars(made))
        found += rows
        makers = [row.id for row in rows]
    return found


def parse_scopes(words: Iterable[str], *, may_be_empty: bool = False) -> frozenset[Scope]:
    """Return the scopes by these names. Raises `InvalidInputError` for unknown ones, and for none at all."""
    listed = [words] if isinstance(words, str) else list(words)
    scopes_by_name = {scope.value: scope for scope in Scope}
    if not all(word in scopes_by_name for word in listed) or not (listed or may_be_empty):
        raise InvalidInputError("A key needs scopes that exist.", hint=f"Use some of: {', '.join(scopes_by_name)}.")
    return frozenset(scopes_by_name[word] for word in listed)


def clean_key_name(name: str) -> str:
    """Return the name in its stored form (NFC). Raises `InvalidInputError` for an empty, long or unprintable one."""
    clean = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(clean) <= MAX_KEY_NAME_CHARACTERS or not clean.isprintable():
        raise InvalidInputError(
            "That name can't be used for a key.", hint=f"Use 1 to {MAX_KEY_NAME_CHARACTERS} printable characters."
        )
    return clean


def expiry(principal: Principal, days: int | None, now: datetime) -> datetime | None:
    """Return when a new key of the caller ends: after `days` days, and no later than the key in use; None: never."""
    ends = [principal.expires_at] if principal.expires_at is not None else []
    if days is not None:
        if isinstance(days, bool) or not 1 <= days <= MAX_KEY_DAYS:
            raise InvalidInputError("A key can't last that long.", hint=f"Give 1 to {MAX_KEY_DAYS} days, or none.")
        ends.append(now + timedelta(days=days))
    return min(ends, default=None)


def to_key(row: ApiKeyRow) -> ApiKey:
    """Return the key without anything of its secret but the beginning."""
    return ApiKey(
        id=row.id,
        name=row.name,
        prefix=row.prefix,
        scopes=tuple(row.scopes),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
        tools=known_tier(row.tools),
    )


def known_tier(word: str | None) -> Tier | None:
    """Return the stored word as one of the tiers of tools, None for none and for one of another version."""
    return next((tier for tier in get_args(Tier) if tier == word), None)


def not_valid(hint: str) -> UnauthenticatedError:
    """Return the error for a key that does not count."""
    return UnauthenticatedError(Message.of("key_not_valid"), hint=hint)


def refuse_disabled(disabled_at: datetime | None) -> None:
    """Raise `AccountDisabledError` for somebody whose account was disabled."""
    if disabled_at is not None:
        raise AccountDisabledError(Message.of("account_disabled"))


def _find(
    connection: Connection, query: Select[*tuple[Any, ...]], wanted: str, now: datetime
) -> tuple[Row[Any], Principal]:
    key = connection.execute(query, {WANTED: wanted}).one_or_none()
    if key is None:
        raise UnknownKeyError(Message.of("key_not_valid"), hint="Check that it was copied whole, or create a new one.")
    if key.expires_at is not None and key.expires_at <= now:
        raise not_valid("The key has expired: create a new one.")
    refuse_disabled(key.disabled_at)
    return key, _principal(key)


def _principal(key: Row[Any]) -> Principal:
    scopes = parse_scopes(key.scopes, may_be_empty=True)
    if key.opener_scopes is not None:
        # A scope that is taken from a key is taken from the browsers that it let in, too.
        scopes &= parse_scopes(key.opener_scopes, may_be_empty=True)
    return Principal(
        user_id=key.user_id,
        email=key.email,
        scopes=scopes,
        method=key.method,
        key_name=key.name,
        is_admin=key.is_admin and key.method != ACCESS_METHOD,
        expires_at=key.expires_at,
        key_id=key.id if key.method == KEY_METHOD else key.opened_by or key.id,
        proof=key.proof or key.method,
        proof_id=key.proof_id,
        proved_at=key.proved_at,
        tools=known_tier(key.tools or key.opener_tools),
        **profile_of(key),
    )


def profile_of(row: Row[Any]) -> dict[str, Any]:
    """Return the fields of a `Principal` that the columns of `PROFILE` fill."""
    return {"name": row.own_name, "time_zone": row.time_zone, "language": row.language}


def living_local_tokens(user_id: str) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for a person's local access tokens that count."""
    return ApiKeyRow.user_id == user_id, ApiKeyRow.method == LOCAL_METHOD, ApiKeyRow.revoked_at.is_(None)


async def is_local_token(session: "AsyncSession", user_id: str, secret: str) -> bool:
    """Say whether this is a person's local access token, and counts."""
    found = select(ApiKeyRow.id).where(*living_local_tokens(user_id), ApiKeyRow.secret_hash == digest(secret))
    return await session.scalar(found) is not None
