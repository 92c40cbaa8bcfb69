# pyright: reportPrivateUsage=false
# What is left over is seen nowhere else.
"""Askers of the same at the same time share an answer that is newer than their questions."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio.lowlevel
import pytest

from graph.single_flight import SingleFlight


class Source:
    """Answers, once the test lets it, with the value that it had when it was asked."""

    def __init__(self) -> None:
        self.value = 0
        self.asked = 0
        self.error: Exception | None = None
        self._let = asyncio.Semaphore(0)

    async def read(self) -> int:
        self.asked += 1
        seen = self.value
        await self._let.acquire()
        if self.error:
            raise self.error
        return seen

    def let(self, times: int = 1) -> None:
        for _ in range(times):
            self._let.release()


async def began(*tasks: asyncio.Task[Any]) -> None:
    for _ in range(10 + len(tasks)):
        await anyio.lowlevel.checkpoint()


def ask(single_flight: SingleFlight[int], source: Source, key: str = "a") -> asyncio.Task[int]:
    return asyncio.create_task(single_flight.do(key, source.read))


async def test_those_who_ask_meanwhile_get_one_answer_that_is_newer_than_what_they_know() -> None:
    single_flight, source = SingleFlight[int](), Source()
    first = ask(single_flight, source)
    await began(first)
    source.value = 1
    others = [ask(single_flight, source) for _ in range(50)]
    await began(*others)
    source.value = 2
    source.let(2)
    assert await first == 0
    assert await asyncio.gather(*others) == [2] * 50
    assert source.asked == 2


async def test_who_asks_while_the_shared_one_is_on_its_way_gets_a_newer_one() -> None:
    single_flight, source = SingleFlight[int](), Source()
    tasks: list[asyncio.Task[int]] = []
    for value in range(4):
        source.value = value
        tasks += [ask(single_flight, source), ask(single_flight, source)]
        await began(*tasks)
        source.let()
        await began(*tasks)
    source.let(4)
    answers = await asyncio.gather(*tasks)
    assert all(answer >= number // 2 for number, answer in enumerate(answers))
    assert await finished(single_flight, source)


async def finished(single_flight: SingleFlight[int], source: Source) -> bool:
    """Say whether nothing is left over: the next question is asked at once."""
    asked = source.asked
    source.let()
    await single_flight.do("a", source.read)
    return source.asked == asked + 1


async def test_who_gives_up_ends_nothing_for_the_others() -> None:
    single_flight, source = SingleFlight[int](), Source()
    first, second, third = (ask(single_flight, source) for _ in range(3))
    await began(first, second, third)
    first.cancel()
    second.cancel()
    await began(first, second, third)
    source.value = 7
    source.let(2)
    assert await third == 0
    assert first.cancelled()
    assert second.cancelled()
    assert await finished(single_flight, source)


async def test_what_all_gave_up_is_not_asked() -> None:
    single_flight, source = SingleFlight[int](), Source()
    first, *others = (ask(single_flight, source) for _ in range(5))
    await began(first, *others)
    for other in others:
        other.cancel()
    await began(*others)
    source.let()
    await first
    await began(first)
    assert source.asked == 1
    assert await finished(single_flight, source)


async def test_a_shared_question_that_is_stopped_stops_none_that_come_later() -> None:
    single_flight, source = SingleFlight[int](), Source()
    first, second = ask(single_flight, source), ask(single_flight, source)
    await began(first, second)
    (shared,) = single_flight._next.values()
    shared.cancel()
    await began(first, second)
    source.let()
    await first
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await finished(single_flight, source)


async def test_an_error_is_everybodys_and_not_that_of_those_who_come_later() -> None:
    single_flight, source = SingleFlight[int](), Source()
    tasks = [ask(single_flight, source) for _ in range(3)]
    await began(*tasks)
    source.error = ValueError("no")
    source.let(2)
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(error) for error in found] == [ValueError] * 3
    source.error = None
    assert await finished(single_flight, source)


async def test_other_questions_are_not_waited_for() -> None:
    single_flight, source, other = SingleFlight[int](), Source(), Source()
    first = ask(single_flight, source)
    other.let()
    assert await single_flight.do("b", other.read) == 0
    source.let()
    assert await first == 0


@pytest.mark.parametrize("askers", [1, 2, 30])
async def test_nothing_is_kept_when_all_are_answered(askers: int) -> None:
    single_flight, source = SingleFlight[int](), Source()
    tasks = [ask(single_flight, source) for _ in range(askers)]
    source.let(askers)
    await asyncio.gather(*tasks)
    assert (single_flight._running, single_flight._next, single_flight._waiters) == ({}, {}, {})
