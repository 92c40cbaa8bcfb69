"""Signed tokens that come back unchanged: cursors, links, download addresses. Not encrypted."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from hashlib import sha256

SIGNATURE_BYTES = 16


class Signer:
    """Signs with HMAC-SHA-256 (RFC 2104), cut to 128 bits. A token of one purpose is none of another."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, purpose: str, payload: bytes) -> str:
        """Return a token for the payload."""
        return urlsafe_b64encode(payload + self._signature(purpose, payload)).decode().rstrip("=")

    def verify(self, purpose: str, token: str) -> bytes | None:
        """Return the payload of a token that was signed for this purpose, None for any other text."""
        try:
            data = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
        except (UnicodeEncodeError, Base64Error):
            return None
        payload, signature = data[:-SIGNATURE_BYTES], data[-SIGNATURE_BYTES:]
        is_ours = hmac.compare_digest(signature, self._signature(purpose, payload))
        # Base64 has several spellings of the same bytes; only the one that was given out counts.
        return payload if is_ours and self.sign(purpose, payload) == token else None

    def _signature(self, purpose: str, payload: bytes) -> bytes:
        return hmac.new(self._key, purpose.encode() + b"\0" + payload, sha256).digest()[:SIGNATURE_BYTES]
