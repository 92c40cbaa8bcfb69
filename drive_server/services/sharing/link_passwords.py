"""Passwords of links: stored as scrypt, checked in a thread, with a limit on guesses in a minute."""

import hmac
import unicodedata
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Callable
from hashlib import scrypt, sha256
from secrets import token_bytes
from time import monotonic
from typing import Final

from anyio import CapacityLimiter, to_thread

from drive_server.kernel.errors import InvalidInputError, PasswordRequiredError
from drive_server.kernel.messages import Message
from drive_server.kernel.rate_limiter import network_of
from drive_server.kernel.sql.database import Database
from drive_server.services.throttles.attempts import Attempts
from drive_server.services.throttles.windows import window_of

MIN_CHARACTERS: Final = 8
MAX_CHARACTERS: Final = 128
GUESSES: Final = 10
MAX_VERIFIED: Final = 10_000
MAX_AT_ONCE: Final = 2
# 16 MiB of memory and some 40 ms for each guess (RFC 7914, section 2).
COST: Final = {"n": 1 << 14, "r": 8, "p": 1}
SALT_BYTES: Final = 16
KEY_BYTES: Final = 32


class LinkPasswords:
    """Hashes and checks passwords. An address has ten wrong ones for a link in a minute, then none until it is over.

    Another address is not held up by them: a visitor with the right password gets in while others guess.
    """

    def __init__(self, clock: Callable[[], float] = monotonic, database: Database | None = None) -> None:
        reason = Message.of("too_many_link_guesses")
        window = window_of(database, "passwords of a link", GUESSES, reason, clock=clock)
        self._guesses = Attempts(window, PasswordRequiredError)
        # Who sends the password with every request is not to wait for each, nor for others who guess.
        self._verified: OrderedDict[bytes, None] = OrderedDict()
        self._key = token_bytes(KEY_BYTES)
        # Its own few threads: guessing must not take those that everything else needs.
        self._threads = CapacityLimiter(MAX_AT_ONCE)

    async def hash(self, password: str) -> str:
        """Return the stored form of a password. Raises `InvalidInputError` for one that is too short or too long."""
        if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS or not _is_text(password):
            raise InvalidInputError(Message.of("link_password", least=MIN_CHARACTERS, most=MAX_CHARACTERS))
        salt = token_bytes(SALT_BYTES)
        return f"scrypt${b64encode(salt).decode()}${b64encode(await self._derive(password, salt)).decode()}"

    async def digest(self, password: str, salt: str) -> str:
        """Return a digest that tells passwords apart in the record of a call, and is as slow to guess as the hash."""
        return (await self._derive(password, sha256(salt.encode(errors="replace")).digest())).hex()

    async def check(self, link_id: str, stored_hash: str, password: str, address: str = "") -> None:
        """Raise `PasswordRequiredError` unless it is the password, `RateLimitError` after too many that were not."""
        guess = password if len(password) <= MAX_CHARACTERS and _is_text(password) else ""
        proof = hmac.digest(self._key, f"{stored_hash} {guess}".encode(), "sha256")
        if proof in self._verified:
            return
        # Count the guess before it is known to be wrong: many at once would all be under the limit.
        async with self._guesses.attempt(f"{link_id} {network_of(address)}"):
            _, salt, derived = stored_hash.split("$")
            if not hmac.compare_digest(await self._derive(guess, b64decode(salt)), b64decode(derived)):
                raise wrong_password()
        self._verified[proof] = None
        if len(self._verified) > MAX_VERIFIED:
            self._verified.popitem(last=False)

    async def _derive(self, password: str, salt: bytes) -> bytes:
        encoded = unicodedata.normalize("NFC", password).encode(errors="replace")
        return await to_thread.run_sync(lambda: scrypt(encoded, salt=salt, **COST), limiter=self._threads)


def wrong_password() -> PasswordRequiredError:
    """Return the error for a link that asks for a password, whether none came or a wrong one."""
    return PasswordRequiredError(
        "This link asks for a password.", hint="Send the right one, or ask whoever gave you the link for it."
    )


def _is_text(password: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in password)
