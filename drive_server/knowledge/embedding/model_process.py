"""The process of a packaged model, and the order of the texts that wait for it.

A loaded model takes 60 to 150 MB and an import leaves several times as much of its work behind, which the service would
keep for good (`python -m benchmarks.search.memory`). A process starts and loads its model within 0.3 s of CPU, so that
nobody has to start it in advance.
"""

import threading
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from drive_server.knowledge.embedding.onnx_model import embed
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError, Vectors
from drive_server.knowledge.process import ChildProcess, ProcessCrashedError

QUESTION_IDLE_SECONDS: Final = 300.0
"""How long the process waits after a question: people ask several."""

PASSAGE_IDLE_SECONDS: Final = 20.0
"""The same after passages."""


class ModelProcess:
    """The process of the model in a file, started when it is needed. Methods block; several threads may call them.

    It takes one batch at a time. Both methods raise `EmbedderUnavailableError` for a model that can't be loaded.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turns = Turns()
        self._processes = [ChildProcess(path.stem)]
        self.close = weakref.finalize(self, _end_all, self._processes)
        """End the process for good. The end of the program does it too."""

    def embed_questions(self, texts: list[str]) -> Vectors:
        """Return the vectors of texts that go before all passages: [texts, dimensions]."""
        with self._turns.turn(first=True):
            return self._embed(texts, QUESTION_IDLE_SECONDS)

    def embed_passages(self, texts: list[str]) -> Vectors:
        """Return the vectors of a batch of texts: [texts, dimensions]."""
        with self._turns.turn(first=False):
            return self._embed(texts, PASSAGE_IDLE_SECONDS)

    def _embed(self, texts: list[str], idle_seconds: float) -> Vectors:
        try:
            found = self._processes[0].call(idle_seconds, embed, self._path, texts)
        except ProcessCrashedError:  # it was idle, and has ended
            found = self._embed_anew(texts, idle_seconds)
        if isinstance(found, str):
            raise EmbedderUnavailableError(f"{self._path.name} can't be loaded ({found}).")
        return found

    def _embed_anew(self, texts: list[str], idle_seconds: float) -> Vectors | str:
        _end_all(self._processes)
        self._processes.append(ChildProcess(self._path.stem))
        try:
            return self._processes[0].call(idle_seconds, embed, self._path, texts)
        except ProcessCrashedError as error:
            raise EmbedderUnavailableError(f"The process of {self._path.name} has ended.") from error


class Turns:
    """Lets threads in one at a time; those that are to be first go before all others."""

    def __init__(self) -> None:
        self.waiting = 0
        """The number of threads that wait for their turn."""

        self._waiting_first = 0
        self._is_taken = False
        self._change = threading.Condition()

    @contextmanager
    def turn(self, *, first: bool) -> Generator[None]:
        """Wait for the turn, and hold it while the context is open."""
        with self._change:
            self._count(1, first=first)
            self._change.wait_for(lambda: not self._is_taken and (first or not self._waiting_first))
            self._count(-1, first=first)
            self._is_taken = True
        try:
            yield
        finally:
            with self._change:
                self._is_taken = False
                self._change.notify_all()

    def _count(self, change: int, *, first: bool) -> None:
        self.waiting += change
        self._waiting_first += change * first
        self._change.notify_all()


model_process = cache(ModelProcess)
"""The process of a model, one for the program."""


def _end_all(processes: list[ChildProcess]) -> None:
    while processes:
        processes.pop().end()
