"""The cost of a turn by each door of one service: `python -m benchmarks.agent.doors`.

`/v1/chat/completions` shows the events of the same run as `/api/chat`, in another form. Both are asked in turn, of the
same process, with a new conversation each time; printed are the medians of its CPU, and the lowest.
"""

import argparse
import asyncio
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

import uvloop

from benchmarks.fixtures.services.contenders import MESSAGE, Served, come_to_rest, served
from benchmarks.fixtures.services.scripted_model import TOKENS, scripted_model
from benchmarks.fixtures.table import milliseconds, print_table

WARM_UP: Final = 8
HEADER: Final = ["", "CPU ms", "beside the first", "lowest", "beside the first", "first token ms"]
API: Final = "/api/chat"
OPENAI: Final = "/v1/chat/completions"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a turn without tools, and one with three calls, by both doors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=60)
    given = parser.parse_args(arguments)
    for calls in (0, 3):
        with scripted_model() as url:
            rows = uvloop.run(_measure(url, f"calls-{calls}", given.turns))
        print_table(f"A turn of {TOKENS} tokens with {calls} tool calls, medians of {given.turns}", HEADER, rows)


def _asked() -> dict[str, Any]:
    messages = [{"role": "user", "content": MESSAGE}]
    return {"model": "drive_agent", "messages": messages, "stream": True, "stream_options": {"include_usage": True}}


async def _measure(url: str, model: str, turns: int) -> list[list[str]]:
    async with served("ours", API)(url, model) as service:
        assert isinstance(service, Served)
        doors = {API: service, OPENAI: service.by(OPENAI, _asked)}
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in doors}
        for number in range(WARM_UP + turns):
            for name, door in doors.items():
                if number in {0, WARM_UP} and name == API:
                    await come_to_rest(door)
                result = await _take(door)
                if number >= WARM_UP:
                    taken[name].append(result)
    first = [cpu for cpu, _ in taken[API]]
    return [_row(name, results, first) for name, results in taken.items()]


async def _take(door: Served) -> tuple[float, float]:
    before = door.cpu()
    times = await door.turn()
    # The end of a turn outlives its last byte.
    await asyncio.sleep(0.05)
    return door.cpu() - before, times.first_token


def _row(name: str, results: Sequence[tuple[float, float]], first: Sequence[float]) -> list[str]:
    cpu = [used for used, _ in results]
    beside = [f"x{median(cpu) / median(first):.3f}", milliseconds([min(cpu)]), f"x{min(cpu) / min(first):.3f}"]
    return [name, milliseconds(cpu), *beside, milliseconds([token for _, token in results])]


if __name__ == "__main__":
    main()
