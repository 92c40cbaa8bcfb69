"""Passwords: proved, changed with the old one, and set anew by an address that holds once."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import anyio
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import ALL_SCOPES, Actor, Principal, require_admin, require_person
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import ForbiddenError, InvalidInputError, NotFoundError, UnauthenticatedError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.security import record, record_refusal
from drive_server.services.identity.emails import normalise_email
from drive_server.services.identity.keys import digest, require_scopes
from drive_server.services.identity.login_links import LoginLink
from drive_server.services.identity.proofs.known_browsers import KnownBrowsers
from drive_server.services.identity.service import IdentityService, find_user, named_user
from drive_server.services.identity.sessions import SessionService, revoke_sessions
from drive_server.services.mail.outbox import MailText, Outbox
from drive_server.services.throttles.attempts import Attempts
from drive_server.services.throttles.windows import window_of
from drive_server.storage.tables.people import UserRow

if TYPE_CHECKING:
    from argon2 import PasswordHasher

METHOD: Final = "password"
PAGE: Final = "/password"
PURPOSE: Final = "password"
MIN_CHARACTERS: Final = 12
MAX_CHARACTERS: Final = 256
MAILED_FOR: Final = timedelta(hours=1)
GIVEN_FOR: Final = timedelta(days=1)
MAX_WRONG: Final = 10
"""Wrong passwords of one network, and of one browser that is known, in a minute."""
MAX_WRONG_OF_AN_ACCOUNT: Final = 20
"""Wrong passwords of one account in a minute, from wherever they come but its known browsers."""
HASHES_AT_ONCE: Final = 2
"""Each takes 64 MiB for a moment."""
ID_BYTES: Final = 16
TIME_BYTES: Final = 8
FINGERPRINT_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a password: the network that it comes from, and the cookie of a known browser, if it has one."""

    network: str = ""
    browser: str = ""


@dataclass(frozen=True, slots=True)
class _Reset:
    user_id: str
    expires_at: datetime
    fingerprint: bytes


class PasswordService:
    """Checks and sets passwords. A wrong password tells neither by words nor by time whether there is an account.

    Wrong passwords are limited for a network and for an account. Strangers don't lock a person out: a browser in which
    that person has logged in before has a limit of its own.
    """

    def __init__(
        self,
        database: Database,
        identity: IdentityService,
        sessions: SessionService,
        outbox: Outbox,
        public_url: str,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._identity = identity
        self._sessions = sessions
        self._outbox = outbox
        self._public_url = public_url
        self._clock = clock
        self._strangers = anyio.CapacityLimiter(HASHES_AT_ONCE)
        # Its own thread: who is known does not wait behind strangers who guess.
        self._known = anyio.CapacityLimiter(1)
        self._nobodys = ""
        attacked, wrong = Message.of("account_under_attack"), Message.of("too_many_wrong_passwords")
        self._networks = Attempts(window_of(database, "passwords of a network", MAX_WRONG, wrong))
        self._accounts = Attempts(window_of(database, "passwords of an account", MAX_WRONG_OF_AN_ACCOUNT, attacked))
        self._browsers = Attempts(window_of(database, "passwords of a browser", MAX_WRONG, wrong))
        self._known_browsers = KnownBrowsers(database.signer, clock)
        outbox.texts[PURPOSE] = self._mail_text

    @cached_property
    def _hasher(self) -> "PasswordHasher":
        # Imported late: a command that checks no password starts without it.
        from argon2 import PasswordHasher

        return PasswordHasher()

    async def verify(self, email: str, password: str, source: Source = Source()) -> Principal:
        """Return the owner of the password, with all scopes.

        Raises `UnauthenticatedError` for a wrong one and for who has none, `RateLimitError` after too many of them, and
        `AccountDisabledError` for who has the right one and was disabled.
        """
        address = _address(email)
        async with self._database.read() as session:
            user = await find_user(session, address)
        number = self._known_browsers.number(source.browser, user.id, _fingerprint(user)) if user else None
        # Before the check: many at once are as many attempts.
        if number is not None:
            async with self._browsers.attempt(number):
                return await self._proved(user, password, self._known)
        async with self._networks.attempt(source.network), self._accounts.attempt(digest(address)):
            return await self._proved(user, password, self._strangers)

    async def know_browser(self, user_id: str, before: str = "") -> tuple[str, datetime]:
        """Return the cookie of a browser in which the person has logged in, and when it ends."""
        row = await self._database.look(lambda session: session.get_one(UserRow, user_id))
        return self._known_browsers.cookie(user_id, _fingerprint(row), before)

    async def has_one(self, user_id: str) -> bool:
        """Return whether the person has a password."""

        async def work(session: AsyncSession) -> bool:
            return (await session.get_one(UserRow, user_id)).password_hash is not None

        return await self._database.look(work)

    async def change(self, actor: Actor, new: str, old: str | None, session_secret: str = "") -> None:
        """Set the caller's password; their browsers but the one that asks are logged out.

        Raises `UnauthenticatedError` unless `old` is the one before, `InvalidInputError` for a short one. A person
        without one sets the first with a fresh proof of all scopes that does not end (`FreshProofNeededError`,
        `ForbiddenError`, `MissingScopeError`).
        """
        require_person(actor.principal)
        require_scopes(actor.principal, ALL_SCOPES)
        checked = _checked(new, actor.principal.email)
        row = await self._database.look(lambda session: session.get_one(UserRow, actor.user_id))
        if row.password_hash is not None:
            await self.verify_own(actor.principal, old or "")
        elif not await self._identity.lasts(actor.principal):
            raise ForbiddenError(Message.of("key_ends"))
        else:
            self._identity.require_fresh(actor.principal)
        await self._set(row.id, checked, row.password_hash, but=session_secret)

    async def verify_own(self, caller: Principal, password: str) -> Principal:
        """Return the proof of a caller who is logged in and gives their password; raises as `verify` does.

        Wrong ones that strangers give for the account don't count here.
        """
        async with self._database.read() as session:
            user = await session.get(UserRow, caller.user_id)
        try:
            async with self._browsers.attempt(f"{caller.user_id} {caller.key_id}"):
                return await self._proved(user, password, self._known)
        except UnauthenticatedError as error:
            record_refusal("sign_in", error.code, actor=caller.user_id, method=METHOD)
            raise

    async def reset_link(self, actor: Actor, user: str) -> LoginLink:
        """Return an address with which a person, named by id or email, sets a new password. For administrators."""
        require_admin(actor.principal)
        self._identity.require_fresh(actor.principal)
        row = await self._database.look(
            lambda session: session.scalar(select(UserRow).where(named_user(user), UserRow.removed_at.is_(None)))
        )
        if row is None:
            raise NotFoundError(Message.of("no_user"))
        return self._link(row, GIVEN_FOR)

    async def mail_reset(self, email: str) -> None:
        """Mail such an address to who has an account, at most one in five minutes."""

        async def work(session: AsyncSession) -> None:
            row = await find_user(session, _address(email))
            if row is not None and row.disabled_at is None:
                window = int(self._clock().timestamp()) // 300
                await self._outbox.put(session, row.id, PURPOSE, {}, f"{PURPOSE} {row.id} {window}")

        await self._database.change(work)
        self._outbox.wake()

    async def find(self, token: str) -> str:
        """Return the email of who sets a password with this address. Raises `NotFoundError` if it holds no more."""
        return (await self._holder(token)).email

    async def reset(self, token: str, new: str) -> Principal:
        """Use an address up: set the password, log all browsers out, and return who it is. Raises as `find` does."""
        row = await self._holder(token)
        await self._set(row.id, _checked(new, row.email), row.password_hash)
        return await self._identity.person(row.id, METHOD)

    async def _proved(self, user: UserRow | None, password: str, thread: anyio.CapacityLimiter) -> Principal:
        self._nobodys = self._nobodys or await self._run(thread, self._hasher.hash, "nobody has this password")
        stored = user.password_hash if user is not None else None
        is_right = await self._run(thread, self._is_right, stored or self._nobodys, _clean(password))
        if user is None or stored is None or not is_right:
            raise UnauthenticatedError(Message.of("wrong_password"))
        return await self._identity.person(user.id, METHOD)

    async def _set(self, user_id: str, password: str, before: str | None, but: str = "") -> None:
        """Set it if it is still as it was before: an address holds once, also when it is used twice at once."""
        hashed = await self._run(self._known, self._hasher.hash, password)
        unchanged = UserRow.password_hash.is_(None) if before is None else UserRow.password_hash == before

        async def work(session: AsyncSession) -> None:
            done = update(UserRow).where(UserRow.id == user_id, unchanged).values(password_hash=hashed)
            if not (await session.execute(done)).rowcount:  # pyright: ignore[reportAttributeAccessIssue] - an update's result has it
                raise NotFoundError(Message.of("no_reset"))
            await revoke_sessions(session, user_id, self._clock(), but)

        await self._database.change(work)
        record("password_set", "done", actor=user_id)
        await self._sessions.on_revoked()

    def _link(self, row: UserRow, holds_for: timedelta) -> LoginLink:
        ends = self._clock() + holds_for
        payload = bytes.fromhex(row.id) + int(ends.timestamp()).to_bytes(TIME_BYTES, "big") + _fingerprint(row)
        token = self._database.signer.sign(PURPOSE, payload)
        return LoginLink(f"{public_address(self._public_url)}{PAGE}/{token}", ends)

    async def _holder(self, token: str) -> UserRow:
        reset = _read(self._database.signer.verify(PURPOSE, token))

        async def work(session: AsyncSession) -> UserRow | None:
            return await session.get(UserRow, reset.user_id) if reset and reset.expires_at > self._clock() else None

        row = await self._database.look(work)
        if row is None or reset is None or row.disabled_at is not None or _fingerprint(row) != reset.fingerprint:
            raise NotFoundError(Message.of("no_reset"))
        return row

    async def _mail_text(self, user_id: str, params: Mapping[str, Any]) -> MailText | None:
        del params
        row = await self._database.look(lambda session: session.get_one(UserRow, user_id))
        url = self._link(row, MAILED_FOR).url
        return MailText(Message.of("mail.password.subject"), Message.of("mail.password", url=url), url)

    def _is_right(self, stored: str, password: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _run(self, thread: anyio.CapacityLimiter, function: Any, *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(function, *arguments, limiter=thread)


def _read(payload: bytes | None) -> _Reset | None:
    if payload is None or len(payload) != ID_BYTES + TIME_BYTES + FINGERPRINT_BYTES:
        return None
    seconds = int.from_bytes(payload[ID_BYTES : ID_BYTES + TIME_BYTES], "big")
    return _Reset(payload[:ID_BYTES].hex(), datetime.fromtimestamp(seconds, UTC), payload[ID_BYTES + TIME_BYTES :])


def _fingerprint(row: UserRow) -> bytes:
    """Return a fingerprint that changes with the password, so that an address holds once."""
    return sha256((row.password_hash or "").encode()).digest()[:FINGERPRINT_BYTES]


def _address(email: str) -> str:
    try:
        return normalise_email(email)
    except InvalidInputError:
        return ""  # nobody's; it takes the same time


def _clean(password: str) -> str:
    return unicodedata.normalize("NFC", password)[:MAX_CHARACTERS]


def _checked(password: str, email: str) -> str:
    clean = unicodedata.normalize("NFC", password)
    is_plain = not any("\ud800" <= character <= "\udfff" for character in clean)
    if not MIN_CHARACTERS <= len(clean) <= MAX_CHARACTERS or not is_plain or clean.casefold() == email:
        raise InvalidInputError(Message.of("bad_password", least=MIN_CHARACTERS, most=MAX_CHARACTERS))
    return clean
