"""The whole service in a process that a test stops and continues, on a clock that a test steps forward and back.

Its clock is the one that every service has (`drive_server.kernel.clock`); only the machine's clock is another one.
Its model does what it is told, and holds a message with `WAIT` in it until the test opens the gate.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from drive_server.kernel import clock
from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.real_service import RealService
from tests.e2e.person import Person
from tests.forked import Forked

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import ChatGenerationChunk

WAIT: Final = "wait until the gate is open"
APPROVAL_SECONDS: Final = 4 * 3600
STEPS: Final = "steps"
GATE: Final = "gate"


class Stoppable:
    """The service over the data directory in a folder. It has to be started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data_dir = folder / "data"
        self._process: Forked | None = None
        self._steps = 0.0
        self.url = ""

    def __enter__(self) -> Self:
        self.step(0)
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> Self:
        """Start it, and return once it answers."""
        self._process = Forked("tests.e2e.stopped", [str(self._folder)], os.environ)
        self.url = self._process.stdout.readline().decode().strip()
        assert self.url, self._process.stderr.read().decode()
        return self

    def kill(self) -> None:
        """Kill -9."""
        assert self._process
        self._process.kill()
        with self._process:
            assert self._process.wait(60) == -signal.SIGKILL

    def person(self) -> Person:
        """Return the owner."""
        return Person.owner(self.url, self._data_dir)

    def stop_for(self, seconds: float) -> None:
        """Stop the process for this time: it notices nothing of it but the time."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    def step(self, hours: float) -> None:
        """Set the machine's clock forward, or back."""
        self._steps += hours * 3600
        draft = self._folder / "draft"
        draft.write_text(str(self._steps))
        draft.replace(self._folder / STEPS)

    def open_gate(self) -> None:
        """Let the model answer."""
        (self._folder / GATE).touch()


class GatedModel(CommandModel):
    """Does what it is told; a message that says so waits for the gate."""

    gate: Path

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        if WAIT in messages[-1].text:
            while not await asyncio.to_thread(self.gate.exists):  # noqa: ASYNC110 - another process opens it
                await asyncio.sleep(0.02)
        async for chunk in super()._astream(messages, **kwargs):
            yield chunk


def main(arguments: list[str]) -> None:
    """Serve, and print where."""
    folder = Path(arguments[0])

    def stepped() -> datetime:
        return clock.system_now() + timedelta(seconds=float((folder / STEPS).read_text()))

    clock.PROCESS_CLOCK.__init__(stepped)
    agent = AgentSettings(model="offline", approval_ttl_seconds=APPROVAL_SECONDS)
    running = RealService(folder / "data", GatedModel(gate=folder / GATE), agent=agent).start()
    sys.stdout.write(f"{running.url}\n")
    sys.stdout.flush()
    running.wait()
