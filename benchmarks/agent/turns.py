"""The cost of a turn, beside langchain's prebuilt agent: `python -m benchmarks.agent.turns`.

The model is a scripted OpenAI-compatible server in a process of its own, without delay: what is measured is everything
around it. The turn without tools is measured once more with a token a millisecond, and with sixteen at the same time;
`--between` and `--at-once` measure others instead.

The contenders take turns in turn, so that what disturbs one disturbs all. Printed are medians, and the lowest CPU: a
busy machine disturbs that least. CPU is that of the contender's process alone, for each turn.
"""

import argparse
import asyncio
import importlib.util
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import median
from typing import Final

import uvloop

from benchmarks.fixtures.services.contenders import CONTENDERS, Contender, Times, come_to_rest
from benchmarks.fixtures.services.scripted_model import TOKENS, scripted_model
from benchmarks.fixtures.table import milliseconds, print_table

WARM_UP = 8
HEADER = [
    "",
    "CPU ms",
    "beside the first",
    "lowest",
    "beside the first",
    "first event ms",
    "first token ms",
    "whole ms",
]


CASES: Final = ((0, 0.0, 1), (3, 0.0, 1), (0, 0.001, 1), (0, 0.0, 16))
"""The calls of a turn, the seconds between its tokens, and the turns at once."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a turn without tools, one with three calls, one whose tokens take time, and many at once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--between", type=float, metavar="SECONDS", help="between two tokens")
    parser.add_argument("--at-once", type=int)
    given = parser.parse_args(arguments)
    if importlib.util.find_spec("langchain") is None:
        print("\nNothing to compare turns with: install the extra `bench`.")
        return
    wanted = [(calls, given.between or 0.0, given.at_once or 1) for calls in (0, 3)]
    is_default = given.between is None and given.at_once is None
    for calls, between, at_once in CASES if is_default else wanted:
        with scripted_model(between=between) as url:
            rows = uvloop.run(_measure(url, f"calls-{calls}", given.turns, at_once))
        title = f"A turn of {TOKENS} tokens with {calls} tool calls, {at_once} at once, {between:g} s a token"
        print_table(f"{title}, medians of {given.turns}", HEADER, rows)


async def _measure(url: str, model: str, turns: int, at_once: int) -> list[list[str]]:
    async with AsyncExitStack() as stack:
        opened = {name: await stack.enter_async_context(open_(url, model)) for name, open_ in CONTENDERS.items()}
        taken: dict[str, list[tuple[Times, float]]] = {name: [] for name in opened}
        for number in range(WARM_UP + turns):
            for name, contender in opened.items():
                if number in {0, WARM_UP}:
                    await come_to_rest(contender)
                result = await _take(contender, at_once)
                if number >= WARM_UP:
                    taken[name].append(result)
    first = [cpu for _, cpu in next(iter(taken.values()))]
    return [_row(name, results, first) for name, results in taken.items()]


async def _take(contender: Contender, at_once: int) -> tuple[Times, float]:
    before = contender.cpu()
    times, *_ = await asyncio.gather(*(contender.turn() for _ in range(at_once)))
    return times, (contender.cpu() - before) / at_once


def _row(name: str, results: Sequence[tuple[Times, float]], first: Sequence[float]) -> list[str]:
    cpu = [used for _, used in results]
    columns = [
        [times.first_event for times, _ in results],
        [times.first_token for times, _ in results],
        [times.whole for times, _ in results],
    ]
    beside = [f"x{median(cpu) / median(first):.2f}", milliseconds([min(cpu)]), f"x{min(cpu) / min(first):.2f}"]
    return [name, milliseconds(cpu), *beside, *(milliseconds(column) for column in columns)]


if __name__ == "__main__":
    main()
