"""Challenges that a passkey signs: each counts once, for a few minutes.

They are signed by the drive, so that nobody fills its memory, or uses up those of others, by asking for many.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from secrets import token_bytes
from typing import Final

import anyio

from drive_server.kernel.clock import Clock
from drive_server.kernel.errors import DriveError, RateLimitError
from drive_server.kernel.sql.database import Database
from drive_server.services.throttles.windows import window_of

NONCE_BYTES: Final = 32
HOLDS_FOR: Final = timedelta(minutes=5)
PURPOSE: Final = "passkey challenge"
_TIME_BYTES: Final = 8


class Challenges:
    """Makes and takes challenges. Those that were used are noted until they end, for all processes of the drive."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._signer = database.signer
        self._clock = clock
        self._used = window_of(database, PURPOSE, 1, PURPOSE, HOLDS_FOR.total_seconds())

    def create(self, purpose: str) -> bytes:
        """Return a new challenge."""
        ends = int((self._clock() + HOLDS_FOR).timestamp())
        payload = token_bytes(NONCE_BYTES) + ends.to_bytes(_TIME_BYTES, "big")
        return self._signer.sign(f"{PURPOSE} {purpose}", payload).encode()

    @asynccontextmanager
    async def taken(self, challenge: bytes, purpose: str, refusal: DriveError) -> AsyncGenerator[None]:
        """Use the challenge up, unless the block fails. Raises `refusal` for one that does not hold for the purpose."""
        if self._end_of(challenge, purpose) <= self._clock().timestamp():
            raise refusal
        key, is_used = challenge.decode("ascii"), False
        try:
            place = await self._used.take(key)
        except RateLimitError as error:
            raise refusal from error
        try:
            yield
            is_used = True
        finally:
            # So only those who have a passkey take up memory.
            with anyio.CancelScope(shield=True):
                await self._used.settle(key, place, counts=is_used)

    def _end_of(self, challenge: bytes, purpose: str) -> float:
        payload = self._signer.verify(f"{PURPOSE} {purpose}", challenge.decode("ascii", "replace"))
        return int.from_bytes(payload[NONCE_BYTES:], "big") if payload else 0
