"""The process of the index: `python -m drive_server.knowledge.index_process.worker index`.

Answers calls that come by standard input, and asks back for the vectors of queries: the service has the models, and the
keys of a remote one. It ends as soon as the service closes its standard input or dies.
"""

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any, BinaryIO

from drive_server.kernel.telemetry.fields import begin_log_fields
from drive_server.knowledge.embedding.embedder import Embedder, Vectors
from drive_server.knowledge.index.health import IndexHealth, Request
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.table import TableState
from drive_server.knowledge.index.tables import PANICS
from drive_server.knowledge.index_process.calls import LENGTH, Peer, unpacked
from drive_server.knowledge.index_process.log_lines import ReportedLog
from drive_server.knowledge.index_process.passage_index import Method, Opening
from drive_server.knowledge.memory import limit_arenas, release_unused


class ReportedHealth(IndexHealth):
    """The health of the index, which the service keeps: it hears this process's news."""

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._peer = peer

    def request(self, wanted: Request) -> None:
        """Have the service ask the writer of the index."""
        self._peer.tell("request", wanted)

    def note_failure(self) -> None:
        """Have the service note a failed search."""
        self._peer.tell("note_failure")


class WorkingIndex(KnowledgeIndex):
    """The index, with the embedding models of the service."""

    def __init__(self, opening: Opening, peer: Peer) -> None:
        super().__init__(opening.url, opening.embedder, late=opening.late, health=ReportedHealth(peer))
        self._peer = peer
        self.resume(opening.state)

    async def _model_named(self, name: str) -> Embedder | None:
        embedder: Embedder | None = await self._peer.call("model_named", name)
        return embedder

    async def _embedded(self, model: Embedder, query: str) -> Vectors:
        if self.late is not None and self._crossing is not None and model is self._crossing:
            return self._crossing.cross_question(await self._embedded(self.late, query))
        vector: Vectors = await self._peer.call("embed", model.name, query)
        return vector


class Worker:
    """Answers the service's calls on the index that it opens."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._writing = threading.Lock()
        self.peer = Peer(self._send, {"open": self._open, "run": self._run}, {})
        self._index: WorkingIndex | None = None
        self._told: TableState | None = None

    def _send(self, message: bytes) -> None:
        try:
            with self._writing:
                self._answers.write(message)
                self._answers.flush()
        except OSError:  # the service has ended
            os._exit(1)

    async def _open(self, opening: Opening) -> None:
        log = logging.getLogger()
        log.setLevel(opening.log_level)
        log.addHandler(ReportedLog(opening.log_level, partial(self.peer.tell, "log")))
        self._index = WorkingIndex(opening, self.peer)

    async def _run(
        self, method: Method, arguments: tuple[Any, ...], options: Mapping[str, Any], fields: Mapping[str, str]
    ) -> Any:
        """Run a method of the index for a call with these fields of the log; tell the state of the table before."""
        begin_log_fields(**fields)
        assert self._index is not None  # noqa: S101 - it is opened first
        try:
            return await getattr(self._index, method)(*arguments, **options)
        except Exception as error:
            if _is_hung(error):
                self.peer.tell("hung")
            raise
        finally:
            if method == "maintain":
                release_unused()
            self._tell_state(self._index.state)

    def _tell_state(self, state: TableState) -> None:
        if state != self._told:
            self._told = state
            self.peer.tell("state", state)


def _is_hung(error: BaseException) -> bool:
    """Return whether a thread of LanceDB may have died with a lock."""
    cause = error.__cause__
    return isinstance(cause, TimeoutError) or type(cause).__name__ in PANICS


def read(requests: BinaryIO, loop: asyncio.AbstractEventLoop, peer: Peer) -> None:
    """Pass the service's messages to the event loop, and end the process when there are no more."""
    while head := requests.read(LENGTH.size):
        body = requests.read(LENGTH.unpack(head)[0])
        loop.call_soon_threadsafe(peer.receive, unpacked(body))
    os._exit(0)  # at once: a thread of LanceDB may hang


async def work(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer calls for ever."""
    worker = Worker(answers)
    loop = asyncio.get_running_loop()
    threading.Thread(target=read, args=(requests, loop, worker.peer), daemon=True).start()
    await asyncio.Event().wait()


def main() -> None:
    """Work over standard input and output, which nothing else prints to. An interrupt is the service's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_arenas()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asyncio.run(work(sys.stdin.buffer, answers))


if __name__ == "__main__":
    main()
