"""A process of its own for reading documents: `python -m drive_server.knowledge.readers.process`.

Readers of documents take CPU that the event loop's process needs and 150 MB of libraries, and a malformed file may take
a process down. The pools of the standard library and of anyio would do, but they run the program's main module again.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

IDLE_SECONDS = 300.0
MEMORY_BYTES = 4 << 30
WRITTEN_BYTES = 64 << 20
"""The most bytes of a file that a reader writes: an attachment, while it is read."""

NICENESS = 10
"""Reading gives way to the service, so that searches do not become slower."""

MODULE = "drive_server.knowledge.readers.process"
Answer = TypeVar("Answer")
Work = Callable[[Path, str, str], Answer]
"""A function of a file, its name and media type; at the top of a module, so that pickle finds it."""


class ReaderCrashedError(Exception):
    """The process ended before it answered."""


class Reader:
    """One such process, for one file at a time. It ends by itself after some idle minutes, or with its parent."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ended = False
        self._change = threading.Lock()

    def run(self, work: Work[Answer], path: Path, name: str, media_type: str) -> Answer:
        """Run `work(path, name, media_type)` in the process. Blocks; the first call starts the process.

        Raises `ReaderCrashedError`, also if the process is ended meanwhile, and `OSError` if the file can't be opened.
        """
        requests, answers = self._pipes()
        try:
            pickle.dump((work, path, name, media_type), requests)
            requests.flush()
            answer: Answer | OSError = pickle.load(answers)  # noqa: S301 - from our own process
        except (EOFError, BrokenPipeError, ValueError, pickle.UnpicklingError) as error:
            raise ReaderCrashedError from error
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
                raise ReaderCrashedError
            if self._process is None:
                self._process = _start()
        return cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)


def _start() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", MODULE],
        # Not the whole environment: a process that reads strangers' files must not have keys.
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.defpath, "LANG": "C.UTF-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more. The system ends the process after `IDLE_SECONDS` without one."""
    while True:
        _end_after(IDLE_SECONDS)
        try:
            work, path, name, media_type = pickle.load(requests)  # noqa: S301 - from the process that started this one
        except EOFError:
            return
        _end_after(0)
        try:
            answer = work(path, name, media_type)
        except OSError as error:
            answer = error
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _end_after(seconds: float) -> None:
    """Have the system end this process; 0: not any more. Windows can't, but ends it with the one that started it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit() -> None:
    """Limit memory and disk, and give way to others. Raises `ImportError` where the system can't."""
    import resource

    os.nice(NICENESS)
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
        _limit()
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
