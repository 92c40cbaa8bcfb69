"""Browsers in which a person logged in before: a signed cookie each, so that strangers can't lock the person out.

OWASP describes them as device cookies.
"""

from datetime import datetime, timedelta
from secrets import token_bytes
from typing import Final

from drive_server.kernel.clock import Clock
from drive_server.kernel.signing import Signer

PURPOSE: Final = "known browser"
KNOWN_FOR: Final = timedelta(days=365)
ID_BYTES: Final = 16
NONCE_BYTES: Final = 16
TIME_BYTES: Final = 8
MARK_BYTES: Final = 8
_LENGTH: Final = ID_BYTES + NONCE_BYTES + TIME_BYTES + MARK_BYTES


class KnownBrowsers:
    """Makes and reads the cookies. One holds for one account, until its password changes, for a year at most."""

    def __init__(self, signer: Signer, clock: Clock) -> None:
        self._signer = signer
        self._clock = clock

    def cookie(self, user_id: str, mark: bytes, before: str = "") -> tuple[str, datetime]:
        """Return the cookie for a browser in which the person has logged in, and when it ends.

        `mark` changes with the password. A browser that is known already keeps its number, so that logging in again
        gives it no more attempts.
        """
        number = self.number(before, user_id, mark)
        nonce = bytes.fromhex(number) if number else token_bytes(NONCE_BYTES)
        ends = self._clock() + KNOWN_FOR
        payload = bytes.fromhex(user_id) + nonce + int(ends.timestamp()).to_bytes(TIME_BYTES, "big") + mark
        return self._signer.sign(PURPOSE, payload), ends

    def number(self, cookie: str, user_id: str, mark: bytes) -> str | None:
        """Return the browser's number if it is known for this account, else None."""
        payload = self._signer.verify(PURPOSE, cookie) if cookie else None
        if payload is None or len(payload) != _LENGTH:
            return None
        nonce, rest = payload[ID_BYTES : ID_BYTES + NONCE_BYTES], payload[ID_BYTES + NONCE_BYTES :]
        is_theirs = payload[:ID_BYTES].hex() == user_id and rest[TIME_BYTES:] == mark
        ends = int.from_bytes(rest[:TIME_BYTES], "big")
        return nonce.hex() if is_theirs and ends > self._clock().timestamp() else None
