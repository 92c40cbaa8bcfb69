"""The start and the end of the HTTP server."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from drive_server.transports.http_protocol import MAX_HEADER_BYTES
from drive_server.transports.listener import url_of
from drive_server.transports.process import Shutdown
from drive_server.transports.runner import KEEP_ALIVE_SECONDS, Runner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(request.headers.get("x-long", ""))))


class Running:
    """A small application, served from a thread."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.wound_down = threading.Event()
        self.runner = Runner(Starlette(routes=[Route("/", hello)]), self._wind_down)
        self.thread = threading.Thread(target=self.runner.run, kwargs={"sockets": [self.listener]})
        self.thread.start()

    async def _wind_down(self) -> None:
        self.wound_down.set()
        await asyncio.sleep(0)
        raise RuntimeError("it does not matter what goes wrong here")

    def end(self) -> None:
        """End it."""
        self.runner.should_exit = True
        self.thread.join()


PREPARED = """
import asyncio, gc, sys
from drive_server.transports.runner import SWITCH_SECONDS, prepare_process

async def main():
    prepare_process()
    assert gc.get_freeze_count() > 1000
    assert abs(sys.getswitchinterval() - SWITCH_SECONDS) < 1e-6

asyncio.run(main())
"""


def test_a_server_s_process_is_made_ready_for_many_at_once() -> None:
    subprocess.run([sys.executable, "-c", PREPARED], check=True, timeout=60)


class Said(logging.Handler):
    """The words of a server, from its start to its end: pytest's own handlers change in between."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the words."""
        self.words.append(record.getMessage())


@pytest.fixture
def said() -> Iterator[Said]:
    logger, handler = logging.getLogger("uvicorn.error"), Said()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.fixture
def running(said: Said) -> Iterator[Running]:
    del said
    running = Running()
    yield running
    running.end()


@pytest.fixture
def client(running: Running) -> Iterator[httpx.Client]:
    port = running.listener.getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
        yield client


def test_long_headers_are_taken_up_to_a_limit(client: httpx.Client) -> None:
    long = "x" * (MAX_HEADER_BYTES // 2)
    assert client.get("/", headers={"X-Long": long}).text == str(len(long))
    assert client.get("/", headers={"X-Long": long, "X-Longer": long}).status_code == 431
    assert client.get("/?" + "x" * (MAX_HEADER_BYTES - 1000), headers={"X-Long": "x" * 1000}).status_code == 431
    for _ in range(3):
        assert client.get("/", headers={"X-Long": long}).status_code == 200


def test_the_server_says_where_it_runs_as_an_address_that_a_browser_opens(
    running: Running, client: httpx.Client, said: Said
) -> None:
    assert client.get("/").status_code == 200
    running.end()
    assert f"running on {client.base_url}".rstrip("/") in said.words
    assert url_of("::1", 80) == "http://[::1]:80"


def test_connections_are_kept_for_longer_than_clients_keep_theirs() -> None:
    assert KEEP_ALIVE_SECONDS >= 30


def test_what_goes_wrong_while_winding_down_does_not_keep_it_from_ending(
    running: Running, client: httpx.Client
) -> None:
    assert client.get("/").status_code == 200
    running.end()
    assert running.wound_down.is_set()


def test_the_first_signal_begins_the_end_and_the_second_is_the_end() -> None:
    left: list[int] = []
    shutdown = Shutdown(left.append, 1000)

    shutdown.on_signal(signal.SIGTERM)
    assert left == []
    shutdown.on_signal(signal.SIGTERM)
    assert left == [128 + signal.SIGTERM]


def test_what_does_not_end_in_time_is_left() -> None:
    left: list[int] = []
    is_left = threading.Event()

    def leave(code: int) -> None:
        left.append(code)
        is_left.set()

    Shutdown(leave, 0).begin()

    assert is_left.wait(20)
    assert left == [0]
