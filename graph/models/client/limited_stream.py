"""The limits of `incoming.py` and `events.py` for the client of OpenAI's own library, which has none."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import httpx

from graph.models.client import events, incoming

BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


def answer_limit(stall_seconds: float) -> Callable[[httpx.Response], Awaitable[None]]:
    """Return a hook of httpx that limits an answer before its body is read: its bytes, those of an event, its silences.

    Before its first event the request's own limit of a read holds, and after it `stall_seconds`. Comments that only
    keep a connection open are no silence, for `COMMENT_WAITS` times as long.
    """

    async def limit(response: httpx.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx.DecodingError("the answer is compressed, though nobody asked for it")
        first: float | None = response.request.extensions.get("timeout", {}).get("read")
        response.stream = _LimitedStream(response.stream, stall_seconds if first is None else first, stall_seconds)

    return limit


class _LimitedStream(httpx.AsyncByteStream):
    def __init__(self, stream: Any, first_seconds: float, stall_seconds: float) -> None:
        self._stream: httpx.AsyncByteStream = stream
        self._seconds = first_seconds
        self._stall_seconds = stall_seconds
        self._loop = asyncio.get_running_loop()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = event = 0
        pieces, end = aiter(self._stream), self._last_moment()
        while (piece := await self._next(pieces, end)) is not None:
            if events.DATA in piece:
                self._seconds = self._stall_seconds
                end = self._last_moment()
            whole += len(piece)
            event += len(piece)
            if whole > incoming.MAX_BYTES or event > events.MAX_BYTES:
                raise httpx.DecodingError(incoming.TOO_LONG)
            if any(line in piece for line in BLANK_LINES):
                event = 0
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _last_moment(self) -> float:
        return self._loop.time() + self._seconds * incoming.COMMENT_WAITS

    async def _next(self, pieces: AsyncIterator[bytes], end: float) -> bytes | None:
        if self._loop.time() >= end:
            raise httpx.ReadTimeout(f"nothing but comments came for {self._seconds * incoming.COMMENT_WAITS:g} s")
        try:
            async with asyncio.timeout(self._seconds):
                return await anext(pieces, None)
        except TimeoutError as error:
            raise httpx.ReadTimeout(f"nothing was said for {self._seconds:g} s") from error
