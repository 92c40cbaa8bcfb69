"""The cost of a turn by each door of one service: `python -m benchmarks.agent.doors`.

`/v1/chat/completions`, `/runs/stream` and `/threads/{id}/runs/stream` (with values, updates, custom and messages) and
LangGraph's second protocol (with the channels of its client) show the events of the same run as `/api/chat`, in other
forms. All are asked in turn, of the same process, with a new conversation each time; printed are the medians of its
CPU, and the lowest. Then `--chats` of them are begun at once, on a model of 300 ms and then 20 ms a token, and the
bytes of a token in a frame are counted.
"""

import argparse
import asyncio
import re
import time
from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any, Final
from uuid import uuid4

import uvloop

from benchmarks.agent.crowd import BETWEEN, FIRST
from benchmarks.fixtures.services.contenders import (
    END_OF_BODY,
    MESSAGE,
    Contender,
    Served,
    Times,
    come_to_rest,
    read_answer,
    served,
)
from benchmarks.fixtures.services.scripted_model import TOKENS, scripted_model
from benchmarks.fixtures.table import milliseconds, print_table

WARM_UP: Final = 8
HEADER: Final = ["", "CPU ms", "beside the first", "lowest", "beside the first", "first event ms", "first token ms"]
API: Final = "/api/chat"
OPENAI: Final = "/v1/chat/completions"
LANGGRAPH: Final = "/runs/stream"
THREAD: Final = "/threads/{id}/runs/stream"
COMMANDS: Final = "/threads/{id}/commands"
CHANNELS: Final = ["values", "checkpoints", "lifecycle", "input", "messages", "tools"]
COMPLETED: Final = b'"data":{"event":"completed"}'
CROWD_HEADER: Final = ["", "median s", "p95 s", "beside the first", "CPU ms a chat", "beside the first"]
FRAME: Final = re.compile(rb"(?:id: [^\n]*\n)?event: messages\ndata: (?:[^\n]*)\n\n")
MODES: Final = ["values", "updates", "custom", "messages-tuple"]
Taken = tuple[float, float, float]
"""CPU seconds, and the seconds to the first event and to the first token."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a turn without tools, and one with three calls, by each door."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--chats", type=int, default=100, help="at once; 0: none (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of chats at once (default: %(default)s)")
    given = parser.parse_args(arguments)
    for calls in (0, 3):
        with scripted_model() as url:
            rows = uvloop.run(_measure(url, f"calls-{calls}", given.turns))
        print_table(f"A turn of {TOKENS} tokens with {calls} tool calls, medians of {given.turns}", HEADER, rows)
    if not given.chats:
        return
    with scripted_model(FIRST, BETWEEN) as url:
        rows = uvloop.run(_measure_crowds(url, given.chats, given.rounds))
    print_table(f"{given.chats} chats at once, {given.rounds} rounds", CROWD_HEADER, rows)
    with scripted_model(0, BETWEEN * 5) as url:
        print(f"\nA frame of one token: {uvloop.run(_token_bytes(url)):.0f} bytes")


def _asked() -> dict[str, Any]:
    messages = [{"role": "user", "content": MESSAGE}]
    return {"model": "drive_agent", "messages": messages, "stream": True, "stream_options": {"include_usage": True}}


def _run() -> dict[str, Any]:
    said = {"messages": [{"type": "human", "content": MESSAGE}]}
    return {"assistant_id": "drive_agent", "input": said, "stream_mode": MODES, "on_completion": "keep"}


class ByCommands:
    """A turn by the second protocol: a command that begins a run, and the events of its thread."""

    def __init__(self, service: Served) -> None:
        self._service = service
        self.cpu = service.cpu
        self.memory = service.memory

    async def turn(self) -> Times:
        """Say something in a new thread, and read to the end of the run."""
        path, begun = f"/threads/{uuid4()}", time.perf_counter()
        said = {"input": {"messages": [{"type": "human", "content": MESSAGE}]}, "assistant_id": "drive_agent"}
        command = {"id": 1, "method": "run.start", "params": said}
        async with self._service.asked(f"{path}/commands", command) as reader:
            await reader.readuntil(b'"success"')
        async with self._service.asked(f"{path}/stream/events", {"channels": CHANNELS}) as reader:
            return await read_answer(reader, begun, COMPLETED)


def _doors(service: Served) -> dict[str, Contender]:
    return {
        API: service,
        OPENAI: service.by(OPENAI, _asked),
        LANGGRAPH: service.by(LANGGRAPH, _run),
        THREAD: service.by(lambda: f"/threads/{uuid4()}/runs/stream", lambda: {**_run(), "if_not_exists": "create"}),
        COMMANDS: ByCommands(service),
    }


async def _measure(url: str, model: str, turns: int) -> list[list[str]]:
    async with served("ours", API)(url, model) as service:
        assert isinstance(service, Served)
        doors = _doors(service)
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


async def _measure_crowds(url: str, chats: int, rounds: int) -> list[list[str]]:
    """Return a row for each door, of which so many are used at once; the doors take turns."""
    taken: dict[str, list[tuple[list[float], float]]] = {}
    async with served("ours", API)(url, "calls-0") as service:
        assert isinstance(service, Served)
        for number in range(rounds + 1):
            for name, door in _doors(service).items():
                if number in {0, 1} and name == API:
                    await come_to_rest(door)
                before = door.cpu()
                times = await asyncio.gather(*(door.turn() for _ in range(chats if number else WARM_UP)))
                await asyncio.sleep(1)
                if number:
                    used = (door.cpu() - before) / chats
                    taken.setdefault(name, []).append(([one.whole for one in times], used))
    figures = {
        name: (median(_all(results)), quantiles(_all(results), n=20)[-1], median(used for _, used in results))
        for name, results in taken.items()
    }
    _, late, used = figures[API]
    return [
        [
            name,
            f"{mid:.2f}",
            f"{end:.2f}",
            f"x{end / late:.3f}",
            f"{cpu * 1000:.1f}",
            f"x{cpu / used:.3f}",
        ]
        for name, (mid, end, cpu) in figures.items()
    ]


def _all(results: Sequence[tuple[list[float], float]]) -> list[float]:
    return [whole for times, _ in results for whole in times]


async def _token_bytes(url: str) -> float:
    """Return the bytes of a token in frames of `messages`, each for itself as with a model that takes its time."""
    async with served("ours", API)(url, "calls-0") as service:
        assert isinstance(service, Served)
        async with service.asked(LANGGRAPH, _run()) as reader:
            body = b""
            while not body.endswith(END_OF_BODY):
                body += await reader.read(65_536)
    frames = FRAME.findall(re.sub(rb"\r\n[0-9a-f]+\r\n", b"", body))
    assert len(frames) > TOKENS / 2, frames
    return sum(map(len, frames)) / len(frames)


async def _take(door: Contender) -> Taken:
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
