"""A body as it arrives: all that is there is taken at once, and no silence is longer than allowed."""

import asyncio
from contextlib import suppress
from math import inf
from typing import Final

import aiohttp
from langchain_core.exceptions import ModelTimeoutError

TOO_LONG: Final = "the answer is too long"
MAX_BYTES: Final = 64 * 1024 * 1024
"""The longest answer, decompressed: 100,000 tokens as events of 640 bytes."""
MAX_BODY_BYTES: Final = 16 * 1024 * 1024
"""The longest body that is read as a whole."""

COMMENT_WAITS: Final = 6
"""A service that sends nothing but comments is waited for so many times as long as a silent one."""


class Incoming:
    """Reads a body of `MAX_BYTES` at most. While nobody reads it buffers data, so each piece carries more under load.

    One timer serves a whole body: it is not moved with every piece but looks, when it fires, whether it is time yet.
    """

    def __init__(self, content: aiohttp.StreamReader, patience: float) -> None:
        """`patience` is the longest silence, in seconds."""
        self.ended = False
        self._content = content
        self._left = MAX_BYTES
        self._loop = asyncio.get_running_loop()
        self._patience = patience
        self._deadline = inf
        self._timer = self._loop.call_later(patience, self._look)

    def now(self) -> float:
        """Return the moment on the clock of the limits, in seconds."""
        return self._loop.time()

    def expect(self, patience: float) -> None:
        """Begin to wait for something: until `relax`, reading takes so many seconds together at most."""
        self._deadline = self._loop.time() + patience
        if patience != self._patience:
            self._patience = patience
            self._timer.cancel()
            self._timer = self._loop.call_at(self._deadline, self._look)

    def relax(self) -> None:
        """Stop waiting: time spent on data that has arrived is not the service's."""
        self._deadline = inf

    async def read(self) -> bytes:
        """Return the data that is there, or comes next; nothing at the end.

        Raises `ModelTimeoutError`, `aiohttp.ClientError`, and ValueError for an answer that is too long.
        """
        try:
            piece = await self._content.readany()
        except aiohttp.ClientError:
            # It is raised before earlier bytes are read, and these may be the whole answer.
            piece = self._content._read_nowait(-1)  # pyright: ignore[reportPrivateUsage] - nothing public gives it
            if not piece:
                raise
        self.ended = not piece
        self._left -= len(piece)
        if self._left < 0:
            raise ValueError(TOO_LONG)
        return piece

    async def batch(self, seconds: float) -> None:
        """Let more arrive for so long, or until all is there; `read` raises errors of that time."""
        if seconds > 0 and not self._content.is_eof():
            with suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._content.wait_eof()

    async def read_all(self) -> bytes:
        """Return the whole body, of `MAX_BODY_BYTES` at most. Raises as `read`."""
        self._left = min(self._left, MAX_BODY_BYTES)
        pieces: list[bytes] = []
        while piece := await self.read():
            pieces.append(piece)
        return b"".join(pieces)

    async def drain(self, seconds: float) -> None:
        """Let the end of the body come, for so long at most, since only then its connection can be used again."""
        with suppress(aiohttp.ClientError, ModelTimeoutError, ValueError):
            if not self._content.is_eof():
                self.expect(seconds)
                await self.read_all()

    def close(self) -> None:
        """Stop the timer."""
        self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        if now >= self._deadline:
            self._content.set_exception(ModelTimeoutError(f"nothing was said for {self._patience:g} s"))
        else:
            self._timer = self._loop.call_at(min(self._deadline, now + self._patience), self._look)
