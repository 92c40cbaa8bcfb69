"""An authenticator in software: makes passkeys without attestation, and signs with them, as a browser's JSON."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from secrets import token_bytes
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, WITH_KEY = 0x01, 0x04, 0x40
COORDINATE_BYTES = 32


def encode(raw: bytes) -> str:
    """Return base64url without padding."""
    return urlsafe_b64encode(raw).decode().rstrip("=")


def decode(text: str) -> bytes:
    """Return the bytes of base64url."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Authenticator:
    """Has one passkey; `counter` is that of its signatures, and `origin` the page that asks."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.counter = 0
        self.id = token_bytes(16)
        self.user = b""
        self._key = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return RegistrationResponseJSON."""
        self.user = decode(options["user"]["id"])
        numbers = self._key.public_key().public_numbers()
        x, y = (number.to_bytes(COORDINATE_BYTES, "big") for number in (numbers.x, numbers.y))
        key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + key
        data = self._data(options["rp"]["id"], WITH_KEY) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", options["challenge"])
        return self._json({"clientDataJSON": encode(client), "attestationObject": encode(attestation)})

    def sign(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return AuthenticationResponseJSON."""
        self.counter += 1
        data, client = self._data(options["rpId"]), self._client("webauthn.get", options["challenge"])
        signature = self._key.sign(data + sha256(client).digest(), ec.ECDSA(SHA256()))
        parts = {"authenticatorData": data, "clientDataJSON": client, "signature": signature, "userHandle": self.user}
        return self._json({name: encode(part) for name, part in parts.items()})

    def _data(self, host: str, flags: int = 0) -> bytes:
        head = sha256(host.encode()).digest() + bytes([PRESENT | VERIFIED | flags])
        return head + self.counter.to_bytes(4, "big")

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}).encode()

    def _json(self, response: dict[str, str]) -> dict[str, Any]:
        shown = encode(self.id)
        others = {"authenticatorAttachment": "platform", "clientExtensionResults": {}}
        return {"id": shown, "rawId": shown, "type": "public-key", "response": response, **others}
