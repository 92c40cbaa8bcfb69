"""Programs of the tests as processes of their own, without the seconds that their imports take.

`python -m tests.forked` forks for each request on its standard input, a socket. The fork gets the request's environment
and standard streams, and calls the `main` of the module that the request names; the first to name it has it imported.
With PLAIN=1 the fork begins as a new Python instead: this changes speed only.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

REQUEST_BYTES: Final = 1 << 20
PLAIN: Final = os.environ.get("PLAIN") == "1"
ANEW: Final = "import importlib, sys; sys.exit(importlib.import_module(sys.argv.pop(1)).main(sys.argv[1:]))"
"""A program of Python that calls the `main` of the module that its first argument names."""
REPOSITORY: Final = str(Path(__file__).parents[1])


class Forked:
    """A process, used as a `subprocess.Popen` with pipes of bytes is used."""

    def __init__(
        self, module: str, arguments: Sequence[str], environment: Mapping[str, str], output: Path | None = None
    ) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        ours_err, theirs_err = os.pipe()
        self._report, report = os.pipe()
        request = json.dumps([module, list(arguments), dict(environment), str(output) if output else None]).encode()
        given = [theirs_in, theirs_out, theirs_err, report]
        socket.send_fds(_server(), [request], given)
        for descriptor in given:
            os.close(descriptor)
        self.returncode: int | None = None
        self.pid = self._next_report()  # may be waited for too long: there is nothing to close yet
        self.stdin = os.fdopen(ours_in, "wb")
        self.stdout = os.fdopen(ours_out, "rb")
        self.stderr = os.fdopen(ours_err, "rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.close()
        self.wait()

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        if self.returncode is None and select.select([self._report], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once it has ended. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._report], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self.returncode = os.waitstatus_to_exitcode(self._next_report())
            os.close(self._report)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it without asking."""
        self.send_signal(signal.SIGKILL)

    def _next_report(self) -> int:
        line = os.read(self._report, 8)
        assert line, "the process could not be started"
        return int.from_bytes(line, "big")


def run(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], stdin: str, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as `subprocess.run` does. Raises `subprocess.TimeoutExpired`."""
    with Forked(module, arguments, environment) as process, ThreadPoolExecutor(3) as threads:
        written = threads.submit(_write, process, stdin.encode())
        read = [threads.submit(stream.read) for stream in (process.stdout, process.stderr)]
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        written.result()
        out, err = (one.result().decode() for one in read)
    return subprocess.CompletedProcess(list(arguments), code, out, err)


def _write(process: Forked, data: bytes) -> None:
    # Not every program reads to the end.
    with suppress(BrokenPipeError):
        process.stdin.write(data)
        process.stdin.close()


@cache
def _server() -> socket.socket:
    """Start what forks, once in each process of the test run; it ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # NumPy's threads would not be there after a fork; a test may have gone to a folder of its own.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": REPOSITORY}
    process = subprocess.Popen([sys.executable, "-m", "tests.forked"], stdin=theirs.fileno(), env=environment)
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve() -> None:
    """Fork for each request until there is nobody left who asks."""
    channel = socket.socket(fileno=os.dup(0))
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, REQUEST_BYTES, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not request:
            return
        name, arguments, environment, output = json.loads(request)
        if not PLAIN:
            importlib.import_module(name)
            _wait_for_no_disk()
            gc.freeze()
        if os.fork() == 0:
            channel.close()
            if (child := os.fork()) == 0:
                _become(name, arguments, environment, output, descriptors)
            _report(child, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _wait_for_no_disk() -> None:
    """Have the services of the forks wait for no disk: a kill, unlike a crash of the machine, loses nothing written."""
    if "drive_server.kernel.sql.engine" in sys.modules and "tests.once" not in sys.modules:
        from tests import once

        once.wait_for_no_disk(pytest.MonkeyPatch())


def _report(child: int, descriptors: list[int]) -> None:
    """Tell the child's id, and its status when it has ended."""
    *streams, report = descriptors
    for descriptor in (0, *streams):
        os.close(descriptor)
    os.write(report, child.to_bytes(8, "big"))
    _, status = os.waitpid(child, 0)
    os.write(report, status.to_bytes(8, "big"))
    os._exit(0)


def _become(
    name: str, arguments: list[str], environment: dict[str, str], output: str | None, descriptors: list[int]
) -> None:
    """Be the program: with its streams, or the file that gets all its output, and its environment."""
    if output:
        os.close(descriptors[1])
        descriptors[1] = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.close(descriptors[2])
        descriptors[2] = os.dup(descriptors[1])
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    if PLAIN:
        given = {**environment, "PYTHONPATH": REPOSITORY}
        os.execve(sys.executable, [sys.executable, "-c", ANEW, name, *arguments], given)  # noqa: S606 - no shell
    # Python's own streams know what the descriptors were when it began.
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, closefd=False)  # noqa: SIM115 - a descriptor, open to the end
        for number, mode in enumerate("rww")
    )
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    sys.exit(importlib.import_module(name).main(arguments))


if __name__ == "__main__":
    serve()
