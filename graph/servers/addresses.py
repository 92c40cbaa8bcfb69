"""The guard of remote addresses: it looks up a host's address, checks it and connects to it, in one step.

A name may stand for another address a moment later (DNS rebinding), and a redirect may lead anywhere: both come here,
since every connection of the client does.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache, partial
from ipaddress import ip_address, ip_network
from typing import Any, Final, cast

import httpcore
import httpx

from drive_server.kernel.http_client import innermost, is_public
from drive_server.kernel.lenient.json_text import WholeCharacters
from graph.servers.intake import Intake
from graph.servers.reasons import FaultError, Reason

LOOKUP_SECONDS: Final = 10.0
LOOKUPS: Final = 64
"""Names that are looked up at a time: a name server that does not answer must not hold up the program's threads."""
TAIL_BYTES: Final = 3
BOUNDARIES: Final = (b"\n\n", b"\r\r", b"\n\r\n")
"""The ends of an event of an event stream."""
Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


class AddressGuard:
    """Says which addresses a host's name may lead to.

    `allowed` are the operator's private hosts: names or addresses, with or without a port, and networks.
    """

    def __init__(self, allowed: Iterable[str] = (), lookup: Lookup | None = None) -> None:
        entries = [entry.strip().lower() for entry in allowed if entry.strip()]
        self._networks = [ip_network(entry, strict=False) for entry in entries if _is_network(entry)]
        self._hosts = frozenset(entries)
        self._lookup = lookup or look_up

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses to connect to. Raises `FaultError` if any of them must not be reached."""
        name = host.strip("[]").rstrip(".").lower()
        found = await self._lookup(name, port)
        if not self._is_allowed(name, port) and not all(map(self._may_reach, found)):
            raise FaultError(Reason("address_refused", {"host": name}))
        return found

    def is_private_host(self, host: str, port: int) -> bool:
        """Say whether the operator allowed this host by its name or address."""
        name = host.strip("[]").rstrip(".").lower()
        return self._is_allowed(name, port) or (
            _is_network(name) and any(ip_address(name) in network for network in self._networks)
        )

    def _is_allowed(self, name: str, port: int) -> bool:
        return not {name, f"{name}:{port}", f"[{name}]:{port}"}.isdisjoint(self._hosts)

    def _may_reach(self, text: str) -> bool:
        address = innermost(text)
        return any(address in network for network in self._networks) or is_public(address)


def _is_network(entry: str) -> bool:
    try:
        ip_network(entry, strict=False)
    except ValueError:
        return False
    return True


@cache
def _lookups() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(LOOKUPS, thread_name_prefix="mcp-lookup")


async def look_up(name: str, port: int) -> Sequence[str]:
    """Return the addresses that the system has for a name. Raises `FaultError` if there are none."""
    unknown = FaultError(Reason("host_unknown", {"host": name}))
    resolve = partial(socket.getaddrinfo, name, port, type=socket.SOCK_STREAM)
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            found = await asyncio.get_running_loop().run_in_executor(_lookups(), resolve)
    except (OSError, UnicodeError) as error:  # a time-out is an OSError, too
        raise unknown from error
    return list(dict.fromkeys(str(address[4][0]) for address in found))


_head_bytes: Final = ContextVar[int | None]("head_bytes", default=None)
"""Bytes that arrived until now, while the head of an answer is read."""


class _CountedStream(httpcore.AsyncNetworkStream):
    """A connection that counts all bytes that arrive: heads, interim answers, and bytes between chunks, too."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, intake: Intake) -> None:
        self._stream = stream
        self._intake = intake

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's
        piece = await self._stream.read(max_bytes, timeout)
        if (before := _head_bytes.get()) is not None:
            _head_bytes.set(before + len(piece))
            self._intake.take_head(before + len(piece))
        self._intake.take(len(piece))
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        return _CountedStream(await self._stream.start_tls(*args, **options), self._intake)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _GuardedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to the addresses that the guard returns; TLS goes on checking the name."""

    def __init__(self, guard: AddressGuard, intake: Intake) -> None:
        self._guard = guard
        self._intake = intake
        self._network = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in await self._guard.addresses(host, port):
            try:
                stream = await self._network.connect_tcp(address, port, *args, **options)
                return _CountedStream(stream, self._intake)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


class GuardedTransport(httpx.AsyncHTTPTransport):
    """Sends requests to addresses that the guard returns, through no proxy; answers are bounded by `intake`."""

    def __init__(self, guard: AddressGuard, intake: Intake) -> None:
        super().__init__(verify=_tls(), trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_tls(), network_backend=_GuardedNetwork(guard, intake), http1=True, http2=False
        )
        self._intake = intake

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer of the server, with its stream bounded; a compressed one, which nobody asked for, fails."""
        request.headers["Accept-Encoding"] = "identity"
        self._intake.take_request()
        reading = _head_bytes.set(0)
        try:
            response = await super().handle_async_request(request)
        finally:
            _head_bytes.reset(reading)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await response.aclose()
            raise FaultError(Reason("not_mcp"))
        is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - of an asynchronous transport it is
        response.stream = _BoundedStream(response.stream, self._intake, is_events=is_events)
        if response.is_client_error and not is_events:
            await response.aread()  # an error of the protocol may be in it
        return response


class _BoundedStream(httpx.AsyncByteStream):
    """An answer as it arrives: each event of an event stream is a message, any other answer is one.

    Half a surrogate pair in it becomes U+FFFD, of the same length: the SDK would take the message for none.
    """

    def __init__(self, stream: httpx.AsyncByteStream, intake: Intake, *, is_events: bool) -> None:
        self._stream = stream
        self._intake = intake
        self._is_events = is_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        unfinished, tail, characters = 0, b"", WholeCharacters()
        async for piece in self._stream:
            unfinished += len(piece)
            if self._is_events:
                seen = tail + piece
                ends = [at + len(mark) for mark in BOUNDARIES if (at := seen.rfind(mark)) >= 0]
                unfinished = len(seen) - max(ends) if ends else unfinished
                tail = seen[-TAIL_BYTES:]
            lines = piece.count(b"\n") + piece.count(b"\r") if self._is_events else 0
            # Its bytes were counted as they came. A piece costs time, too, and may be a single byte.
            self._intake.take(0, unfinished, lines or 1)
            yield characters.feed(piece)
        yield characters.end()

    async def aclose(self) -> None:
        await self._stream.aclose()
