"""The limits of `incoming.py` and `events.py` for the client of OpenAI's own library, which has none."""

from collections.abc import AsyncIterator
from typing import Any, Final

import httpx

from graph.models.client import events, incoming

BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


async def limit_answer(response: httpx.Response) -> None:
    """Limit the bytes of an answer, and of each event of it. A hook of httpx, called before the body is read."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx.DecodingError("the answer is compressed, though nobody asked for it")
    response.stream = _LimitedStream(response.stream)


class _LimitedStream(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream: httpx.AsyncByteStream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = event = 0
        async for piece in self._stream:
            whole += len(piece)
            event += len(piece)
            if whole > incoming.MOST_BYTES or event > events.MOST_BYTES:
                raise httpx.DecodingError(incoming.TOO_LONG)
            if any(line in piece for line in BLANK_LINES):
                event = 0
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
