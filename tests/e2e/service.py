"""The service as `drive-agent serve` runs it, in a process of its own; beside it the installed command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from tests.e2e.person import Person
from tests.forked import Forked, run

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

PROGRAM = "tests.e2e.command"
ADDRESS = re.compile(rb"https?://127\.0\.0\.1:\d+")
READY = b"Ctrl-C"
"""Stands in the last line that is printed, in both languages."""


@contextmanager
def running(folder: Path, **environment: str) -> Generator[Service]:
    """Serve over a new data directory in the folder until the end of the block."""
    service = Service(folder / "data", environment)
    service.data_dir.mkdir()
    yield service.start()
    service.stop()


class Service:
    """`drive-agent serve` on a free port over a data directory; may be killed and started again."""

    def __init__(self, data_dir: Path, environment: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "AGENT_", "DRIVE_"))}
        self.environment = {**inherited, "DRIVE_DATA_DIR": str(data_dir), "NO_COLOR": "1", **(environment or {})}
        self.url = ""
        self.printed = data_dir.with_suffix(".printed")
        self._process: Forked | None = None

    def start(self) -> Service:
        """Start it and wait until it says that it is ready."""
        self.printed.write_bytes(b"")
        self._process = Forked(PROGRAM, ["serve", "--port", "0"], self.environment, output=self.printed)
        printed = b""
        with self.printed.open("rb") as file:
            # A doubt about the address names it before the service is ready.
            while not (READY in printed and (found := ADDRESS.search(printed))):
                assert self._process.poll() is None, printed
                time.sleep(0.02)
                printed += file.read()
        self.url = found.group(0).decode()
        return self

    def kill(self) -> None:
        """Kill -9: nothing gets to clean up."""
        assert self._process
        self._process.send_signal(signal.SIGKILL)
        self._wait()

    def stop(self) -> None:
        """Ask it to end, as Ctrl-C does; it has a minute."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._wait()
            except subprocess.TimeoutExpired:
                self.kill()
                raise

    def end(self) -> int:
        """Tell it to end, as a supervisor does, and return its exit code; it has half a minute."""
        assert self._process
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(30)
        self._wait()
        return code

    def _wait(self) -> None:
        assert self._process
        self._process.wait(60)
        with self._process:
            """Close its pipes."""

    def owner(self) -> Person:
        """Return the local owner, who has the access token."""
        return Person.owner(self.url, self.data_dir)

    def add_person(self, email: str) -> Person:
        """Make an account and return its person."""
        with closing(self.owner()) as owner:
            return owner.add(email)

    def add_new(self, name: str) -> Person:
        """Make an account whose address begins with the name, and return its person."""
        with closing(self.owner()) as owner:
            return owner.add_new(name)

    def run(
        self, *arguments: str, stdin: str = "", seconds: float = 120, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run another `drive-agent` command beside it."""
        return run(PROGRAM, arguments, {**self.environment, **environment}, stdin, seconds)
