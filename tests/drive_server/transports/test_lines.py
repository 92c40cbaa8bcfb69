"""Lines over pipes: long ones, slow readers, sides that go away."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from drive_server.transports.lines import MAX_WAITING_BYTES, LineReader, LineSplitter, LineWriter, TooLongLine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Pipe:
    """Both ends of a pipe, each closed once only: its number may be another file's after that."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        self._open = {self.reading, self.writing}

    def close(self, end: int) -> None:
        """Close an end, unless it is closed."""
        if end in self._open:
            self._open.remove(end)
            os.close(end)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close(pipe.writing)
    pipe.close(pipe.reading)


def split(most: int, *chunks: bytes) -> list[bytes | None]:
    splitter = LineSplitter(most)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.rest()
    return [None if isinstance(line, TooLongLine) else line for line in lines]


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a", b"b\nc", b"\n"), [b"ab", b"c"]),
        ((b"\n\n",), [b"", b""]),
        ((b"a\nrest",), [b"a", b"rest"]),
        ((b"123456\nok\n",), [None, b"ok"]),
        ((b"123", b"456", b"789", b"\nok\n"), [None, b"ok"]),
        ((b"12345\nok",), [b"12345", b"ok"]),
        ((b"1234567",), [None]),
        ((), []),
    ],
)
def test_chunks_are_cut_into_lines_and_too_long_ones_are_left_out(
    chunks: tuple[bytes, ...], lines: list[bytes | None]
) -> None:
    assert split(5, *chunks) == lines


def test_of_an_endless_line_nothing_is_held() -> None:
    splitter = LineSplitter(1000)
    for _ in range(1000):
        assert splitter.feed(b"x" * 1000) == []
    assert len(splitter._held) == 0  # pyright: ignore[reportPrivateUsage] - how much is held shows in no other way


async def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"one\n" + b"x" * 500_000 + b"\nlast")
    descriptor = os.open(tmp_path / "input", os.O_RDONLY)
    try:
        lines = [line async for line in LineReader(descriptor, 1_000_000).lines()]
    finally:
        os.close(descriptor)

    assert lines == [b"one", b"x" * 500_000, b"last"]


async def test_what_is_written_slowly_read_arrives_whole_and_in_order(pipe: Pipe) -> None:
    writer = LineWriter(pipe.writing)
    lines = [b"%d" % number + b"x" * 200_000 for number in range(20)]

    async def write() -> None:
        for line in lines:
            await writer.write(line)
        await writer.flush()
        pipe.close(pipe.writing)

    task = asyncio.create_task(write())
    read = [line async for line in LineReader(pipe.reading, 1_000_000).lines()]
    await task

    assert read == lines


async def test_a_writer_waits_when_the_other_side_reads_nothing(pipe: Pipe) -> None:
    writer = LineWriter(pipe.writing)
    await writer.write(b"x" * (MAX_WAITING_BYTES + 1))
    late = asyncio.create_task(writer.write(b"late"))
    await asyncio.sleep(0)
    assert not late.done()

    read = LineReader(pipe.reading, 2 * MAX_WAITING_BYTES).lines()
    assert await anext(read) == b"x" * (MAX_WAITING_BYTES + 1)
    await late
    assert await anext(read) == b"late"
    pipe.close(pipe.writing)
    assert [line async for line in read] == []


async def test_a_reader_that_is_gone_is_noticed(pipe: Pipe) -> None:
    writer = LineWriter(pipe.writing)
    pipe.close(pipe.reading)
    await writer.write(b"x")
    await writer.flush()

    assert writer.gone.is_set()
    await writer.write(b"y")
