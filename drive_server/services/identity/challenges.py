"""Challenges that a passkey signs: each counts once, for a few minutes, in this process."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_bytes
from typing import Final

from drive_server.clock import Clock

CHALLENGE_BYTES: Final = 32
HOLDS_FOR: Final = timedelta(minutes=5)
MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Waiting:
    purpose: str
    expires_at: datetime


class Challenges:
    """Makes and takes challenges. They are in memory: none survives the process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: OrderedDict[bytes, _Waiting] = OrderedDict()

    def create(self, purpose: str) -> bytes:
        """Return a new challenge; of too many, the oldest gives way."""
        challenge = token_bytes(CHALLENGE_BYTES)
        self._waiting[challenge] = _Waiting(purpose, self._clock() + HOLDS_FOR)
        while len(self._waiting) > MOST or self._is_over(next(iter(self._waiting.values()))):
            self._waiting.popitem(last=False)
        return challenge

    def take(self, challenge: bytes, purpose: str) -> bool:
        """Use the challenge up; return whether it was waiting for this purpose."""
        found = self._waiting.pop(challenge, None)
        return found is not None and found.purpose == purpose and not self._is_over(found)

    def _is_over(self, waiting: _Waiting) -> bool:
        return waiting.expires_at <= self._clock()
