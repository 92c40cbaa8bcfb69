"""The connections to a service: as many at once as needed, open for the next request."""

import io
from collections.abc import AsyncGenerator, Mapping
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx

MAX_HEADER_CHARACTERS: Final = 64 * 1024
WRITTEN_AT_ONCE_BYTES: Final = 1024 * 1024
"""A longer request is written in pieces, so that the others get their turn between them."""
PROXY_SCHEMES: Final = frozenset({"http", "https"})


class Connections:
    """The connections that all requests of a process share; bound to the event loop of the first one."""

    def __init__(self, connect: float, keepalive: float) -> None:
        """Take in seconds the longest wait to `connect`, and how long an unused connection stays open."""
        self.answers = 0
        """The number of answers that come in at the moment."""
        self._connect = connect
        self._keepalive = keepalive
        # The same authorities as everywhere else, not the system's: certifi's, SSL_CERT_FILE or SSL_CERT_DIR.
        self._tls = httpx.create_ssl_context()
        self._opening = self._open()
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, url: str, headers: Mapping[str, str], content: bytes, proxy: str | None
    ) -> aiohttp.ClientResponse:
        """Send the request and return the answer as soon as it begins; the caller closes it.

        A redirection is an answer like others. There is no limit of time but for the connection. Raises
        `aiohttp.ClientError`.
        """
        if self._session is None:
            self._session = await anext(self._opening)
        data = content if len(content) <= WRITTEN_AT_ONCE_BYTES else io.BytesIO(content)
        try:
            return await self._session.post(url, headers=headers, data=data, proxy=proxy, allow_redirects=False)
        except aiohttp.ClientResponseError as error:
            # It carries the request, and with it the key.
            raise aiohttp.ClientConnectionError(
                f"nothing readable came back: {error.status}, {error.message}"
            ) from None

    async def aclose(self) -> None:
        """Close them all."""
        await self._opening.aclose()

    async def _open(self) -> AsyncGenerator[aiohttp.ClientSession]:
        # A generator is closed by its event loop at the end, if nobody did before.
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=self._keepalive, ssl=self._tls),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=self._connect),
            max_line_size=MAX_HEADER_CHARACTERS,
            max_field_size=MAX_HEADER_CHARACTERS,
        ) as session:
            yield session


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for the address (HTTPS_PROXY and so on, unless NO_PROXY says no).

    Asked once and not left to aiohttp, which would look into the environment and `.netrc` for every request, in
    threads. Raises ValueError for a proxy of another kind than HTTP.
    """
    target, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(target.scheme) or proxies.get("all")
    host = target.hostname or ""
    if not proxy or proxy_bypass(host) or proxy_bypass(f"{host}:{target.port}"):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if (scheme := urlsplit(proxy).scheme) not in PROXY_SCHEMES:
        raise ValueError(
            f"A proxy of the kind {scheme} is named for {host}, and models are asked through HTTP proxies only: "
            "name one of those in HTTPS_PROXY, or the host in NO_PROXY."
        )
    return proxy
