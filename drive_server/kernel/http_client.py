"""HTTP clients for services, whose answers are limited in bytes, counted while they are decompressed.

httpx decompresses all that arrives at once, and a kilobyte of gzip may hold a megabyte. One of the clients reaches
public addresses alone: for addresses that strangers name.
"""

import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, cast

import httpcore
import httpx
from anyio import to_thread

PIECE_BYTES: Final = 65_536
WINDOW_BITS: Final = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
"""The argument of zlib for each encoding that is asked for (RFC 9110, 8.4.1)."""
ENCODINGS: Final = ", ".join(WINDOW_BITS)

EXTRA_REFUSED: Final = [ip_network(text) for text in ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24")]
"""Networks that look public: services of a cloud (Azure, Oracle), and relays."""
PUBLIC: Final = IPv6Network("2000::/3")
"""The only part of IPv6 that is given out for public use (RFC 4291 section 2.4)."""
NAT64: Final = IPv6Network("64:ff9b::/96")
"""The network whose addresses end in an IPv4 address (RFC 6052)."""
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


class TooLongAnswerError(httpx.DecodingError):
    """An answer has more bytes than anybody asked for."""


def limited_client(most_bytes: int, **options: Any) -> httpx.AsyncClient:
    """Return a client whose answers have at most so many bytes; reading more raises `TooLongAnswerError`."""

    async def limit(response: httpx.Response) -> None:
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        response.stream = _LimitedStream(response.stream, encoding, most_bytes)

    headers = {"Accept-Encoding": ENCODINGS, **options.pop("headers", {})}
    return httpx.AsyncClient(headers=headers, event_hooks={"response": [limit]}, **options)


def innermost(text: str) -> Address:
    """Return the address, of an IPv6 one that stands for an IPv4 address the latter."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_public(address: Address) -> bool:
    """Return whether the address, the `innermost` one, is of the public network."""
    is_refused = address.is_multicast or any(address in network for network in EXTRA_REFUSED)
    return address.is_global and (isinstance(address, IPv4Address) or address in PUBLIC) and not is_refused


async def look_up(name: str, port: int) -> Sequence[str]:
    """Return the addresses that the system has for a name. Raises `OSError` if there are none."""
    resolve = partial(socket.getaddrinfo, name, port, type=socket.SOCK_STREAM)
    try:
        found = await to_thread.run_sync(resolve, abandon_on_cancel=True)
    except UnicodeError as error:
        raise OSError("that is no name of a host") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def public_client(
    most_bytes: int, *, lookup: Lookup = look_up, networks: Sequence[Network] = (), **options: Any
) -> httpx.AsyncClient:
    """Return a client as `limited_client` does, which connects to public addresses alone, and through no proxy.

    `networks` are those of the operator that it may reach too.

    A name is looked up once for each connection, all its addresses are checked, and one of them is connected to: it may
    stand for another a moment later.
    """
    return limited_client(most_bytes, transport=_PublicTransport(lookup, networks), trust_env=False, **options)


class _PublicTransport(httpx.AsyncHTTPTransport):
    """Sends requests to public addresses, and to those in some networks."""

    def __init__(self, lookup: Lookup, networks: Sequence[Network]) -> None:
        context = httpx.create_ssl_context()
        super().__init__(verify=context, trust_env=False)
        # httpx has no parameter for the network.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context, network_backend=_PublicNetwork(lookup, networks), http1=True, http2=False
        )


class _PublicNetwork(httpcore.AsyncNetworkBackend):
    """Connects to public addresses, and to those in some networks; TLS goes on checking the name."""

    def __init__(self, lookup: Lookup, networks: Sequence[Network]) -> None:
        self._lookup = lookup
        self._networks = networks
        self._network = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        try:
            found = await self._lookup(host.strip("[]"), port)
        except OSError as error:
            raise httpcore.ConnectError("the host has no address") from error
        if not found or not all(self._may_reach(innermost(address)) for address in found):
            raise httpcore.ConnectError("the host is not in the public network")
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in found:
            try:
                return await self._network.connect_tcp(address, port, *args, **options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error  # this machine may have no way to addresses of IPv6
        raise failure

    def _may_reach(self, address: Address) -> bool:
        return is_public(address) or any(address in network for network in self._networks)

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class _LimitedStream(httpx.AsyncByteStream):
    def __init__(self, stream: Any, encoding: str, most_bytes: int) -> None:
        if encoding not in {"identity", *WINDOW_BITS}:
            raise httpx.DecodingError(f"an answer is encoded as {encoding[:20]}, which nobody asked for")
        self._stream: httpx.AsyncByteStream = stream
        self._decoder = zlib.decompressobj(WINDOW_BITS[encoding]) if encoding in WINDOW_BITS else None
        self._left = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for raw in self._stream:
            for piece in self._decoded(raw):
                self._left -= len(piece)
                if self._left < 0:
                    raise TooLongAnswerError("an answer is too long")
                yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _decoded(self, raw: bytes) -> Iterator[bytes]:
        if self._decoder is None:
            yield raw
            return
        try:
            while raw and (piece := self._decoder.decompress(raw, PIECE_BYTES)):
                yield piece
                raw = self._decoder.unconsumed_tail
        except zlib.error as error:
            raise httpx.DecodingError("an answer can't be decompressed") from error
