"""The cost of a turn by each door of one service: `python -m benchmarks.agent.doors`.

`/v1/chat/completions` and `/runs/stream` (with values, updates, custom and messages) show the events of the same run as
`/api/chat`, in other forms. All are asked in turn, of the same process, with a new conversation each time; printed are
the medians of its CPU, and the lowest.
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
HEADER: Final = ["", "CPU ms", "beside the first", "lowest", "beside the first", "first event ms", "first token ms"]
API: Final = "/api/chat"
OPENAI: Final = "/v1/chat/completions"
LANGGRAPH: Final = "/runs/stream"
MODES: Final = ["values", "updates", "custom", "messages-tuple"]
Taken = tuple[float, float, float]
"""CPU seconds, and the seconds to the first event and to the first token."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a turn without tools, and one with three calls, by each door."""
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


def _run() -> dict[str, Any]:
    said = {"messages": [{"type": "human", "content": MESSAGE}]}
    return {"assistant_id": "drive_agent", "input": said, "stream_mode": MODES, "on_completion": "keep"}


async def _measure(url: str, model: str, turns: int) -> list[list[str]]:
    async with served("ours", API)(url, model) as service:
        assert isinstance(service, Served)
        doors = {API: service, OPENAI: service.by(OPENAI, _asked), LANGGRAPH: service.by(LANGGRAPH, _run)}
        taken: dict[str, list[Taken]] = {name: [] for name in doors}
        for number in range(WARM_UP + turns):
            for name, door in doors.items():
                if number in {0, WARM_UP} and name == API:
                    await come_to_rest(door)
                result = await _take(door)
                if number >= WARM_UP:
                    taken[name].append(result)
    first = [cpu for cpu, _, _ in taken[API]]
    return [_row(name, results, first) for name, results in taken.items()]


async def _take(door: Served) -> Taken:
    before = door.cpu()
    times = await door.turn()
    # The end of a turn outlives its last byte.
    await asyncio.sleep(0.05)
    return door.cpu() - before, times.first_event, times.first_token


def _row(name: str, results: Sequence[Taken], first: Sequence[float]) -> list[str]:
    cpu, events, tokens = zip(*results, strict=True)
    beside = [f"x{median(cpu) / median(first):.3f}", milliseconds([min(cpu)]), f"x{min(cpu) / min(first):.3f}"]
    return [name, milliseconds(cpu), *beside, milliseconds(events), milliseconds(tokens)]


if __name__ == "__main__":
    main()
