"""The cost of a long thread: `python -m benchmarks.agent.long_thread`.

Its turns have ten tool calls, each with a result of 4 KB.

With `--beside`, the same on LangGraph's own saver too.

Through the real service over HTTP, with a model that takes no time, in one thread. CPU is that of the service. The
bytes are those of all files that threads are kept in, beside what was said and read: the messages, the calls and the
results, as text.
"""

import argparse
import random
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import httpx
import uvicorn
from fastapi import FastAPI
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGenerationChunk
from pydantic import Field

from api.app import create_app
from benchmarks.fixtures.services.models import InstantModel
from benchmarks.fixtures.services.plain_saver import plain_saver
from benchmarks.fixtures.table import print_table
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings

RESULT_BYTES = 4_000
MESSAGE = "Search my files for the project plan"
ANSWER = "I have read them all, and the plan is in the third of them. " * 4
KEPT_IN = ("graph.db", "store.db")
AROUND = 5
VOCABULARY = 3_000


class ReadingModel(InstantModel):
    """Reads `calls` files, `at_once` in a round, then answers."""

    at_once: int = 1
    files: list[str] = Field(default_factory=list[str])

    async def _astream(
        self, messages: list[BaseMessage], *arguments: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        del arguments, kwargs
        done = _results_of_the_turn(messages)
        if done >= self.calls:
            yield ChatGenerationChunk(message=AIMessageChunk(content=ANSWER))
            return
        wanted = [self.files[number % len(self.files)] for number in range(done, done + self.at_once)]
        calls = [tool_call(name="read_file", args={"file_id": file}, id=f"call_{uuid4().hex}") for file in wanted]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_calls=calls))


def _results_of_the_turn(messages: Sequence[BaseMessage]) -> int:
    after = max((n for n, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
    return sum(isinstance(message, ToolMessage) for message in messages[after:])


@contextmanager
def serving(app: FastAPI) -> Generator[str]:
    """Serve from a thread; yields the address. At the end everything is closed, and so written to its file."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def measure(turns: int, calls: int, at_once: int, folder: Path) -> list[str]:
    """Return the row of a thread: bytes, and what its tenth and its last turns cost."""
    model = ReadingModel(calls=calls, at_once=at_once)
    settings = DriveSettings(data_dir=folder, embedding_model="none")
    app = create_app(
        settings,
        AgentSettings(model="offline", tool_rate="0"),
        models={"router": model, "planner": model, "agent": model},
    )
    with serving(app) as url:
        headers = {"Authorization": f"Bearer {settings.token_path.read_text().strip()}"}
        with httpx.Client(base_url=url, headers=headers, timeout=600) as client:
            model.files = [_upload(client, number) for number in range(calls)]
            costs, reading = _costs(client, turns)
    kept = sum(path.stat().st_size for name in KEPT_IN for path in folder.glob(f"{name}*"))
    raw = turns * (calls * RESULT_BYTES + len(MESSAGE) + len(ANSWER))
    early, late = median(costs[9 - AROUND : 10 + AROUND]), median(costs[-2 * AROUND :])
    return [
        f"{calls} calls, {at_once} a round",
        *(f"{size / 1e6:.1f}" for size in (raw, kept)),
        f"{kept / raw:.2f}",
        *(f"{seconds * 1000:.0f}" for seconds in (early, late)),
        f"{late / early:.2f}",
        f"{reading * 1000:.0f}",
    ]


def _costs(client: httpx.Client, turns: int) -> tuple[list[float], float]:
    """Return what each turn costs, and what reading the thread costs at the end."""
    thread_id, costs = "", list[float]()
    for _ in range(turns):
        thread_id, cost = _turn(client, thread_id)
        costs.append(cost)
    begun = _service_cpu()
    client.get(f"/api/threads/{thread_id}").raise_for_status()
    return costs, _service_cpu() - begun


def _turn(client: httpx.Client, thread_id: str) -> tuple[str, float]:
    begun = _service_cpu()
    asked = {"message": MESSAGE, **({"thread_id": thread_id} if thread_id else {})}
    answer = client.post("/api/chat", json=asked)
    cost = _service_cpu() - begun
    assert '"status":"success"' in answer.text, answer.text[-500:]
    return answer.text.split('"thread_id":"', 1)[1].split('"', 1)[0], cost


def _upload(client: httpx.Client, number: int) -> str:
    chosen = random.Random(number)  # noqa: S311 - words, not secrets
    words = [_word(chosen) for _ in range(VOCABULARY)]
    text = " ".join(chosen.choices(words, k=RESULT_BYTES))[:RESULT_BYTES]
    answer = client.post("/api/drive/files", params={"name": f"{number}.txt"}, content=text.encode())
    return answer.raise_for_status().json()["id"]


def _word(chosen: random.Random) -> str:
    return "".join(chosen.choices("abcdefghijklmnoprstuvwz", k=chosen.randint(2, 9)))


def _service_cpu() -> float:
    return time.process_time() - time.thread_time()


def main() -> None:
    """Measure threads whose calls run all at once, and one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--at-once", type=int, action="append")
    parser.add_argument("--beside", action="store_true", help="measure LangGraph's own saver too")
    options = parser.parse_args()
    rows: list[list[str]] = []
    savers = {"": nullcontext, ", LangGraph's saver": plain_saver} if options.beside else {"": nullcontext}
    for at_once in options.at_once or [options.calls, 1]:
        for name, saver in savers.items():
            with tempfile.TemporaryDirectory() as folder, saver():
                first, *others = measure(options.turns, options.calls, at_once, Path(folder))
            rows.append([first + name, *others])
    print_table(
        f"A thread of {options.turns} turns, results of {RESULT_BYTES} bytes",
        ["thread", "raw MB", "kept MB", "ratio", "turn 10 ms", f"turn {options.turns} ms", "ratio", "read thread ms"],
        rows,
    )


if __name__ == "__main__":
    main()
