"""Sign-in requests of hosts, which a person answers on a page; nobody ever sees the secret of the key."""

import asyncio
import logging
import unicodedata
from base64 import b32encode
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

import anyio
from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.signing import Signer
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.security import record
from drive_server.models.access import ApiKey
from drive_server.services.identity.keys import (
    expiry,
    key_row,
    maker_of,
    new_secret,
    parse_scopes,
    require_scopes,
    to_key,
)
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import ApiKeyRow, SignInRow

logger = logging.getLogger(__name__)

ANSWERED_WITHIN: Final = timedelta(minutes=10)
KEPT_FOR: Final = timedelta(hours=1)
LOOKED_EVERY_SECONDS: Final = 1.0
PURPOSE: Final = "sign-in"
CODE_PURPOSE: Final = "sign-in code"
CODE_CHARACTERS: Final = 4
MAX_NAME_CHARACTERS: Final = 60
NAMELESS: Final = "MCP host"


@dataclass(frozen=True, slots=True)
class SignIn:
    """A host's request to sign in. `client_name` is the host's own name for itself; `url` is the page for a person.

    The page and the host show `code`, so that nobody accepts a stranger's request. `key_id` is the key made on a yes.
    """

    id: str
    client_name: str
    url: str
    code: str
    expires_at: datetime
    key_id: str | None = None
    is_declined: bool = False


class SignInService:
    """Manages sign-in requests: a person answers one once, within ten minutes, and every process sees the answer."""

    def __init__(
        self,
        database: Database,
        signer: Signer,
        public_url: str,
        clock: Clock = utc_now,
        looked_every_seconds: float = LOOKED_EVERY_SECONDS,
    ) -> None:
        self._database = database
        self._signer = signer
        self._public_url = public_url
        self._clock = clock
        self._looked_every = looked_every_seconds
        self._watches: set[asyncio.Task[None]] = set()

    async def ask(self, client_name: str) -> SignIn:
        """Make a request for a host that gives itself this name."""
        now = self._clock()
        row = SignInRow(
            id=new_id(), client_name=clean_client_name(client_name), created_at=now, expires_at=now + ANSWERED_WITHIN
        )

        async def work(session: AsyncSession) -> None:
            session.add(row)

        await self._database.change(work)
        return self._to_sign_in(row)

    async def state(self, sign_in_id: str) -> SignIn | None:
        """Return the request as it is now, for the session that made it; None if nobody can answer it any more."""
        row = await self._database.look(lambda session: session.get(SignInRow, sign_in_id))
        is_over = row is None or (row.key_id is None and row.expires_at <= self._clock())
        return None if row is None or is_over else self._to_sign_in(row)

    def when_answered(self, sign_in_id: str, notify: Callable[[], Awaitable[None]]) -> None:
        """Call `notify` once a person has agreed or declined, in any process; not if the request expires first."""
        watch = asyncio.create_task(self._watch(sign_in_id, notify), name="drive-sign-in")
        self._watches.add(watch)
        watch.add_done_callback(self._watched)

    async def idle(self) -> None:
        """Wait until no answer is looked for any more."""
        while self._watches:
            await asyncio.wait(self._watches)

    async def close(self) -> None:
        """Stop looking for answers."""
        for watch in self._watches:
            watch.cancel()
        with anyio.CancelScope(shield=True):
            await self.idle()

    async def open(self, token: str) -> SignIn:
        """Return the request of a page's address, while it waits for an answer. Raises `NotFoundError` for others."""

        async def work(session: AsyncSession) -> SignIn:
            return self._to_sign_in(await self._waiting(session, token))

        return await self._database.look(work)

    async def accept(self, actor: Actor, token: str, scopes: Iterable[str], days: int) -> ApiKey:
        """Let the host in, in the caller's name, with a key for `days` days that the caller can revoke.

        It has no scope that the caller lacks, and ends no later than the caller's own credential. Raises
        `NotFoundError` as `open` does, `MissingScopeError`, `InvalidInputError` for scopes or days that do not exist.
        """
        granted = parse_scopes(scopes)
        require_scopes(actor.principal, granted)
        now = self._clock()
        ends = expiry(actor.principal, days, now)

        async def work(session: AsyncSession) -> ApiKeyRow:
            row = await self._waiting(session, token)
            # Nobody gets the secret: the session is known by the key's id, in the database alone.
            key = key_row(actor.user_id, row.client_name, granted, new_secret(), now)
            key.expires_at = ends
            key.opened_by = maker_of(actor.principal)
            session.add(key)
            row.key_id = key.id
            return key

        key = await self._database.change(work)
        record("program_let_in", "done", actor=actor.user_id, key=key.id, scopes=" ".join(key.scopes))
        return to_key(key)

    async def decline(self, token: str) -> None:
        """Send the host away. Raises `NotFoundError` as `open` does."""

        async def work(session: AsyncSession) -> None:
            row = await self._waiting(session, token)
            row.declined_at = self._clock()

        await self._database.change(work)

    async def remove_expired(self) -> int:
        """Remove the requests that were over an hour ago; return how many. Their keys stay."""
        over = delete(SignInRow).where(SignInRow.expires_at <= self._clock() - KEPT_FOR)
        found = await self._database.change(lambda session: session.execute(over))
        return found.rowcount  # pyright: ignore[reportAttributeAccessIssue] - a delete's result has it

    async def _watch(self, sign_in_id: str, notify: Callable[[], Awaitable[None]]) -> None:
        while (found := await self.state(sign_in_id)) is not None:
            if found.key_id is not None or found.is_declined:
                await notify()
                return
            await anyio.sleep(self._looked_every)

    def _watched(self, watch: asyncio.Task[None]) -> None:
        self._watches.discard(watch)
        if not watch.cancelled() and (error := watch.exception()):
            logger.error("Looking for the answer to a sign-in ended early.", exc_info=error)

    async def _waiting(self, session: AsyncSession, token: str) -> SignInRow:
        named = self._signer.verify(PURPOSE, token)
        row = await session.get(SignInRow, named.hex()) if named else None
        if row is None or row.key_id is not None or row.declined_at is not None or row.expires_at <= self._clock():
            raise NotFoundError(
                "There is no such request to sign in, or it is over.",
                hint="Go back to the program that wanted to sign in, and try there again.",
            )
        return row

    def _to_sign_in(self, row: SignInRow) -> SignIn:
        return SignIn(
            id=row.id,
            client_name=row.client_name,
            url=f"{public_address(self._public_url)}/connect/{self._signer.sign(PURPOSE, bytes.fromhex(row.id))}",
            code=self._code(row.id),
            expires_at=row.expires_at,
            key_id=row.key_id,
            is_declined=row.declined_at is not None,
        )

    def _code(self, sign_in_id: str) -> str:
        signed = self._signer.sign(CODE_PURPOSE, bytes.fromhex(sign_in_id))
        letters = b32encode(sha256(signed.encode()).digest()).decode()
        return f"{letters[:CODE_CHARACTERS]}-{letters[CODE_CHARACTERS : 2 * CODE_CHARACTERS]}"


def clean_client_name(name: str) -> str:
    """Return the name in one line of printable characters; direction overrides and the like are not."""
    line = "".join(character if character.isprintable() else " " for character in unicodedata.normalize("NFC", name))
    return " ".join(line.split())[:MAX_NAME_CHARACTERS].strip() or NAMELESS
