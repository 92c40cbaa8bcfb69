"""A service's chat completions over HTTP: sent again where that helps, read as they come, closed if nobody waits."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import httpx
import orjson
from langchain_core.exceptions import ModelTimeoutError

from graph.chat.events import EventReader, read_json
from graph.chat.failures import interruption, refusal
from graph.chat.retries import is_worth_again, pause

REFUSED: Final = 400
PATH: Final = "/chat/completions"
LARGEST_REFUSAL_BYTES: Final = 64 * 1024
DRAIN_SECONDS: Final = 0.5
"""How long the end of a stream is waited for after its last event, so that the connection can be used again."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the service is and how patient we are with it, in seconds.

    `first` is the longest wait for the first event of an answer, `between` the longest silence after it; comments that
    only keep a connection open are silence. `retries` is how often a request is sent again.
    """

    url: str
    headers: Mapping[str, str]
    client: httpx.AsyncClient
    connect: float
    first: float
    between: float
    retries: int

    async def stream(self, body: Mapping[str, Any]) -> AsyncGenerator[list[Any]]:
        """Yield the chunks of the answer, all that are there at a time.

        Raises LangChain's model errors for refusals, what httpx raises for lost connections, and ValueError for a body
        that is no answer.
        """
        response = await self._send(orjson.dumps(body))
        try:
            if response.headers.get("content-type", "").startswith("application/json"):
                yield [_checked(read_json(await self._within(response.aread(), self.first)))]
                return
            async with aclosing(self._events(response)) as batches:
                async for chunks in batches:
                    yield chunks
        finally:
            await response.aclose()

    async def _send(self, content: bytes) -> httpx.Response:
        for attempt in range(self.retries + 1):
            is_last = attempt == self.retries
            headers: Mapping[str, str] = {}
            try:
                response = await self._within(self._post(content), self.first)
            except (httpx.TransportError, ModelTimeoutError):
                if is_last:
                    raise
            else:
                if response.status_code < REFUSED:
                    return response
                body, headers = await _refused(response), response.headers
                if is_last or not is_worth_again(response.status_code, headers):
                    raise refusal(response.status_code, body)
            await asyncio.sleep(pause(attempt, headers))
        raise AssertionError

    async def _post(self, content: bytes) -> httpx.Response:
        timeout = httpx.Timeout(None, connect=self.connect, pool=self.first)
        request = self.client.build_request(
            "POST", self.url + PATH, headers=dict(self.headers), content=content, timeout=timeout
        )
        return await self.client.send(request, stream=True)

    async def _events(self, response: httpx.Response) -> AsyncGenerator[list[Any]]:
        reader, pieces = EventReader(), _Pieces(response)
        patience, is_open = self.first, True
        try:
            while is_open and not reader.ended:
                deadline = asyncio.get_running_loop().time() + patience
                chunks: list[Any] = []
                while is_open and not chunks and not reader.ended:
                    is_open = await pieces.arrived(deadline)
                    chunks = [_checked(chunk) for piece in pieces.take() for chunk in reader.feed(piece)]
                if not is_open:
                    chunks += [_checked(chunk) for chunk in reader.close()]
                if chunks:
                    yield chunks
                patience = self.between
            if is_open:
                await pieces.drained(DRAIN_SECONDS)
        finally:
            await pieces.close()

    async def _within(self, answer: Any, seconds: float) -> Any:
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError as error:
            raise ModelTimeoutError(f"no answer within {seconds:g} s") from error


class _Pieces:
    """Reads a body in a task of its own, so that what has arrived meanwhile is taken at once.

    Under load, when tokens come faster than they are worked off, each batch carries more of them.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._pieces: list[bytes] = []
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read(response), name="model-answer")

    async def arrived(self, deadline: float) -> bool:
        """Wait for more; False once the body has ended. Raises `ModelTimeoutError`, and what reading raised."""
        if not self._pieces and not self._task.done():
            self._news.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._news.wait()
            except TimeoutError as error:
                raise ModelTimeoutError("the answer stopped in its middle") from error
        if self._pieces or not self._task.done():
            return True
        self._task.result()
        return False

    def take(self) -> list[bytes]:
        """Return what has arrived since the last time."""
        pieces, self._pieces = self._pieces, []
        return pieces

    async def drained(self, seconds: float) -> None:
        """Wait for the end of the body, for so long at most."""
        await asyncio.wait([self._task], timeout=seconds)

    async def close(self) -> None:
        """Stop reading."""
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.exception()  # it was told where it mattered

    async def _read(self, response: httpx.Response) -> None:
        try:
            async for piece in response.aiter_bytes():
                self._pieces.append(piece)
                self._news.set()
        finally:
            self._news.set()


async def _refused(response: httpx.Response) -> bytes:
    """Return the beginning of a refusal's body, and let the connection go."""
    body = b""
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > LARGEST_REFUSAL_BYTES:
                break
    finally:
        await response.aclose()
    return body


def _checked(chunk: Any) -> Mapping[str, Any]:
    if not isinstance(chunk, dict):
        raise TypeError(f"a chunk of an answer is an object, not {type(chunk).__name__}")
    if error := chunk.get("error"):
        raise interruption(error)
    return chunk
