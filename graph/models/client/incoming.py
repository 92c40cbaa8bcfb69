"""A body as it arrives: all that is there is taken at once, and no silence is longer than allowed."""

import asyncio
from contextlib import suppress
from math import inf

import aiohttp
from langchain_core.exceptions import ModelTimeoutError


class Incoming:
    """Reads a body. It buffers data while nobody reads, so under load each piece carries more of it.

    One timer serves a whole body: it is not moved with every piece but looks, when it fires, whether it is time yet.
    """

    def __init__(self, content: aiohttp.StreamReader, patience: float) -> None:
        """`patience` is the longest silence, in seconds."""
        self.ended = False
        self._content = content
        self._loop = asyncio.get_running_loop()
        self._patience = patience
        self._deadline = inf
        self._timer = self._loop.call_later(patience, self._look)

    def expect(self, patience: float) -> None:
        """Begin to wait for something: until `relax`, reading takes so many seconds together at most."""
        self._deadline = self._loop.time() + patience
        if patience != self._patience:
            self._patience = patience
            self._timer.cancel()
            self._timer = self._loop.call_at(self._deadline, self._look)

    def relax(self) -> None:
        """Stop waiting: the time that is spent on what has arrived is not the service's."""
        self._deadline = inf

    async def read(self) -> bytes:
        """Return what is there, or comes next; nothing at the end.

        Raises `ModelTimeoutError` and `aiohttp.ClientError`.
        """
        try:
            piece = await self._content.readany()
        except aiohttp.ClientError:
            # It is raised before what arrived ahead of it is read, and that may be the whole answer.
            piece = self._content._read_nowait(-1)  # pyright: ignore[reportPrivateUsage] - nothing public gives it
            if not piece:
                raise
        self.ended = not piece
        return piece

    async def batch(self, seconds: float) -> None:
        """Let more arrive for so long, or until all is there; what went wrong meanwhile is raised by `read`."""
        if seconds > 0 and not self._content.is_eof():
            with suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._content.wait_eof()

    async def read_all(self) -> bytes:
        """Return the whole body. Raises as `read`."""
        pieces: list[bytes] = []
        while piece := await self.read():
            pieces.append(piece)
        return b"".join(pieces)

    async def drain(self, seconds: float) -> None:
        """Let the end of the body come, for so long at most, since only then its connection can be used again."""
        with suppress(aiohttp.ClientError, ModelTimeoutError):
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
