"""The small service as a process of its own, for tests that kill it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.api.serving import RunningService, SmallService, service_database
from tests.e2e.person import Person
from tests.forked import Forked


class KillableService:
    """A process that serves a data directory until it is killed. With `gate_open`, nothing waits at the gate.

    `database` is the URL of one that several of them share.
    """

    def __init__(self, data_dir: Path, *, gate_open: bool = False, database: str = "") -> None:
        if not database:
            service_database(data_dir)  # its server is that of the tests: one of the process would outlive its kill
        arguments = [str(data_dir), database, *(["open"] if gate_open else [])]
        self._process = Forked("tests.api.killable", arguments, os.environ)
        try:
            self.url = self._process.stdout.readline().decode().strip()
            assert self.url, "the service did not start"
        except BaseException:
            self.kill()
            raise

    def person(self) -> Person:
        """Return Alice."""
        return Person(self.url, "alice-key", "alice@example.com")

    def send(self, number: signal.Signals) -> None:
        """Send it a signal: SIGUSR1 opens the gate, SIGTERM stops it as a supervisor does."""
        self._process.send_signal(number)

    def wait(self) -> None:
        """Return once it has ended."""
        self._process.wait(30)

    def kill(self) -> None:
        """Kill -9: nothing gets to clean up."""
        self._process.kill()
        with self._process:
            self._process.wait(60)


def main(arguments: list[str]) -> None:
    """Serve, and print where."""
    data_dir, database, *options = arguments
    parts = SmallService(Path(data_dir), database=database)
    parts.gate_open = "open" in options
    running = RunningService(parts).start()

    def act(number: int, _: object) -> None:
        if number == signal.SIGTERM:
            running.should_exit = True
        else:
            parts.graph.gate.open()

    signal.signal(signal.SIGUSR1, act)
    signal.signal(signal.SIGTERM, act)
    sys.stdout.write(f"{running.url}\n")
    sys.stdout.flush()
    running.wait()
