"""Identity: users, API keys, tokens of an issuer, the local access token."""

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread
from sqlalchemy import ColumnElement, Connection, Row, bindparam, false, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import (
    ALL_SCOPES,
    Actor,
    Guard,
    Principal,
    Scope,
    require_admin,
    require_person,
    require_scope,
)
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import DriveError, InvalidInputError, StateConflictError, UnauthenticatedError
from drive_server.kernel.files.token_file import read_token, write_token
from drive_server.kernel.settings import Tier
from drive_server.kernel.telemetry.security import record
from drive_server.models.access import ApiKey, User
from drive_server.services.identity.emails import has_lookalike, normalise_email
from drive_server.services.identity.key_uses import KeyUses
from drive_server.services.identity.keys import (
    LOCAL_METHOD,
    PROFILE,
    callers_by_id,
    clean_key_name,
    descendants,
    expiry,
    find_by_id,
    find_by_secret,
    find_by_secrets,
    is_local_token,
    key_row,
    living_key,
    living_local_tokens,
    maker_of,
    new_secret,
    not_valid,
    own_key,
    parse_scopes,
    profile_of,
    refuse_disabled,
    require_lasts,
    require_scopes,
    to_key,
)
from drive_server.services.identity.profile import languages_sync
from drive_server.services.identity.proofs.freshness import PERSONAL, is_fresh, proof_of, require_fresh
from drive_server.services.identity.proofs.revocations import Revocations
from drive_server.services.identity.sessions import SESSION_METHOD
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import ApiKeyRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy.orm import Session

    from drive_server.kernel.sql.database import Database
    from drive_server.services.identity.tokens import Claims, TokenService

T = TypeVar("T")

LOCAL_EMAIL = "me@localhost"
LOCAL_KEY_NAME = "local access token"
TOKEN_METHOD = "jwt"  # noqa: S105 - how a caller proved who they are
FIRST_KEY_NAME = "first key"
FRESH_FOR = timedelta(minutes=10)
_PERSON = select(UserRow.id, UserRow.email, UserRow.is_admin, UserRow.disabled_at, *PROFILE).where(
    UserRow.id == bindparam("id")
)


class IdentityService:
    """Manages users and their keys. A secret is returned once; the drive stores only its SHA-256.

    `on_key` is called after the scopes or the tools of a key were changed.
    """

    def __init__(
        self,
        database: "Database",
        token_path: "Path",
        clock: Clock = utc_now,
        tokens: "TokenService | None" = None,
        fresh_for: timedelta = FRESH_FOR,
    ) -> None:
        self._database = database
        self._token_path = token_path
        self._clock = clock
        self._tokens = tokens
        self._fresh_for = fresh_for
        self.revocations = Revocations(database)
        self.uses = KeyUses(database, clock)
        self.on_key: Callable[[], None] = lambda: None

    async def authenticate(self, secret: str) -> Principal:
        """Return the owner of the secret: a key's, a browser session's, or a token's of the issuer in the settings.

        Raises `UnauthenticatedError` if it is unknown, revoked or expired, and `UnavailableError` if it is a token
        and the issuer's keys can't be had.
        """
        if self._tokens is not None and self._tokens.is_token(secret):
            return await self._holder_of(await self._tokens.verify(secret), may_create=self._tokens.create_users)
        return await self._read_as_key(secret, lambda _, principal: principal)

    async def read_as(self, secret: str, work: "Callable[[Connection, Principal], T]") -> "T":
        """Return the result of `work` for the owner of the secret; both read one state, in one transaction.

        Raises as `authenticate` does, and then does not call `work`. See `Database.read_sync` for the rules that
        `work` keeps.
        """
        if self._tokens is not None and self._tokens.is_token(secret):
            holder = await self.authenticate(secret)
            return await self._database.read_sync(lambda connection: work(connection, holder))
        return await self._read_as_key(secret, work)

    async def look_as(self, secret: str, work: "Callable[[AsyncSession, Principal], Awaitable[T]]") -> "T":
        """Return the result of asynchronous `work` as `read_as` does; see `Database.look` for its rules."""
        is_token = self._tokens is not None and self._tokens.is_token(secret)
        holder = await self.authenticate(secret) if is_token else None
        used: list[Row[Any]] = []

        async def look(session: "AsyncSession") -> T:
            return await work(session, holder or await session.run_sync(self._holder_of_key, secret, used))

        try:
            return await self._database.look(look)
        finally:
            for key in used:
                self.uses.note(key)

    async def guard(self, secret: str, needed: Scope) -> Guard | None:
        """Return a check that raises in a later transaction as `authenticate` does, or `MissingScopeError`.

        A token of the issuer is verified now, and for all: None.
        """
        if self._tokens is not None and self._tokens.is_token(secret):
            require_scope(await self.authenticate(secret), needed)
            return None

        async def check(session: "AsyncSession") -> None:
            require_scope(await session.run_sync(self._holder_of_key, secret, list[Row[Any]]()), needed)

        return check

    async def holders(self, secrets: "Collection[str]") -> "dict[str, Principal]":
        """Return the owner of each secret, looked up in one step; those that hold no more are left out."""
        tokens = [secret for secret in secrets if self._tokens is not None and self._tokens.is_token(secret)]
        now = self._clock()
        keys = await self._database.read_sync(
            lambda connection: find_by_secrets(connection, set(secrets).difference(tokens), now)
        )
        for key, _ in keys.values():
            self.uses.note(key)
        holders = {secret: principal for secret, (_, principal) in keys.items()}
        for token in tokens:
            with suppress(DriveError):
                holders[token] = await self.authenticate(token)
        return holders

    async def authenticate_program(self, secret: str) -> Principal:
        """Return the owner of the secret of a program that speaks MCP.

        Raises `UnauthenticatedError` for a browser's session as well: its secret is the cookie of a page, and no key.
        An access token counts here, and nowhere else.
        """
        if self._tokens is not None and self._tokens.is_token(secret):
            return await self.authenticate(secret)
        return require_program(await self._read_as_key(secret, lambda _, principal: principal, is_for_mcp=True))

    async def authenticate_key(self, key_id: str) -> Principal:
        """Return the owner of the key with this id, for a session that never had its secret."""
        now = self._clock()
        key, principal = await self._database.read_sync(lambda connection: find_by_id(connection, key_id, now))
        self.uses.note(key)
        return principal

    async def principal_for(self, user_id: str, scopes: "Iterable[str]", *, may_be_disabled: bool = False) -> Principal:
        """Return the principal for a session inside this process. It is never an administrator.

        Raises `UnauthenticatedError` for an unknown user, `AccountDisabledError` for one who is disabled and must not
        be, and `InvalidInputError` for an unknown scope.
        """
        granted = parse_scopes(scopes, may_be_empty=True)
        user = await self._account(user_id)
        if not may_be_disabled:
            refuse_disabled(user.disabled_at)
        return Principal(user.id, user.email, granted, "in_process", **profile_of(user))

    async def person(self, user_id: str, method: str) -> Principal:
        """Return the principal of a person who proved who they are by `method`, with all scopes and without a key.

        Raises as `principal_for` does.
        """
        user = await self._account(user_id)
        refuse_disabled(user.disabled_at)
        return Principal(user.id, user.email, ALL_SCOPES, method, is_admin=user.is_admin, **profile_of(user))

    async def languages(self, user_id: str) -> list[str]:
        """Return the languages of a person's drive, or their scripts, the most common first."""
        return await self._database.read_sync(lambda connection: languages_sync(connection, user_id))

    async def ensure_local_user(self) -> tuple[User, str]:
        """Return the owner of this drive, an administrator, and the local access token; make the missing ones.

        The token stays the same while its file does. Without the file, or with one that holds no valid token, a new
        one is made and the old one revoked. Raises `StorageFailureError` if the file can't be read or written.
        """
        written = await to_thread.run_sync(read_token, self._token_path)
        async with self._database.read() as session:
            user = await find_user(session, LOCAL_EMAIL)
            if user is not None and written is not None and await is_local_token(session, user.id, written):
                return to_user(user), written
        return await self._make_local_token()

    async def create_user(self, actor: Actor, email: str) -> tuple[User, str]:
        """Make a user with an empty drive, and a first key with all scopes; the secret is shown only here.

        Only for administrators, with a key that has all scopes itself. Raises `ForbiddenError`, `MissingScopeError`,
        `FreshProofNeededError`, `InvalidInputError` if it is no email address, `StateConflictError` if the user exists.
        """
        require_admin(actor.principal)
        self.require_fresh(actor.principal)
        address = normalise_email(email)
        secret = new_secret()

        async def work(session: AsyncSession) -> UserRow:
            if await find_user(session, address) is not None:
                raise StateConflictError("There is a user with this email already.", hint="Use another email.")
            user = await add_user(session, address, self._clock())
            session.add(key_row(user.id, FIRST_KEY_NAME, ALL_SCOPES, secret, self._clock()))
            return user

        user = await self._database.change(work)
        record("account", "made", actor=actor.user_id, person=user.id)
        return to_user(user), secret

    async def create_key(
        self, actor: Actor, name: str, scopes: "Iterable[str]", days: int | None = None, tools: Tier | None = None
    ) -> tuple[ApiKey, str]:
        """Make a key for the caller that expires after `days` days (None: never); the secret is shown only here.

        It has no scope that the key in use lacks, and does not outlive that key. An MCP host with it is shown the
        `tools`, None: as the settings say. Raises `MissingScopeError`, `FreshProofNeededError`, and `InvalidInputError`
        for a bad name, scope or number of days.
        """
        require_person(actor.principal)
        granted = parse_scopes(scopes)
        require_scopes(actor.principal, granted)
        self.require_fresh(actor.principal)
        now = self._clock()
        secret = new_secret()
        row = key_row(actor.user_id, clean_key_name(name), granted, secret, now)
        row.expires_at = expiry(actor.principal, days, now)
        row.opened_by = maker_of(actor.principal)
        row.tools = tools

        async def work(session: AsyncSession) -> None:
            session.add(row)

        await self._database.change(work)
        record("key_made", "done", actor=actor.user_id, key=row.id, scopes=" ".join(row.scopes))
        return to_key(row), secret

    async def list_keys(self, actor: Actor) -> tuple[ApiKey, ...]:
        """Return the caller's keys, newest first, also the expired and revoked ones."""
        require_person(actor.principal)
        mine = select(ApiKeyRow).where(ApiKeyRow.user_id == actor.user_id)

        async def work(session: AsyncSession) -> list[ApiKey]:
            rows = await session.scalars(mine.order_by(ApiKeyRow.created_at.desc(), ApiKeyRow.id))
            return [to_key(row) for row in rows]

        keys = await self._database.look(work)
        return tuple(key.model_copy(update={"last_used_at": self.uses.last(key.id, key.last_used_at)}) for key in keys)

    async def revoke_key(self, actor: Actor, key_id: str) -> ApiKey:
        """End a key of the caller at once, with the keys and sessions that were made with it; ended ones stay.

        A key can't end one with scopes that it lacks itself (`MissingScopeError`). Raises `NotFoundError` for an
        unknown key and for somebody else's.
        """
        require_person(actor.principal)

        async def work(session: AsyncSession) -> ApiKeyRow:
            row = await own_key(session, actor.principal, key_id)
            row.revoked_at = row.revoked_at or self._clock()
            for made in await descendants(session, row.id):
                made.revoked_at = self._clock()
            return row

        row = await self._database.change(work)
        await self.revocations.tell_new()
        record("key_ended", "done", actor=actor.user_id, key=row.id)
        return to_key(row)

    async def change_scopes(self, actor: Actor, key_id: str, scopes: "Iterable[str]") -> ApiKey:
        """Give a key of the caller other scopes. It holds from the next call on, in sessions that are open as well.

        The key in use must have every scope that is given or taken (`MissingScopeError`), and last as long as the key
        that it gives one to, with a fresh proof (`FreshProofNeededError`). A scope that is taken from a key is taken
        from the keys that were made with it. Raises `InvalidInputError` for unknown scopes, `NotFoundError` for an
        unknown key and for somebody else's, `StateConflictError` for one that lasts longer, and for one that is no
        living API key: one that has ended, a browser's session, the local access token.
        """
        require_person(actor.principal)
        granted = parse_scopes(scopes)
        require_scopes(actor.principal, granted)

        async def work(session: AsyncSession) -> ApiKeyRow:
            row = await living_key(session, actor.principal, key_id, self._clock())
            if granted - parse_scopes(row.scopes, may_be_empty=True):
                require_lasts(actor.principal, row)
                self.require_fresh(actor.principal)
            row.scopes = sorted(granted)
            for made in await descendants(session, row.id):
                made.scopes = sorted(granted & parse_scopes(made.scopes, may_be_empty=True))
            return row

        row = await self._database.change(work)
        self.on_key()
        record("key_scopes", "done", actor=actor.user_id, key=row.id, scopes=" ".join(row.scopes))
        return to_key(row)

    async def change_tools(self, actor: Actor, key_id: str, tools: Tier | None) -> ApiKey:
        """Show MCP hosts with a key of the caller other tools, in open sessions too; raises as `change_scopes` does."""
        require_person(actor.principal)

        async def work(session: AsyncSession) -> ApiKeyRow:
            row = await living_key(session, actor.principal, key_id, self._clock())
            row.tools = tools
            return row

        row = await self._database.change(work)
        self.on_key()
        return to_key(row)

    async def callers_of(self, key_ids: "Iterable[str]") -> dict[str, Principal]:
        """Return whom those of the keys stand for that are not revoked."""
        wanted = sorted(key_ids)
        return await self._database.read_sync(lambda connection: callers_by_id(connection, wanted))

    async def me(self, actor: Actor) -> User:
        """Return the caller. Raises `UnauthenticatedError` if the account is gone."""
        user = await self._database.look(lambda session: session.get(UserRow, actor.user_id))
        if user is None:
            raise not_valid("The account is gone.")
        return to_user(user)

    def require_fresh(self, principal: Principal) -> None:
        """Raise `FreshProofNeededError` for a browser whose person proved too long ago who they are."""
        require_fresh(principal, self._clock(), self._fresh_for)

    def is_fresh(self, principal: Principal) -> bool:
        """Return whether the caller proved lately enough who they are to make something that lasts."""
        return is_fresh(principal, self._clock(), self._fresh_for)

    async def lasts(self, principal: Principal) -> bool:
        """Return whether the proof of the caller does not end by itself: keys that they make with it may last."""
        if proof_of(principal) in PERSONAL:
            return True
        row = await self._database.look(lambda session: session.get(ApiKeyRow, principal.key_id or ""))
        return row is not None and row.method != SESSION_METHOD and row.expires_at is None

    def _holder_of_key(self, session: "Session", secret: str, used: list[Row[Any]]) -> Principal:
        key, principal = find_by_secret(session.connection(), secret, self._clock())
        used.append(key)
        return principal

    async def _read_as_key(
        self, secret: str, work: "Callable[[Connection, Principal], T]", *, is_for_mcp: bool = False
    ) -> "T":
        now = self._clock()
        used: list[Row[Any]] = []

        def read(connection: Connection) -> T:
            key, principal = find_by_secret(connection, secret, now, is_for_mcp=is_for_mcp)
            used.append(key)
            return work(connection, principal)

        try:
            return await self._database.read_sync(read)
        finally:
            for key in used:
                self.uses.note(key)

    async def _account(self, user_id: str) -> Any:
        user = await self._database.read_sync(lambda connection: connection.execute(_PERSON, {"id": user_id}).first())
        if user is None:
            raise UnauthenticatedError("There is no such user.", hint="Sign in again.")
        return user

    async def _holder_of(self, claims: "Claims", *, may_create: bool) -> Principal:
        """Return the person that a token speaks for.

        It makes nobody an administrator, and never stands for the local owner.
        """
        try:
            email = normalise_email(claims.email)
        except InvalidInputError as error:
            raise not_valid("The token names no email address that can have an account.") from error
        if has_lookalike(claims.email):
            raise not_valid("The email address of the token could be taken for another person's.")
        user = await self._database.look(lambda session: find_user(session, email))
        if user is None and may_create:
            user = await self._create_holder(email)
        if user is None or email == LOCAL_EMAIL:
            raise UnauthenticatedError(
                "The token is valid, but its person has no account here.",
                hint="The owner of this drive makes one with `drive-agent user add EMAIL`.",
            )
        refuse_disabled(user.disabled_at)
        return Principal(
            user_id=user.id,
            email=user.email,
            scopes=claims.scopes,
            method=TOKEN_METHOD,
            key_name=claims.client,
            expires_at=claims.expires_at,
            name=user.name,
            time_zone=user.time_zone,
            language=user.language,
        )

    async def _create_holder(self, email: str) -> UserRow | None:
        if email == LOCAL_EMAIL:
            return None

        async def work(session: AsyncSession) -> UserRow | None:
            return await find_user(session, email) or await add_user(session, email, self._clock())

        return await self._database.change(work)

    async def _make_local_token(self) -> tuple[User, str]:
        # All of it inside one write transaction, the file too, so that two processes that start at once agree.
        async with self._database.write() as session:
            now = self._clock()
            user = await find_user(session, LOCAL_EMAIL) or await add_user(session, LOCAL_EMAIL, now, is_admin=True)
            written = await to_thread.run_sync(read_token, self._token_path)
            if written is not None and await is_local_token(session, user.id, written):
                return to_user(user), written
            await session.execute(update(ApiKeyRow).where(*living_local_tokens(user.id)).values(revoked_at=now))
            secret = new_secret()
            session.add(key_row(user.id, LOCAL_KEY_NAME, ALL_SCOPES, secret, now, method=LOCAL_METHOD))
            await session.flush()
            await to_thread.run_sync(write_token, self._token_path, secret)
        return to_user(user), secret


def require_program(principal: Principal) -> Principal:
    """Return the principal. Raises `UnauthenticatedError` for a browser's session."""
    if principal.method == SESSION_METHOD:
        raise not_valid("A browser's session is no key: create an API key for a program.")
    return principal


def named_user(user: str) -> ColumnElement[bool]:
    """Return the condition for the account that an email or an id names."""
    if "\0" in user:  # no name has it, and PostgreSQL refuses a statement with it
        return false()
    return UserRow.email == normalise_email(user) if "@" in user else UserRow.id == user


async def find_user(session: "AsyncSession", email: str) -> UserRow | None:
    """Return the account with this address, in its stored form."""
    return await session.scalar(select(UserRow).where(UserRow.email == email))


async def add_user(session: "AsyncSession", email: str, now: "datetime", *, is_admin: bool = False) -> UserRow:
    """Make an account with an empty drive."""
    user = UserRow(id=new_id(), email=email, root_id=new_id(), is_admin=is_admin, created_at=now)
    values = {"owner_id": user.id, "named_by": user.id, "created_at": now, "updated_at": now}
    root = NodeRow(id=user.root_id, kind="folder", name="", **values)
    for row in (user, root):
        session.add(row)
        await session.flush()
    return user


def to_user(row: UserRow) -> User:
    """Return the account as services answer it."""
    profile = {"name": row.name, "time_zone": row.time_zone, "language": row.language}
    return User(row.id, row.email, row.root_id, row.is_admin, row.created_at, row.disabled_at, **profile)
