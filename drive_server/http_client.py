"""HTTP clients for services, whose answers are limited in bytes, counted while they are decompressed.

httpx decompresses whatever arrives at once, and a kilobyte of gzip may hold a megabyte.
"""

import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import httpx

PIECE_BYTES: Final = 65_536
WINDOW_BITS: Final = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
"""The argument of zlib for each encoding that is asked for (RFC 9110, 8.4.1)."""
ENCODINGS: Final = ", ".join(WINDOW_BITS)


class TooLongAnswerError(httpx.DecodingError):
    """An answer has more bytes than anybody asked for."""


def limited_client(most_bytes: int, **options: Any) -> httpx.AsyncClient:
    """Return a client whose answers have at most so many bytes; reading more raises `TooLongAnswerError`."""

    async def limit(response: httpx.Response) -> None:
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        response.stream = _LimitedStream(response.stream, encoding, most_bytes)

    headers = {"Accept-Encoding": ENCODINGS, **options.pop("headers", {})}
    return httpx.AsyncClient(headers=headers, event_hooks={"response": [limit]}, **options)


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
