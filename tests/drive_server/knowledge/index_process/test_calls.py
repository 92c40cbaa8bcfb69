"""Calls between two processes, here two ends in one: answers by number, errors, cancellation, the end of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.knowledge.index.health import DamagedIndexError
from drive_server.knowledge.index_process.calls import LENGTH, OtherProcessError, Peer, unpacked
from drive_server.knowledge.process import ProcessCrashedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class OddError(Exception):
    """An error that can't be made again from its arguments."""

    def __init__(self, number: int, *, path: str) -> None:
        super().__init__(f"{number} {path}")


def peers(**methods: Callable[..., Awaitable[Any]]) -> tuple[Peer, Peer, list[str]]:
    """Return who calls, who answers, and what the answering one was told."""
    told: list[str] = []

    def to_us(message: bytes) -> None:
        ours.receive(unpacked(message[LENGTH.size :]))

    def to_them(message: bytes) -> None:
        theirs.receive(unpacked(message[LENGTH.size :]))

    ours, theirs = Peer(to_them, {}, {}), Peer(to_us, methods, {"tell": told.append})
    return ours, theirs, told


async def test_answers_come_by_number_and_large_arguments_pass() -> None:
    async def size(text: str) -> int:
        return len(text)

    ours, _, told = peers(size=size)
    assert await ours.call("size", "abc") == 3
    assert await ours.call("size", "x" * 1_000_000, is_large=True) == 1_000_000
    ours.tell("tell", "a word")
    assert told == ["a word"]


async def test_errors_of_the_drive_cross_as_they_are_and_others_as_text() -> None:
    errors: list[Exception] = [
        DamagedIndexError(Message.of("index_damaged")),
        StorageFailureError(Message.of("index_failure")),
        ValueError("not an id"),
        OddError(1, path="/x"),
    ]

    async def fail(number: int) -> None:
        raise errors[number]

    ours, _, _ = peers(fail=fail)
    kinds = (DamagedIndexError, StorageFailureError, ValueError, RuntimeError)
    for number, kind in enumerate(kinds):
        with pytest.raises(kind) as caught:
            await ours.call("fail", number)
        assert type(caught.value) is kind
        assert isinstance(caught.value.__cause__, OtherProcessError)
        assert "in fail" in str(caught.value.__cause__)
        assert "in fail" in caught.value.__cause__.log_sentence
        assert "/x" not in caught.value.__cause__.log_sentence


async def test_a_cancelled_call_is_cancelled_on_the_other_side_before_it_ends_here() -> None:
    begun, ends = anyio.Event(), list[str]()

    async def wait() -> None:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ends.append("theirs")

    ours, _, _ = peers(wait=wait)
    async with anyio.create_task_group() as group:
        group.start_soon(ours.call, "wait")
        await begun.wait()
        group.cancel_scope.cancel()
    assert ends == ["theirs"]


async def test_who_waits_for_an_end_that_is_gone_gets_an_error_and_so_does_the_next() -> None:
    async def close() -> None:
        ours.close()

    ours, _, _ = peers(close=close)
    for _ in range(2):
        with pytest.raises(ProcessCrashedError):
            await ours.call("close")
