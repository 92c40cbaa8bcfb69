"""Challenges that a passkey signs: each counts once, for a few minutes.

They are signed by the drive, so that nobody fills its memory, or uses up those of others, by asking for many.
"""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from secrets import token_bytes
from typing import Final

from drive_server.clock import Clock
from drive_server.errors import DriveError
from drive_server.signing import Signer

NONCE_BYTES: Final = 32
HOLDS_FOR: Final = timedelta(minutes=5)
PURPOSE: Final = "passkey challenge"
_TIME_BYTES: Final = 8


class Challenges:
    """Makes and takes challenges. Those that were used are in memory until they end."""

    def __init__(self, signer: Signer, clock: Clock) -> None:
        self._signer = signer
        self._clock = clock
        self._used: dict[bytes, float] = {}

    def create(self, purpose: str) -> bytes:
        """Return a new challenge."""
        ends = int((self._clock() + HOLDS_FOR).timestamp())
        payload = token_bytes(NONCE_BYTES) + ends.to_bytes(_TIME_BYTES, "big")
        return self._signer.sign(f"{PURPOSE} {purpose}", payload).encode()

    @contextmanager
    def taken(self, challenge: bytes, purpose: str, refusal: DriveError) -> Generator[None]:
        """Use the challenge up, unless the block fails. Raises `refusal` for one that does not hold for the purpose."""
        ends, now = self._end_of(challenge, purpose), self._clock().timestamp()
        if ends <= now or challenge in self._used:
            raise refusal
        self._used = {used: end for used, end in self._used.items() if end > now}
        self._used[challenge] = ends
        try:
            yield
        except BaseException:
            # So only those who have a passkey take up memory here.
            self._used.pop(challenge, None)
            raise

    def _end_of(self, challenge: bytes, purpose: str) -> float:
        payload = self._signer.verify(f"{PURPOSE} {purpose}", challenge.decode("ascii", "replace"))
        return int.from_bytes(payload[NONCE_BYTES:], "big") if payload else 0
