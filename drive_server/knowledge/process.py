"""Processes of their own for work that takes memory and CPU: `python -m drive_server.knowledge.process NAME NICENESS`.

Reading documents and embedding texts take CPU that the event loop's process needs, and hundreds of megabytes that it
would keep; a malformed file may take a process down. So they run in processes that end when they are idle. The pools of
the standard library and of anyio would do, but they run the program's main module again.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar, cast

SHORTEST_SECONDS = 0.01
"""The shortest time for the next work to come: the system takes 0 for no end."""

MEMORY_BYTES = 4 << 30
WRITTEN_BYTES = 64 << 20
"""The most bytes of a file that a process writes: an attachment, while it is read."""

MODULE = "drive_server.knowledge.process"
Answer = TypeVar("Answer")


class ProcessCrashedError(Exception):
    """The process ended before it answered."""


class ChildProcess:
    """One such process, for one piece of work at a time. It ends by itself when it is idle, or with its parent.

    `name` is its purpose in lists of processes; `niceness` is how far it gives way to others, from 0 to 19.
    """

    def __init__(self, name: str, niceness: int = 0) -> None:
        self._name = name
        self._niceness = niceness
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ended = False
        self._change = threading.Lock()

    def call(self, idle_seconds: float, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run `work(*arguments)` in the process. Blocks; the first call starts the process.

        `work` stands at the top of a module, so that pickle finds it. The process ends `idle_seconds` after it, unless
        other work comes, or some was to keep it longer. Raises `ProcessCrashedError`, also if the process is ended
        meanwhile, and the `OSError` that the work raises.
        """
        requests, answers = self._pipes()
        try:
            pickle.dump((idle_seconds, work, arguments), requests)
            requests.flush()
            answer: Answer | OSError = pickle.load(answers)  # noqa: S301 - from our own process
        except (EOFError, BrokenPipeError, ValueError, pickle.UnpicklingError) as error:
            raise ProcessCrashedError from error
        if isinstance(answer, OSError):
            raise answer
        return answer

    def end(self) -> None:
        """Kill the process for good, also while another thread waits for it."""
        with self._change:
            self._is_ended = True
            if self._process is None:
                return
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # data that could not be written is of no use any more
                    cast("BinaryIO", pipe).close()

    def _pipes(self) -> tuple[BinaryIO, BinaryIO]:
        with self._change:
            if self._is_ended:
                raise ProcessCrashedError
            if self._process is None:
                self._process = _start(self._name, self._niceness)
        return cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)


def child_environment() -> dict[str, str]:
    """Return the environment of a process: without keys, which one that reads strangers' files must not have."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.defpath, "LANG": "C.UTF-8"}


def _start(name: str, niceness: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", MODULE, name, str(niceness)],
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more. The system ends the process when it was idle for as long as they say."""
    ends_at = 0.0
    while True:
        try:
            idle_seconds, work, arguments = pickle.load(requests)  # noqa: S301 - from the process that started this one
        except EOFError:
            return
        _end_after(0)
        try:
            answer = work(*arguments)
        except OSError as error:
            answer = error
        ends_at = max(ends_at, time.monotonic() + idle_seconds)
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
        _end_after(max(ends_at - time.monotonic(), SHORTEST_SECONDS))


def _end_after(seconds: float) -> None:
    """Have the system end this process; 0: not any more. Windows can't, but ends it with the one that started it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit(niceness: int) -> None:
    """Limit memory and disk, and give way to others. Raises `ImportError` where the system can't."""
    import resource

    os.nice(niceness)
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, WRITTEN_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # not every system can limit it
            resource.setrlimit(kind, (most, most))


def main() -> None:
    """Serve over standard input and output, which nothing else prints to, with limits on memory and disk."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppress(ImportError):  # Windows has no such limits
        _limit(int(sys.argv[2]))
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
