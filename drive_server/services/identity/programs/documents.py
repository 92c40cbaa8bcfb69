"""Client ID Metadata Documents: a program's id is the https address at which it describes itself.

MCP 2025-11-25, authorization; draft-ietf-oauth-client-id-metadata-document.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx
import orjson
from anyio import to_thread

from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import InvalidInputError, RateLimitError, UnavailableError
from drive_server.kernel.http_client import public_client
from drive_server.kernel.messages import Message
from drive_server.kernel.rate_limiter import RateLimiter

logger = logging.getLogger(__name__)

FETCH_WITHIN_SECONDS: Final = 5.0
MAX_BYTES: Final = 16 * 1024
FRESH_FOR: Final = timedelta(hours=1)
HELD_FOR: Final = timedelta(days=1)
MAX_DOCUMENTS: Final = 200
OF_A_HOST: Final = 10
IN_ALL: Final = 300
"""Fetches in a minute, of one process: everybody may have the drive fetch a document, by an address of their choice."""
OK: Final = 200
PUBLIC_CLIENT: Final = partial(public_client, MAX_BYTES, timeout=FETCH_WITHIN_SECONDS, follow_redirects=False)
HTTPS_PORT: Final = 443


def is_document_address(client_id: str) -> bool:
    """Return whether the id is an address that a document may have: by https, with a path, and with nothing else."""
    if not client_id.startswith("https://") or not client_id.isascii() or not client_id.isprintable():
        return False
    try:
        parts = urlsplit(client_id)
        is_plain = parts.port in {None, HTTPS_PORT} and parts.username is None and not parts.fragment
    except ValueError:
        return False
    has_dots = any(segment in {".", ".."} for segment in parts.path.split("/"))
    return is_plain and bool(parts.hostname) and parts.path not in {"", "/"} and not has_dots and " " not in client_id


class ClientDocuments:
    """Fetches the documents, from public addresses only, and keeps each for an hour; for a day if its site is away."""

    def __init__(
        self,
        make_client: Callable[[], httpx.AsyncClient] = PUBLIC_CLIENT,
        clock: Clock = utc_now,
    ) -> None:
        self._make_client = make_client
        self._clock = clock
        self._client: httpx.AsyncClient | None = None
        self._documents: OrderedDict[str, tuple[datetime, dict[str, Any]]] = OrderedDict()
        reason = Message.of("too_many_documents")
        self._of_host, self._in_all = RateLimiter(OF_A_HOST, reason), RateLimiter(IN_ALL, reason)

    async def get(self, address: str) -> dict[str, Any]:
        """Return the document at the address.

        Raises `InvalidInputError` for one that is none, or another program's, and `UnavailableError` if there is none
        to be had, or too many were asked for.
        """
        found = self._documents.get(address)
        age = self._clock() - found[0] if found is not None else None
        if found is not None and age is not None and age < FRESH_FOR:
            return found[1]
        try:
            document = await self._fetch(address)
        except UnavailableError:
            if found is None or age is None or age >= HELD_FOR:
                raise
            return found[1]  # a site that is away for a while must not end people's grants
        if document.get("client_id") != address:
            raise InvalidInputError(Message.of("bad_client_document"))
        self._documents[address] = self._clock(), document
        self._documents.move_to_end(address)
        if len(self._documents) > MAX_DOCUMENTS:
            self._documents.popitem(last=False)
        return document

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _fetch(self, address: str) -> dict[str, Any]:
        host = urlsplit(address).hostname or ""
        try:
            self._of_host.take(host)
            self._in_all.take("")
            with anyio.fail_after(FETCH_WITHIN_SECONDS):
                content = await self._get(address)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError, RateLimitError) as error:
            logger.warning("The document of the program at %s can't be had: %s", host, error)
            raise UnavailableError(Message.of("no_client_document")) from error
        try:
            document = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise InvalidInputError(Message.of("bad_client_document")) from error
        if not isinstance(document, dict):
            raise InvalidInputError(Message.of("bad_client_document"))
        return document

    async def _get(self, address: str) -> bytes:
        if self._client is None:
            # Reading the certificates of the system takes tens of milliseconds.
            self._client = await to_thread.run_sync(self._make_client)
        response = await self._client.get(address, headers={"Accept": "application/json"})
        if response.status_code != OK:
            raise httpx.HTTPError(f"it answers {response.status_code}")
        return response.content
