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
    keep a connection open are no silence.
    """

    async def limit(response: httpx.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx.DecodingError("the answer is compressed, though nobody asked for it")
        response.stream = _LimitedStream(response.stream, stall_seconds)

    return limit


class _LimitedStream(httpx.AsyncByteStream):
    def __init__(self, stream: Any, stall_seconds: float) -> None:
        self._stream: httpx.AsyncByteStream = stream
        self._stall_seconds = stall_seconds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = event = 0
        pieces, has_begun = aiter(self._stream), False
        while (piece := await self._next(pieces, self._stall_seconds if has_begun else None)) is not None:
            has_begun = has_begun or events.DATA in piece
            whole += len(piece)
            event += len(piece)
            if whole > incoming.MOST_BYTES or event > events.MOST_BYTES:
                raise httpx.DecodingError(incoming.TOO_LONG)
            if any(line in piece for line in BLANK_LINES):
                event = 0
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()

    @staticmethod
    async def _next(pieces: AsyncIterator[bytes], seconds: float | None) -> bytes | None:
        try:
            async with asyncio.timeout(seconds):
                return await anext(pieces, None)
        except TimeoutError as error:
            raise httpx.ReadTimeout(f"nothing was said for {seconds:g} s") from error
