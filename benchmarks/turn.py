"""One chat turn through the real service over HTTP, with a model that takes no time: `python -m benchmarks.turn`.

First event and first token are counted from the moment the request is sent. CPU is that of the service: of the whole
process without the client's thread.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI

from api.app import create_app
from benchmarks.models import TOKENS, InstantModel
from benchmarks.table import milliseconds, print_table
from drive_server.settings import DriveSettings
from graph.settings import AgentSettings

WARM_UP = 5
MESSAGE = "List the folder"


@dataclass(frozen=True, slots=True)
class Turn:
    """Seconds to the first event, to the first token and to the end; seconds of the service's CPU; and bytes."""

    first_event: float
    first_token: float
    whole: float
    cpu: float
    size: int


class _Server(uvicorn.Server):
    def __init__(self, app: FastAPI) -> None:
        super().__init__(uvicorn.Config(app, port=0, log_config=None, access_log=False))
        self.thread = threading.Thread(target=self.run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}"


@contextmanager
def serving(model: InstantModel) -> Generator[httpx.Client]:
    """Serve the app on a fresh drive from a thread; yields a client with the owner's token."""
    with tempfile.TemporaryDirectory() as root:
        settings = DriveSettings(data_dir=Path(root), embedding_model="none")
        app = create_app(
            settings, AgentSettings(model="offline"), models={"router": model, "planner": model, "agent": model}
        )
        server = _Server(app)
        server.thread.start()
        while not server.started:
            time.sleep(0.01)
        token = settings.token_path.read_text().strip()
        with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
            yield client
        server.should_exit = True
        server.thread.join()


def take_turn(client: httpx.Client) -> Turn:
    """Say something in a new thread and read to the end."""
    cpu, begun = _service_cpu(), time.perf_counter()
    first_event = first_token = 0.0
    body = b""
    with client.stream("POST", "/api/chat", json={"message": MESSAGE}) as response:
        for part in response.iter_raw():
            now = time.perf_counter() - begun
            body += part
            first_event = first_event or now
            if not first_token and b"event: content" in body:
                first_token = now
    assert body.count(b"token99 ") == 1, body
    return Turn(first_event, first_token, time.perf_counter() - begun, _service_cpu() - cpu, len(body))


def _service_cpu() -> float:
    return time.process_time() - time.thread_time()


def measure(calls: int, turns: int) -> list[str]:
    """Return the row of a kind of turn."""
    with serving(InstantModel(calls=calls)) as client:
        for _ in range(WARM_UP):
            take_turn(client)
        taken = [take_turn(client) for _ in range(turns)]
    columns = [
        [turn.first_event for turn in taken],
        [turn.first_token for turn in taken],
        [turn.whole for turn in taken],
    ]
    times = [milliseconds(column) for column in columns]
    sizes = sorted(turn.size for turn in taken)
    return [*times, milliseconds([turn.cpu for turn in taken]), f"{sizes[len(sizes) // 2] / 1000:.1f}"]


def main() -> None:
    """Measure a plain turn, and one with three tool calls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=50)
    turns = parser.parse_args().turns
    rows = [["one answer", *measure(0, turns)], ["and 3 tool calls", *measure(3, turns)]]
    header = ["turn", "first event ms", "first token ms", "whole ms", "CPU ms", "kB"]
    print_table(f"A chat turn of {TOKENS} tokens, medians of {turns}", header, rows)


if __name__ == "__main__":
    main()
