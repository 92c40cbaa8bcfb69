"""The operator's address for webhooks, and the signature of the requests to it (Standard Webhooks 1.0)."""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the beginning of every secret of this kind


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """The address of the requests, and the secret that signs them."""

    url: str
    secret: bytes


def target_of(url: str, secret: str) -> WebhookTarget | None:
    """Return the target of the settings, None without a URL. A secret `whsec_...` is base64; any other is text.

    Raises `ValueError` for a URL without a secret, a URL that is not http(s), and invalid base64.
    """
    if not url:
        return None
    if not secret:
        raise ValueError("AGENT_WEBHOOK_URL needs AGENT_WEBHOOK_SECRET: without one nobody can tell who is calling")
    if not url.startswith(("https://", "http://")):
        raise ValueError("AGENT_WEBHOOK_URL has to begin with https:// or http://")
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True) if _is_base64(secret) else b""
    except binascii.Error as error:
        raise ValueError("AGENT_WEBHOOK_SECRET begins with whsec_, and what follows is no base64") from error
    return WebhookTarget(url, key or secret.encode())


def _is_base64(secret: str) -> bool:
    return secret.startswith(SECRET_PREFIX)


def signature(secret: bytes, webhook_id: str, timestamp: int, body: bytes) -> str:
    """Return the header's value: HMAC-SHA256 over id, timestamp (Unix seconds) and body, with dots between."""
    signed = b"%s.%d.%s" % (webhook_id.encode(), timestamp, body)
    return f"v1,{base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()}"
