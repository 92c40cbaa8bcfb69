"""The public keys of an OpenID Connect issuer: discovered, fetched, cached, and fetched again when they rotate."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx
import orjson
from anyio import to_thread
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from drive_server.kernel.clock import Clock
from drive_server.kernel.errors import InvalidInputError, UnavailableError
from drive_server.kernel.http_client import limited_client
from drive_server.kernel.messages import Message

logger = logging.getLogger(__name__)

METADATA_PATH: Final = "/.well-known/openid-configuration"
FETCH_WITHIN_SECONDS: Final = 10
MAX_BYTES: Final = 512 * 1024
OK: Final = 200
MAX_KEYS: Final = 100
FRESH_FOR: Final = timedelta(hours=1)
FETCHED_EVERY: Final = timedelta(minutes=1)
RETRIED_EVERY: Final = timedelta(seconds=10)

RSA_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
ALGORITHMS: Final = {
    ("RSA", None): RSA_ALGORITHMS,
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
"""By type and curve of a key: the signatures that are taken. None is symmetric, so that no public key is a secret."""


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """A key of the issuer, for signatures by one algorithm."""

    key_id: str | None
    algorithm: str
    key: PyJWK


class IssuerKeys:
    """Caches the issuer's public keys for an hour, and fetches them again when a token names an unknown one."""

    def __init__(self, issuer: str, keys_url: str, clock: Clock) -> None:
        """Raise `InvalidInputError` for an address that is not https (or http on this machine)."""
        for url in (issuer, keys_url):
            if url and not is_safe_address(url):
                raise InvalidInputError(
                    "The issuer of tokens needs an https address.", hint="Correct DRIVE_JWT_ISSUER, DRIVE_JWT_KEYS_URL."
                )
        self._issuer = issuer
        self._keys_url = keys_url
        self._clock = clock
        self._lock = anyio.Lock()
        self._client: httpx.AsyncClient | None = None
        self._keys: tuple[IssuerKey, ...] = ()
        self._fetched_at: datetime | None = None
        self._failed_at: datetime | None = None

    async def find(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """Return the key of that id, None if the issuer has none for the algorithm.

        A token that names no key fits if the issuer has just one (RFC 7515, section 4.1.4). Raises `UnavailableError`
        if no keys are known and the issuer does not answer.
        """
        key = self._cached_key(key_id, algorithm)
        if key is None or self._is_older_than(FRESH_FOR):
            await self._refresh(is_needed=lambda: self._cached_key(key_id, algorithm) is None)
            key = self._cached_key(key_id, algorithm)
        return key

    async def metadata(self) -> dict[str, Any]:
        """Return the issuer's metadata (OpenID Connect Discovery 1.0, section 4).

        Raises `UnavailableError` if it does not answer, or says that it is another one.
        """
        try:
            with anyio.fail_after(FETCH_WITHIN_SECONDS):
                return await self._metadata()
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError, ValueError) as error:
            logger.warning("The issuer does not say how to log in: %s", error)
            raise UnavailableError(Message.of("no_issuer")) from error

    async def close(self) -> None:
        """Close the connections to the issuer."""
        if self._client is not None:
            await self._client.aclose()

    def _cached_key(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        fitting = [entry for entry in self._keys if entry.algorithm == algorithm]
        if key_id is None:
            return fitting[0].key if len(fitting) == 1 else None
        return next((entry.key for entry in fitting if entry.key_id == key_id), None)

    def _is_older_than(self, age: timedelta) -> bool:
        return self._fetched_at is None or self._clock() - self._fetched_at >= age

    async def _refresh(self, is_needed: Callable[[], bool]) -> None:
        async with self._lock:
            # Others may have fetched while this one waited.
            if not self._is_older_than(FETCHED_EVERY if is_needed() else FRESH_FOR):
                return
            if self._failed_at is not None and self._clock() - self._failed_at < RETRIED_EVERY:
                self._require_some()
                return
            try:
                self._keys = await self._fetch()
            except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError, ValueError) as error:
                self._failed_at = self._clock()
                logger.warning("The keys of the issuer can't be had: %s", error)
                self._require_some()
            else:
                self._fetched_at, self._failed_at = self._clock(), None

    def _require_some(self) -> None:
        if not self._keys:
            raise UnavailableError(
                "The issuer of this token can't be reached, so that it can't be checked.",
                hint="Try again in a minute; API keys work meanwhile.",
                details={"retry_after_seconds": int(RETRIED_EVERY.total_seconds())},
            )

    async def _fetch(self) -> tuple[IssuerKey, ...]:
        with anyio.fail_after(FETCH_WITHIN_SECONDS):
            document = await self._get(self._keys_url or await self._keys_address())
        listed = document.get("keys")
        if not isinstance(listed, list):
            raise ValueError("the document has no list of keys")  # noqa: TRY004 - the answer is wrong, not its use
        keys = tuple(key for entry in listed[:MAX_KEYS] for key in _usable(entry))
        if not keys:
            raise ValueError("no key of the document can be used")
        return keys

    async def _keys_address(self) -> str:
        """Return where the issuer says its keys are (OpenID Connect Discovery 1.0, section 4)."""
        address = (await self._metadata()).get("jwks_uri")
        if not isinstance(address, str) or not is_safe_address(address):
            raise ValueError("the metadata name no https address of keys")
        return address

    async def _metadata(self) -> dict[str, Any]:
        metadata = await self._get(self._issuer.rstrip("/") + METADATA_PATH)
        if metadata.get("issuer") != self._issuer:
            raise ValueError("the metadata are those of another issuer")
        return metadata

    async def _get(self, url: str) -> dict[str, Any]:
        if self._client is None:
            # Reading the certificates of the system takes tens of milliseconds.
            make = partial(limited_client, MAX_BYTES, timeout=FETCH_WITHIN_SECONDS, follow_redirects=False)
            self._client = await to_thread.run_sync(make)
        response = await self._client.get(url, headers={"Accept": "application/json"})
        if response.status_code != OK:
            raise ValueError(f"{url} answers {response.status_code}")
        document = orjson.loads(response.content)
        if not isinstance(document, dict):
            raise ValueError(f"{url} answers no JSON object")  # noqa: TRY004 - the answer is wrong, not its use
        return document


def is_safe_address(url: str) -> bool:
    """Return whether only the addressee can read data sent there: by https, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_this_machine(host)))


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _usable(entry: Any) -> list[IssuerKey]:
    """Return a JSON web key (RFC 7517) for each algorithm that it may check signatures of."""
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
        return []
    key_id, stated = entry.get("kid"), entry.get("alg")
    if not isinstance(key_id, str | None) or not isinstance(stated, str | None):
        return []
    curve = entry.get("crv") if isinstance(entry.get("crv"), str) else None
    possible = ALGORITHMS.get((str(entry.get("kty")), curve), ())
    try:
        return [
            IssuerKey(key_id, algorithm, PyJWK(entry, algorithm))
            for algorithm in possible
            if stated is None or stated == algorithm
        ]
    except (PyJWTError, ValueError):
        return []
