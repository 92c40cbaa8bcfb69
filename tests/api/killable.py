"""The small service as a process of its own, for tests that kill it: `python -m tests.api.killable DIR`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.api.serving import RunningService, SmallService
from tests.e2e.person import Person


class KillableService:
    """A process that serves a data directory until it is killed. With `gate_open`, nothing waits at the gate."""

    def __init__(self, data_dir: Path, *, gate_open: bool = False) -> None:
        command = [sys.executable, "-m", "tests.api.killable", str(data_dir), *(["open"] if gate_open else [])]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the service did not start"

    def person(self) -> Person:
        """Return Alice."""
        return Person(self.url, "alice-key", "alice@example.com")

    def kill(self) -> None:
        """Kill -9: nothing gets to clean up."""
        self._process.kill()
        self._process.wait(20)
        assert self._process.stdout
        self._process.stdout.close()


def main(data_dir: str, *options: str) -> None:
    """Serve, and print where."""
    parts = SmallService(Path(data_dir))
    parts.gate_open = "open" in options
    running = RunningService(parts).start()
    sys.stdout.write(f"{running.url}\n")
    sys.stdout.flush()
    running.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
