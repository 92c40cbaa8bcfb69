"""Lines of bytes over file descriptors, by threads, so that a slow other side blocks nobody."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

import anyio

CHUNK_BYTES: Final = 65_536
CHUNKS_AHEAD: Final = 4
MAX_WAITING_BYTES: Final = 1_048_576
END: Final = b""


class TooLongLine:
    """Stands for a line over the limit, which was dropped."""


class LineSplitter:
    """Splits bytes into lines without their ends. Drops a line over `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = bytearray()
        self._is_too_long = False

    def feed(self, chunk: bytes) -> list[bytes | TooLongLine]:
        """Return the lines that are complete with this."""
        *ends, rest = chunk.split(b"\n")
        lines = [self._finished(end) for end in ends]
        self._hold(rest)
        return lines

    def rest(self) -> list[bytes | TooLongLine]:
        """Return the bytes after the last line end, if any: a line too, since nothing follows."""
        return [self._finished(b"")] if self._held or self._is_too_long else []

    def _finished(self, end: bytes) -> bytes | TooLongLine:
        self._hold(end)
        line = TooLongLine() if self._is_too_long else bytes(self._held)
        self._held.clear()
        self._is_too_long = False
        return line

    def _hold(self, part: bytes) -> None:
        if self._is_too_long or len(self._held) + len(part) > self._most:
            self._is_too_long = True
            self._held.clear()
        else:
            self._held += part


class LineReader:
    """Reads lines from a file descriptor: a pipe, a file or a terminal."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._splitter = LineSplitter(most)
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(CHUNKS_AHEAD)

    async def lines(self) -> AsyncGenerator[bytes | TooLongLine]:
        """Yield each line, until the other side closes; once only."""
        threading.Thread(target=self._read, name="lines in", daemon=True).start()
        while chunk := await self._chunks.get():
            self._room.release()
            for line in self._splitter.feed(chunk):
                yield line
        for line in self._splitter.rest():
            yield line

    def _read(self) -> None:
        chunk = None
        while chunk != END:
            self._room.acquire()
            try:
                chunk = os.read(self._descriptor, CHUNK_BYTES)
            except OSError:
                chunk = END
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)
            except RuntimeError:
                return  # the loop has ended, and with it the reader of the lines


class LineWriter:
    """Writes lines to a file descriptor, in order. `gone` is set once the other side reads no more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._has_work = threading.Semaphore(0)
        self._progress = anyio.Event()
        self.gone = anyio.Event()
        threading.Thread(target=self._write, name="lines out", daemon=True).start()

    async def write(self, line: bytes) -> None:
        """Queue a line; wait while the other side is far behind, and do nothing once it is gone."""
        while self._waiting_bytes > MAX_WAITING_BYTES and not self.gone.is_set():
            await self._progress.wait()
        if self.gone.is_set():
            return
        data = line + b"\n"
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        self._has_work.release()

    async def flush(self) -> None:
        """Return when everything is written, or never will be."""
        while self._waiting_bytes and not self.gone.is_set():
            await self._progress.wait()

    def _write(self) -> None:
        while True:
            self._has_work.acquire()
            data = self._waiting.popleft()
            is_gone = not _write_all(self._descriptor, data)
            try:
                self._loop.call_soon_threadsafe(self._written, len(data), is_gone)
            except RuntimeError:
                return  # the loop has ended
            if is_gone:
                return

    def _written(self, size: int, is_gone: bool) -> None:
        self._waiting_bytes -= size
        if is_gone:
            self.gone.set()
        self._progress.set()
        self._progress = anyio.Event()


def _write_all(descriptor: int, data: bytes) -> bool:
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError:
        return False
    return True
