"""CPU seconds that commands take to start: medians of several runs, each of a process of its own.

`python -m benchmarks.start [--runs N] [--json]`: commands that talk to a service that runs, `drive-agent mcp` with a
data directory and with a new one, and `serve` until it is ready.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

PROGRAM: Final = Path(sys.executable).with_name("drive-agent")
CLIENTS: Final = (["--version"], ["ls"], ["tree"], ["search", "nothing"], ["threads", "list"], ["trash", "list"])
CPU, WALL = "CPU seconds", "seconds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="drive-agent-start-") as folder:
        rows = measured(Path(folder), arguments.runs)
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"| command | {CPU} | {WALL} |\n|---|---|---|")
    for name, row in rows.items():
        print(f"| `{name}` | {row[CPU]:.2f} | {row[WALL]:.2f} |")


def measured(folder: Path, runs: int) -> dict[str, dict[str, float]]:
    """Return the medians for each command."""
    data = folder / "data"
    rows: dict[str, dict[str, float]] = {}
    with serving(data) as ready:
        rows["serve, new data directory, until ready"] = ready
        for words in CLIENTS:
            rows[" ".join(words)] = median(runs, lambda words=words: run(words, data))
    with serving(data) as ready:
        rows["serve, until ready"] = ready
    rows["mcp"] = median(runs, lambda: run(["mcp"], data))
    numbers = iter(range(runs))
    rows["mcp, new data directory"] = median(runs, lambda: run(["mcp"], folder / f"new{next(numbers)}"))
    rows["ls, without a service"] = median(runs, lambda: run(["ls"], data))
    return rows


def median(runs: int, one: Callable[[], dict[str, float]]) -> dict[str, float]:
    found = [one() for _ in range(runs)]
    return {name: statistics.median(row[name] for row in found) for name in (CPU, WALL)}


def run(words: list[str], data: Path) -> dict[str, float]:
    """Run a command to its end, with nothing on standard input."""
    began, before = time.monotonic(), spent()
    subprocess.run([PROGRAM, *words], env=environment(data), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return {CPU: spent() - before, WALL: time.monotonic() - began}


@contextmanager
def serving(data: Path) -> Generator[dict[str, float]]:
    """Serve, and yield what it took until the service said that it is ready."""
    began = time.monotonic()
    command = [PROGRAM, "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment(data), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        for line in process.stdout:
            if b"Ctrl-C" in line:
                break
        yield {CPU: cpu_of(process.pid), WALL: time.monotonic() - began}
        process.send_signal(signal.SIGINT)


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
