from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from api.cli.failure import CommandError
from api.cli.service.local_service import ServiceRunner
from drive_server.kernel.errors import StorageFailureError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from starlette.requests import Request


async def not_expected() -> None:
    pytest.fail("it is not ready")


@pytest.mark.parametrize(
    ("failure", "sentence", "hint"),
    [
        (
            StorageFailureError("The disk is full.", hint="Make room."),
            "could not start: The disk is full.",
            "Make room.",
        ),
        (RuntimeError("no such thing"), "could not start: RuntimeError: no such thing", ""),
    ],
)
def test_a_service_that_cannot_start_says_why(failure: Exception, sentence: str, hint: str) -> None:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        raise failure
        yield

    with socket.create_server(("127.0.0.1", 0)) as listener:
        runner = ServiceRunner(Starlette(lifespan=lifespan), not_expected)
        with pytest.raises(CommandError, match=sentence) as error:
            runner.run_on(listener)
    assert hint in error.value.hint


def test_it_is_ready_when_it_answers_and_ends_its_streams_when_told_to_stop() -> None:
    ended = asyncio.Event()

    async def stream(_: Request) -> StreamingResponse:
        async def beats() -> AsyncIterator[str]:
            yield "first\n"
            await ended.wait()

        return StreamingResponse(beats())

    async def plain(_: Request) -> PlainTextResponse:
        return PlainTextResponse("here")

    async def end_streams() -> None:
        ended.set()

    ready = Event()

    async def note_ready() -> None:
        ready.set()

    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    runner = ServiceRunner(Starlette(routes=[Route("/", plain), Route("/stream", stream)]), note_ready, end_streams)
    thread = Thread(target=runner.run_on, args=(listener,))
    thread.start()
    assert ready.wait(30)
    with httpx.Client(base_url=url) as client:
        assert client.get("/").text == "here"
        with client.stream("GET", "/stream") as response:
            lines = response.iter_lines()
            assert next(lines) == "first"
            runner.should_exit = True
            assert list(lines) == []
    thread.join(3)
    assert not thread.is_alive()
