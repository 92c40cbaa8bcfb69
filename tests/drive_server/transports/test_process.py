"""A signal that comes while a server starts ends it, also if a library swallows the exception."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from drive_server.transports.process import StopRequest, Terminated
from tests.api.cli.command import environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SWALLOWED = """
import os, signal, sys
import drive_server.__main__ as program

build = program.create_app

def careless(settings):
    try:
        os.kill(os.getpid(), signal.{name})
    except:
        pass
    return build(settings)

async def started(self, sockets=None):
    os._exit(3)

program.create_app = careless
program.Runner.startup = started
sys.exit(program.main(["http", "--port", "0"]))
"""


class Server:
    """A server that has not begun."""

    should_exit = False


@pytest.fixture
def stop() -> Iterator[StopRequest]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    stop = StopRequest()
    stop.listen()
    yield stop
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 0)])
def test_a_signal_that_is_swallowed_ends_the_start_all_the_same(name: str, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SWALLOWED.format(name=name)]
    result = subprocess.run(
        command,
        env=environment({"DRIVE_DATA_DIR": str(tmp_path / "data")}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == code, result.stderr


@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])
def test_a_server_that_has_the_signals_next_is_told(
    stop: StopRequest, number: signal.Signals, error: type[BaseException]
) -> None:
    server = Server()
    stop.hand_over(server)
    with pytest.raises(error):
        signal.raise_signal(number)
    assert server.should_exit
    with pytest.raises(error):
        stop.hand_over(Server())
