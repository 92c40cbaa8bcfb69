"""CPU seconds that commands take to start: medians of several runs, each of a process of its own.

`python -m benchmarks.start [--runs N] [--json]`: commands that talk to a service that runs, `drive-agent mcp` until it
answers a host, and `serve` until `/readyz` says that it is ready, these with a data directory and with a new one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

PROGRAM: Final = Path(sys.executable).with_name("drive-agent")
CLIENTS: Final = (
    ["--version"],
    ["ls"],
    ["tree"],
    ["search", "nothing"],
    ["threads", "list"],
    ["trash", "list"],
    ["chat", "hello"],
)
CPU, WALL = "CPU seconds", "seconds"
ASKED_EVERY_SECONDS: Final = 0.02
HOST: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "start", "version": "1"}}
INITIALIZE: Final = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HOST}).encode() + b"\n"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="drive-agent-start-") as folder:
        rows = measured(Path(folder), arguments.runs)
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"\n| command | {CPU} | {WALL} |\n|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | {row[CPU]:.2f} | {row[WALL]:.2f} |")


def measured(folder: Path, runs: int) -> dict[str, dict[str, float]]:
    """Return the medians for each command."""
    data, numbers = folder / "data", count()

    def new() -> Path:
        return folder / f"new{next(numbers)}"

    rows: dict[str, dict[str, float]] = {}
    with serving(data):
        for words in CLIENTS:
            rows[f"`{' '.join(words)}`"] = median(runs, lambda words=words: run(words, data))
    rows["`ls`, no service runs"] = median(runs, lambda: run(["ls"], data))
    rows["`mcp`, first answer, new data directory"] = median(runs, lambda: first_answer(new()))
    rows["`mcp`, first answer"] = median(runs, lambda: first_answer(data))
    rows["`serve`, ready, new data directory"] = median(runs, lambda: ready(new()))
    rows["`serve`, ready"] = median(runs, lambda: ready(data))
    return rows


def median(runs: int, one: Callable[[], dict[str, float]]) -> dict[str, float]:
    found = [one() for _ in range(runs)]
    return {name: statistics.median(row[name] for row in found) for name in (CPU, WALL)}


def run(words: list[str], data: Path) -> dict[str, float]:
    """Run a command to its end, with nothing on standard input."""
    began, before = time.monotonic(), spent()
    subprocess.run([PROGRAM, *words], env=environment(data), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return {CPU: spent() - before, WALL: time.monotonic() - began}


def first_answer(data: Path) -> dict[str, float]:
    """Start the MCP server as a host does, and wait for its answer to `initialize`."""
    began = time.monotonic()
    command, pipe = [PROGRAM, "mcp"], subprocess.PIPE
    with subprocess.Popen(
        command, env=environment(data), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        assert b"serverInfo" in process.stdout.readline()
        return {CPU: cpu_of(process.pid), WALL: time.monotonic() - began}


def ready(data: Path) -> dict[str, float]:
    """Serve until /readyz says that it is ready."""
    began = time.monotonic()
    with serving(data) as process:
        return {CPU: cpu_of(process.pid), WALL: time.monotonic() - began}


@contextmanager
def serving(data: Path) -> Generator[subprocess.Popen[bytes]]:
    """Serve on a free port while this is open, which is once it is ready."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [PROGRAM, "serve", "--port", str(port)]
    with subprocess.Popen(
        command, env=environment(data), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while not is_ready(f"http://127.0.0.1:{port}/readyz"):
            assert process.poll() is None
            time.sleep(ASKED_EVERY_SECONDS)
        yield process
        process.send_signal(signal.SIGINT)


def is_ready(url: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(url) as response:  # noqa: S310 - its own address
        return response.status == HTTPStatus.OK
    return False


def cpu_of(process_id: int) -> float:
    """Return the CPU seconds of a process that runs; only Linux tells."""
    fields = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Return the CPU seconds of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def environment(data: Path) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("DRIVE_", "AGENT_", "OPENAI_"))
    }
    return {**inherited, "DRIVE_DATA_DIR": str(data)}


if __name__ == "__main__":
    main()
