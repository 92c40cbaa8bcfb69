"""uvicorn's HTTP protocol with limits on a client's data, its slowness, and the bytes it may leave unread.

uvicorn's parser reads headers of any length, and waits for them for ever. No setting of uvicorn limits either, so its
protocol class is extended, which is its documented extension point (`uvicorn.Config(http=...)`).
"""

import asyncio
import socket
from typing import Any, Final

from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from drive_server.kernel.rate_limiter import SIGNED_IN, network_of
from drive_server.transports.connections import ConnectionLimits, ConnectionTable

MAX_HEADER_BYTES: Final = 65_536
BYTES_PER_HEADER: Final = 32
"""The memory of a header besides its text, as HTTP/2 counts it (RFC 9113, section 6.5.2)."""
MAX_QUEUED: Final = 32
"""Requests of a connection that wait for the answer to an earlier one."""
HEALTH_PATHS: Final = frozenset({b"/healthz", b"/readyz"})
CREDENTIALS: Final = frozenset({b"authorization", b"cookie"})
TOO_LONG: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits: bytes and time of a head, silence in a body, readers that never read."""

    table: ConnectionTable

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        self.is_signed_in = False
        self.network = "" if self.table.limits.is_exempt(peer) else network_of(peer)
        self._header_bytes = self._unparsed = self._unread = 0
        self._has_parsed = self._in_body = False
        self._last_data = self.loop.time()
        self._running: RequestResponseCycle | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._limit_unacknowledged()
        self._expect_head()
        self._is_restricted = not self.table.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the connection's place to another."""
        self._stop_timers()
        self.table.remove(self)
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse a head, or anything else between two parts of a request, that is too long."""
        if self.transport.is_closing():
            return
        self._last_data = self.loop.time()
        self._has_parsed = False
        super().data_received(data)
        if self.transport.is_closing():
            return
        self._unparsed = 0 if self._has_parsed else self._unparsed + len(data)
        if self._header_bytes + self._unparsed > MAX_HEADER_BYTES:
            self._refuse(TOO_LONG)
        elif self._read_timer is None and self._is_waiting():
            self._expect_head()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is malformed, or whose head is too long."""
        if self._header_bytes > MAX_HEADER_BYTES:
            self._refuse(TOO_LONG)
        elif self._may_answer():
            super().send_400_response(msg)
        else:
            self.abort()

    def on_message_begin(self) -> None:
        """Begin to count. Raises `ValueError` if too many requests came before their turn."""
        if len(self.pipeline) >= MAX_QUEUED:
            raise ValueError("too many requests at once")
        super().on_message_begin()
        extensions: dict[str, Any] = {SIGNED_IN: self.sign_in}
        self.scope["extensions"] = extensions
        self._header_bytes, self._has_parsed = 0, True

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, or a trailer."""
        self._count(len(name) + len(value) + BYTES_PER_HEADER)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to work on the request."""
        self._has_parsed = True
        if self.is_signed_in or not self._is_restricted:
            self.table.begin(self)
        elif not self._may_use_reserve():
            self.app = service_unavailable  # pyright: ignore[reportAttributeAccessIssue] - uvicorn's own
        super().on_headers_complete()
        self._in_body = True
        self._expect_body()

    def on_body(self, body: bytes) -> None:
        """Pass a part of the body on."""
        self._has_parsed = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop waiting for the body."""
        self._has_parsed, self._in_body, self._header_bytes = True, False, 0
        self._stop_reading()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it came already; the rest of this one's body is not work."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self.table.wait(self)

    def pause_writing(self) -> None:
        """Give the reader time to read."""
        super().pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        """Let the reader go on."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def sign_in(self) -> None:
        """Take note that somebody with a key uses this connection."""
        if not self.is_signed_in:
            self.is_signed_in = True
            self.table.sign_in(self)
            self.table.begin(self)

    def abort(self) -> None:
        """Close the connection at once; nothing more is sent."""
        self.transport.abort()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Remember which request is being answered: uvicorn itself remembers the newest, which may have to wait."""
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _is_waiting(self) -> bool:
        """Return whether the next that may come is a request."""
        return not self._in_body and (self._running is None or self.cycle.response_complete)

    def _count(self, size: int) -> None:
        self._has_parsed = True
        self._header_bytes += size
        if self._header_bytes > MAX_HEADER_BYTES:
            raise ValueError("the headers of this request are too long")

    def _may_use_reserve(self) -> bool:
        return self.url.partition(b"?")[0] in HEALTH_PATHS or any(name in CREDENTIALS for name, _ in self.headers)

    def _expect_head(self) -> None:
        self._stop_reading()
        self._read_timer = self.loop.call_later(self.table.limits.header_seconds, self._on_slow_head)

    def _on_slow_head(self) -> None:
        if self.flow.read_paused:
            self._expect_head()
        elif self._header_bytes or self._unparsed:
            self._refuse(TOO_SLOW)
        else:
            self.transport.close()

    def _expect_body(self) -> None:
        self._stop_reading()
        self._read_timer = self.loop.call_later(self.table.limits.silent_seconds, self._on_silent_body)

    def _on_silent_body(self) -> None:
        silent = self.loop.time() - self._last_data
        if self.flow.read_paused or silent < self.table.limits.silent_seconds:
            self._expect_body()
        else:
            self._refuse(TOO_SLOW)

    def _expect_reader(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        self._write_timer = self.loop.call_later(self.table.limits.silent_seconds, self._on_silent_reader)

    def _on_silent_reader(self) -> None:
        if self.transport.get_write_buffer_size() < self._unread:
            self._expect_reader()
        else:
            self.abort()

    def _refuse(self, answer: bytes) -> None:
        """Close the connection, with an answer if it can't be taken for one to an earlier request, or a part of it."""
        if self._may_answer():
            self.transport.write(answer)
            self.transport.close()
        else:
            self.abort()

    def _may_answer(self) -> bool:
        """Return whether the request being read has no answer yet, and no earlier request waits for its own."""
        running = self._running
        if running is None or running.response_complete:
            return not self.transport.is_closing()
        return self._in_body and running is self.cycle and not running.response_started

    def _limit_unacknowledged(self) -> None:
        """Let the kernel close the connection of a reader that never reads the sent bytes (Linux, RFC 5482)."""
        connection: Any = self.transport.get_extra_info("socket")
        if hasattr(socket, "TCP_USER_TIMEOUT") and connection is not None and connection.family != socket.AF_UNIX:
            milliseconds = int(self.table.limits.silent_seconds * 1000)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)

    def _stop_reading(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _stop_timers(self) -> None:
        self._stop_reading()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


def guarded_protocol(limits: ConnectionLimits) -> type[GuardedProtocol]:
    """Return the protocol of one server, whose connections share the limits."""

    class ServerProtocol(GuardedProtocol):
        table = ConnectionTable(limits)

    return ServerProtocol
