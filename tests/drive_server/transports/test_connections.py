"""Hostile connections, over real sockets: heads without end, slow ones, silent bodies, readers that never read."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from drive_server.kernel.rate_limiter import SIGNED_IN
from drive_server.transports.connections import RESERVED, ConnectionLimits, raise_descriptor_limit
from drive_server.transports.http_protocol import MAX_HEADER_BYTES, MAX_QUEUED
from drive_server.transports.runner import Runner
from tests.prompt_server import PromptServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Generator

    from starlette.requests import Request

PIECE = b"x" * 65_536
UNLIMITED = 64 * PIECE.__len__()
"""So much of a head that never ends is sent before a test says that there is no limit."""
OFTEN = 0.01
STREAM = b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"


class PromptRunner(PromptServer, Runner):
    """A runner that ends at once."""


class Hostage:
    """An application with requests that wait, and with a stream that never ends; served from a thread."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.address: tuple[str, int] = self.listener.getsockname()
        self.arrived = threading.Semaphore(0)
        self.stream_ended = threading.Event()
        self._ready = threading.Event()
        self._release: asyncio.Event
        routes = [
            Route("/", self._hello, methods=["GET", "POST"]),
            Route("/healthz", self._hello),
            Route("/early", self._answer_early, methods=["POST"]),
            Route("/wait", self._wait),
            Route("/stream", self._stream),
        ]
        self._runner = PromptRunner(Starlette(routes=routes, lifespan=self._lifespan), self._end_requests, limits)
        self._thread = threading.Thread(target=self._runner.run, kwargs={"sockets": [self.listener]})
        self._thread.start()
        assert self._ready.wait(20)

    def get(self, path: str, **headers: str) -> int:
        """Return the status of a request on a connection of its own."""
        return httpx.get(f"http://127.0.0.1:{self.address[1]}{path}", headers=headers, timeout=20).status_code

    def connect(self, sent: bytes = b"") -> socket.socket:
        """Open a connection, and send something on it."""
        connection = socket.create_connection(self.address, timeout=20)
        connection.sendall(sent)
        return connection

    def wait(self, sent: str = "") -> socket.socket:
        """Open a connection whose request is at work until the end."""
        connection = self.connect(f"GET /wait HTTP/1.1\r\nHost: x\r\n{sent}\r\n".encode())
        assert self.arrived.acquire(timeout=20)
        return connection

    def end(self) -> None:
        """End it."""
        self._runner.should_exit = True
        self._thread.join()

    def post_early(self) -> socket.socket:
        """Open a connection whose request is answered before its body of three bytes comes."""
        connection = self.connect(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n")
        received = b""
        while not received.endswith(b"early"):
            received += connection.recv(1000)
        return connection

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        self._release = asyncio.Event()
        self._ready.set()
        yield

    async def _end_requests(self) -> None:
        self._release.set()

    async def _hello(self, request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    async def _answer_early(self, _: Request) -> PlainTextResponse:
        return PlainTextResponse("early")

    async def _wait(self, request: Request) -> PlainTextResponse:
        if "authorization" in request.headers:
            request.scope["extensions"][SIGNED_IN]()
        self.arrived.release()
        await self._release.wait()
        return PlainTextResponse("released")

    async def _stream(self, _: Request) -> StreamingResponse:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                while not self._release.is_set():
                    yield PIECE
                    await asyncio.sleep(0)
            finally:
                self.stream_ended.set()

        return StreamingResponse(pieces())


@contextmanager
def serving(limits: ConnectionLimits) -> Generator[Hostage]:
    """Serve with these limits."""
    hostage = Hostage(limits)
    try:
        yield hostage
    finally:
        hostage.end()


def answer(connection: socket.socket) -> bytes:
    """Return what the server sends before it closes the connection."""
    received = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65_536):
            received += piece
    return received


def sent_until_closed(connection: socket.socket, piece: bytes) -> int:
    """Send a piece over and over until the server closes the connection; return the number of bytes."""
    sent = 0
    with suppress(ConnectionError):
        while sent < UNLIMITED:
            connection.sendall(piece)
            sent += len(piece)
    return sent


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET /",
        b"GET / HTTP/1.1\r\nX: ",
        b"GET / HTTP/1.1\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    ],
    ids=["blank lines", "address", "value", "name", "chunk extension", "trailer"],
)
def test_nothing_that_never_ends_is_read_for_ever(beginning: bytes) -> None:
    with serving(ConnectionLimits()) as hostage, hostage.connect(beginning) as connection:
        assert sent_until_closed(connection, PIECE if beginning else b"\r\n" * 32_768) < UNLIMITED
        assert hostage.get("/") == 200


def test_headers_that_are_too_long_are_refused_with_431() -> None:
    with serving(ConnectionLimits()) as hostage:
        assert hostage.get("/", x="x" * (MAX_HEADER_BYTES + 1)) == 431


def test_headers_without_text_are_too_long_as_well_if_there_are_many() -> None:
    head = b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 2100
    with serving(ConnectionLimits()) as hostage, hostage.connect(head) as connection:
        assert answer(connection).startswith(b"HTTP/1.1 431 ")


def test_only_so_many_requests_may_come_before_their_turn() -> None:
    with serving(ConnectionLimits()) as hostage, hostage.wait() as patient:
        patient.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * (MAX_QUEUED + 1))
        assert answer(patient) == b""


def test_headers_a_letter_at_a_time_have_to_come_in_time() -> None:
    with serving(ConnectionLimits(header_seconds=0.2)) as hostage, hostage.connect(b"GET / HTTP/1.1\r\n") as slow:
        slow.settimeout(OFTEN)
        received = b""
        while not received:
            with suppress(TimeoutError):
                received = slow.recv(100)
                break
            slow.sendall(b"x")
        assert received.startswith(b"HTTP/1.1 408 ")


def test_connections_on_which_nothing_is_ever_asked_are_closed() -> None:
    with serving(ConnectionLimits(header_seconds=0.1)) as hostage, hostage.connect() as silent:
        assert answer(silent) == b""


def test_the_second_request_of_a_connection_has_to_come_in_time_as_well() -> None:
    with (
        serving(ConnectionLimits(header_seconds=0.1)) as hostage,
        hostage.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as slow,
    ):
        assert slow.recv(1000).startswith(b"HTTP/1.1 200 ")
        slow.sendall(b"GET / HT")
        assert b"HTTP/1.1 408 " in answer(slow)


def test_a_body_that_does_not_go_on_ends_its_request() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"
    with serving(ConnectionLimits(silent_seconds=0.1)) as hostage, hostage.connect(head) as silent:
        assert answer(silent).startswith(b"HTTP/1.1 408 ")


def test_requests_that_take_long_are_not_taken_for_silent_ones() -> None:
    with serving(ConnectionLimits(header_seconds=0.05, silent_seconds=0.05)) as hostage, hostage.wait() as patient:
        with hostage.connect() as silent:
            assert answer(silent) == b""
        with hostage.connect(b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n") as silent:
            assert answer(silent).startswith(b"HTTP/1.1 408 ")
        patient.settimeout(OFTEN)
        with pytest.raises(TimeoutError):
            patient.recv(1)


def test_a_reader_that_never_reads_is_let_go() -> None:
    with serving(ConnectionLimits(silent_seconds=0.2)) as hostage:
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(hostage.address)
        reader.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        with reader:
            assert hostage.stream_ended.wait(20)


def test_of_an_address_s_connections_that_wait_the_oldest_gives_way() -> None:
    with serving(ConnectionLimits(per_address=3)) as hostage:
        oldest, second = hostage.connect(), hostage.connect()
        with oldest, second, hostage.connect(), hostage.connect():
            assert answer(oldest) == b""
            assert hostage.get("/") == 200
            assert answer(second) == b""


def test_an_address_whose_connections_are_all_at_work_gets_others_only_with_a_key_or_for_health() -> None:
    with serving(ConnectionLimits(per_address=2)) as hostage, hostage.wait(), hostage.wait():
        assert hostage.get("/") == 503
        assert hostage.get("/healthz") == 200
        assert hostage.get("/", authorization="Bearer key") == 200
        with hostage.wait("Authorization: Bearer key\r\n"):
            assert hostage.get("/") == 503


def test_connections_with_a_key_do_not_count_for_their_address() -> None:
    key = "Authorization: Bearer key\r\n"
    with serving(ConnectionLimits(per_address=2)) as hostage, hostage.wait(key), hostage.wait(key), hostage.wait(key):
        assert hostage.get("/") == 200


def test_a_trusted_proxy_may_have_any_number_of_connections() -> None:
    limits = ConnectionLimits(per_address=1, proxies=("127.0.0.0/8",))
    with serving(limits) as hostage, hostage.wait(), hostage.wait():
        assert hostage.get("/") == 200


def test_when_all_connections_are_taken_health_and_people_with_a_key_get_through() -> None:
    with serving(ConnectionLimits(most=RESERVED + 2)) as hostage, hostage.wait(), hostage.wait():
        assert hostage.get("/") == 503
        assert hostage.get("/healthz") == 200
        assert hostage.get("/", authorization="Bearer key") == 200


def test_a_process_that_may_have_no_more_descriptors_goes_on_with_those_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def current(_: int) -> tuple[int, int]:
        return 256, resource.RLIM_INFINITY

    def refuse(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr("resource.getrlimit", current)
    monkeypatch.setattr("resource.setrlimit", refuse)
    assert raise_descriptor_limit() == 256


def test_more_silent_connections_than_there_is_room_for_shut_nobody_out() -> None:
    with serving(ConnectionLimits(most=RESERVED + 4)) as hostage:
        crowd = [hostage.connect(b"GET / HTTP/1.1\r\nX: ") for _ in range(2 * RESERVED)]
        assert hostage.get("/") == 200
        for connection in crowd:
            connection.close()


def test_a_refusal_is_never_sent_in_the_middle_of_an_answer() -> None:
    with serving(ConnectionLimits()) as hostage, hostage.connect(STREAM) as reader:
        assert reader.recv(100).startswith(b"HTTP/1.1 200 ")
        reader.sendall(b"\0")
        assert b"HTTP/1.1 " not in answer(reader)


def test_a_refusal_is_never_taken_for_the_answer_to_an_earlier_request() -> None:
    with serving(ConnectionLimits()) as hostage, hostage.wait() as patient:
        patient.sendall(b"\0")
        assert answer(patient) == b""


def test_a_reader_that_goes_away_ends_its_stream_though_it_asked_for_more_already() -> None:
    with serving(ConnectionLimits()) as hostage:
        with hostage.connect(STREAM + STREAM) as reader:
            assert reader.recv(100).startswith(b"HTTP/1.1 200 ")
        assert hostage.stream_ended.wait(30)


def test_a_connection_whose_request_was_answered_before_its_body_came_is_closed_in_the_end() -> None:
    with serving(ConnectionLimits(header_seconds=0.1)) as hostage, hostage.post_early() as silent:
        silent.sendall(b"abc")
        assert answer(silent) == b""


def test_a_body_that_comes_after_its_answer_keeps_no_place() -> None:
    with serving(ConnectionLimits(per_address=1)) as hostage, hostage.post_early() as slow:
        assert hostage.get("/") == 200
        assert answer(slow) == b""


def test_a_wrong_key_keeps_no_place_with_a_body_that_never_ends() -> None:
    head = b"POST / HTTP/1.1\r\nAuthorization: wrong\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"
    with serving(ConnectionLimits(per_address=1)) as hostage, hostage.wait(), hostage.connect(head) as slow:
        assert slow.recv(1000).startswith(b"HTTP/1.1 100 ")
        assert hostage.get("/healthz") == 200
        assert answer(slow) == b""
