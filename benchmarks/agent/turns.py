"""The cost of a turn, beside langchain's prebuilt agent: `python -m benchmarks.agent.turns`.

The model is a scripted OpenAI-compatible server in a process of its own, without delay: what is measured is everything
around it. The contenders take turns in turn, so that what disturbs one disturbs all; what is printed are medians. CPU
is that of the contender's process alone.
"""

import argparse
import importlib.util
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import median

import uvloop

from benchmarks.fixtures.services.contenders import CONTENDERS, Contender, Times, come_to_rest
from benchmarks.fixtures.services.scripted_model import TOKENS, scripted_model
from benchmarks.fixtures.table import milliseconds, print_table

WARM_UP = 8
HEADER = ["", "CPU ms", "beside the first", "first event ms", "first token ms", "whole ms"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a turn without tools, and one with three calls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    turns = parser.parse_args(arguments).turns
    if importlib.util.find_spec("langchain") is None:
        print("\nNothing to compare turns with: install the extra `bench`.")
        return
    for calls in (0, 3):
        with scripted_model() as url:
            rows = uvloop.run(_measure(url, f"calls-{calls}", turns))
        print_table(f"A turn of {TOKENS} tokens with {calls} tool calls, medians of {turns}", HEADER, rows)


async def _measure(url: str, model: str, turns: int) -> list[list[str]]:
    async with AsyncExitStack() as stack:
        opened = {name: await stack.enter_async_context(open_(url, model)) for name, open_ in CONTENDERS.items()}
        taken: dict[str, list[tuple[Times, float]]] = {name: [] for name in opened}
        for number in range(WARM_UP + turns):
            for name, contender in opened.items():
                if number in {0, WARM_UP}:
                    await come_to_rest(contender)
                result = await _take(contender)
                if number >= WARM_UP:
                    taken[name].append(result)
    floor = median(cpu for _, cpu in next(iter(taken.values())))
    return [_row(name, results, floor) for name, results in taken.items()]


async def _take(contender: Contender) -> tuple[Times, float]:
    before = contender.cpu()
    times = await contender.turn()
    return times, contender.cpu() - before


def _row(name: str, results: Sequence[tuple[Times, float]], floor: float) -> list[str]:
    cpu = [used for _, used in results]
    columns = [
        [times.first_event for times, _ in results],
        [times.first_token for times, _ in results],
        [times.whole for times, _ in results],
    ]
    return [name, milliseconds(cpu), f"x{median(cpu) / floor:.2f}", *(milliseconds(column) for column in columns)]


if __name__ == "__main__":
    main()
