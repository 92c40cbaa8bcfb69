"""The small service as a process of its own, for tests that kill it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.api.serving import RunningService, SmallService
from tests.e2e.person import Person
from tests.forked import Forked


class KillableService:
    """A process that serves a data directory until it is killed. With `gate_open`, nothing waits at the gate."""

    def __init__(self, data_dir: Path, *, gate_open: bool = False) -> None:
        arguments = [str(data_dir), *(["open"] if gate_open else [])]
        self._process = Forked("tests.api.killable", arguments, os.environ)
        self.url = self._process.stdout.readline().decode().strip()
        assert self.url, "the service did not start"

    def person(self) -> Person:
        """Return Alice."""
        return Person(self.url, "alice-key", "alice@example.com")

    def kill(self) -> None:
        """Kill -9: nothing gets to clean up."""
        self._process.kill()
        with self._process:
            self._process.wait(20)


def main(arguments: list[str]) -> None:
    """Serve, and print where."""
    data_dir, *options = arguments
    parts = SmallService(Path(data_dir))
    parts.gate_open = "open" in options
    running = RunningService(parts).start()
    sys.stdout.write(f"{running.url}\n")
    sys.stdout.flush()
    running.wait()
