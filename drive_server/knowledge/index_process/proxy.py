"""The index as the services have it: in a process that starts with the first call and ends when nobody calls.

LanceDB, its imports and the memory that it keeps are some 200 MB (`python -m benchmarks.search.memory`). The
process starts within 1.4 s of CPU. Questions about an index in which nothing was ever written, and looks at one that
did not change, need no process.
"""

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.kernel.telemetry.fields import log_fields
from drive_server.knowledge.embedding.embedder import Embedder, Vectors
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index.health import DamagedIndexError, IndexHealth
from drive_server.knowledge.index.index import SEARCH_SECONDS, IndexHit
from drive_server.knowledge.index.lance import is_unwritten, store_environment
from drive_server.knowledge.index.maintenance import IDLE_SECONDS as MAINTENANCE_SECONDS
from drive_server.knowledge.index.quarantine import is_local
from drive_server.knowledge.index.retrieval import Mode
from drive_server.knowledge.index.rows import IndexedFile
from drive_server.knowledge.index.table import TableState
from drive_server.knowledge.index.tables import ANSWER_SECONDS, table_name
from drive_server.knowledge.index_process.child import Child, start
from drive_server.knowledge.index_process.log_lines import write_line
from drive_server.knowledge.index_process.passage_index import Method, Opening
from drive_server.knowledge.process import ProcessCrashedError

logger = logging.getLogger(__name__)

SEARCH_IDLE_SECONDS: Final = 600.0
"""How long the process waits after a search: the next one would wait for it for 1.4 s of CPU, four times as much as for
a model (`python -m benchmarks.search.query_cost` prints it)."""

WORK_IDLE_SECONDS: Final = MAINTENANCE_SECONDS + 5.0
"""The same after other work: maintenance is due by then."""

IDLE_SECONDS: Final[Mapping[str, float]] = {"search": SEARCH_IDLE_SECONDS, "maintain": 0.0, "look": 0.0}
MAX_SECONDS: Final[Mapping[str, float]] = {"search": 2 * SEARCH_SECONDS}
MARGIN_SECONDS: Final = 30.0
"""The time that a call may take longer than the process allows it: then the process itself hangs."""

KNOWN_SECONDS: Final = 10.0
"""How long it counts that no passage waits for the late model: the writer of the index asks all the time."""
LARGE: Final = frozenset({"replace", "add_vectors"})
"""Methods whose arguments may be thousands of passages."""


class IndexProcess:
    """The index at a LanceDB URI, in a process of its own; a `PassageIndex`. `end` belongs to each.

    The arguments are those of `KnowledgeIndex`. Its embedders stay here: the process asks for the vectors of queries.
    If the process dies, a reading call is repeated once in another one; a write raises `StorageFailureError`.
    """

    def __init__(
        self,
        url: str,
        embedder: Embedder,
        open_model: Callable[[str], Embedder | None] = lambda _: None,
        late: Embedder | None = None,
        health: IndexHealth | None = None,
    ) -> None:
        self.health = health or IndexHealth()
        self.late = late
        self._url = url
        self._embedder = embedder
        self._open_model = open_model
        self._starting: asyncio.Task[Child] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._calls = 0
        self._ends_at = -math.inf
        self._state = TableState()
        self._is_hung = False
        self._is_closed = False
        self._seen: Sequence[str] = ()
        self._writes = 0
        self._none_waits_since: int | None = None
        self._asked_at = -math.inf

    @property
    def table_name(self) -> str:
        """The name of the table that is written to."""
        return table_name(self._embedder.name)

    async def search(
        self,
        query: str,
        *,
        owner_ids: Collection[str] = (),
        file_ids: Collection[str] = (),
        mode: Mode = "hybrid",
        limit: int = 10,
        answers_only: bool = False,
    ) -> list[IndexHit]:
        """Return the best passages, as `KnowledgeIndex.search` does."""
        options = {
            "owner_ids": list(owner_ids),
            "file_ids": list(file_ids),
            "mode": mode,
            "limit": limit,
            "answers_only": answers_only,
        }
        if await self._is_empty():
            return []
        try:
            return await self._read("search", query, **options)
        except DamagedIndexError as error:
            if isinstance(error.__cause__, ProcessCrashedError):
                self.health.note_failure()
            raise

    async def replace(self, files: Sequence[IndexedFile]) -> None:
        """Replace the passages that the index has of these files."""
        if files:
            await self._write("replace", list(files))

    async def stored(self, file_ids: Collection[str]) -> dict[str, IndexedFile]:
        """Return the passages that the index has of these files."""
        return {} if await self._is_empty() else await self._read("stored", list(file_ids))

    async def vectors(self, digests: Collection[str]) -> dict[str, Vectors]:
        """Return the vectors that the index has of texts, by their digests."""
        return {} if await self._is_empty() else await self._read("vectors", list(digests))

    async def late_passages(self, limit: int) -> dict[str, str]:
        """Return up to so many texts that wait for the late model, by their digests."""
        self._asked_at = anyio.current_time()
        if self.late is None or self._none_waits_since == self._writes:
            return {}
        writes = self._writes
        found: dict[str, str] = {} if await self._is_empty() else await self._read("late_passages", limit)
        self._none_waits_since = None if found else writes
        return found

    async def add_vectors(self, vectors: Mapping[str, Vectors], model: str) -> None:
        """Give the passages of these texts, by their digests, the vectors of a model."""
        await self._write("add_vectors", dict(vectors), model)

    async def waiting_for_vectors(self, owner_id: str, file_ids: Collection[str] | None = None) -> int:
        """Return how many passages of a person, or of files, wait for the late model."""
        if self._has_none_waiting or await self._is_empty():
            return 0
        return await self._read("waiting_for_vectors", owner_id, None if file_ids is None else list(file_ids))

    async def waiting_by_owner(self, owner_ids: Collection[str]) -> dict[str, int]:
        """Return the number of such passages of each of these people who has some."""
        if self._has_none_waiting or await self._is_empty():
            return {}
        return await self._read("waiting_by_owner", list(owner_ids))

    async def upgrade(self) -> None:
        """Bring a table of an earlier version to the newest columns and models."""
        await self._change("upgrade")

    async def table_names(self) -> set[str]:
        """Return the names of the tables that can be used and have passages."""
        return set() if await self._is_empty() else await self._read("table_names")

    async def promote(self) -> None:
        """Have the model's table answer searches from now on."""
        await self._change("promote")

    async def drop_unusable(self) -> None:
        """Remove tables in a format of another version of this program."""
        await self._change("drop_unusable")

    async def maintain(self, *, idle: bool = False, busy: bool = False) -> None:
        """Do the maintenance that is due. A process is started for it only when it is worth its cost."""
        is_due = self._state.is_maintaining or anyio.current_time() >= self._state.upkeep.idle_at
        if is_due if idle else self._is_running:
            await self._write("maintain", idle=idle, busy=busy)

    async def inspect(self) -> Counter[str]:
        """Read something of all that is stored; return how many passages there are of each file."""
        return Counter() if await self._is_empty() else await self._read("inspect")

    async def look(self) -> None:
        """Have the index inspected if files of it are gone. Without a process, compare the folder with its last state.

        An index in an object store is looked at only while a process runs, and at the next search.
        """
        if self._is_running or not await self._is_unchanged():
            await self._read("look")

    async def clear(self) -> None:
        """Set everything aside unread."""
        await self._change("clear")

    async def end(self) -> None:
        """End the process for good."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._let_go()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*self._ending)

    @property
    def _is_running(self) -> bool:
        task = self._starting
        return task is not None and not (task.done() and not _is_usable(task))

    @property
    def _has_none_waiting(self) -> bool:
        """True if no passage waits for the late model, which the writer of the index knows."""
        is_known = self._none_waits_since == self._writes and anyio.current_time() < self._asked_at + KNOWN_SECONDS
        return self.late is None or is_known

    async def _is_empty(self) -> bool:
        """Return whether nothing was ever written, so that no process is needed to say so."""
        if self._is_running or self._state.was_there:
            return False
        return await anyio.to_thread.run_sync(is_unwritten, self._url)

    async def _is_unchanged(self) -> bool:
        if not self._state.was_there or not is_local(self._url):
            return True
        return await self._versions() == self._seen

    async def _change(self, method: Method) -> None:
        if not await self._is_empty():
            await self._write(method)

    async def _read(self, method: Method, *arguments: Any, **options: Any) -> Any:
        """Run a method, once again in another process if the first one dies."""
        try:
            return await self._run(method, arguments, options)
        except ProcessCrashedError:
            logger.warning("The process of the search index has ended early; another one is started.")
        try:
            return await self._run(method, arguments, options)
        except ProcessCrashedError as error:
            raise DamagedIndexError(Message.of("index_damaged")) from error

    async def _write(self, method: Method, *arguments: Any, **options: Any) -> None:
        self._writes += method != "maintain"
        try:
            await self._run(method, arguments, options)
        except ProcessCrashedError as error:
            logger.warning("The process of the search index has ended early, in a change of the index.")
            raise StorageFailureError(Message.of("index_failure")) from error

    async def _run(self, method: Method, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        self._calls += 1
        try:
            child = await self._child()
            async with asyncio.timeout(MAX_SECONDS.get(method, ANSWER_SECONDS) + MARGIN_SECONDS):
                call = (method, arguments, options, dict(log_fields()))
                return await child.peer.call("run", *call, is_large=method in LARGE)
        except TimeoutError as error:
            self._is_hung = True
            self.health.request("inspect")
            raise DamagedIndexError(Message.of("index_damaged")) from error
        finally:
            self._calls -= 1
            if self._is_hung:
                self._kill()
            self._stay(IDLE_SECONDS.get(method, WORK_IDLE_SECONDS))

    async def _child(self) -> Child:
        """Return the process, started if need be. Raises `StorageFailureError` if it can't be started."""
        if self._is_closed:
            raise StorageFailureError(Message.of("index_failure"))
        if self._starting is None or not self._is_running:
            self._starting = asyncio.create_task(self._start(), name="index-start", context=Context())
        try:
            return await asyncio.shield(self._starting)
        except OSError as error:
            logger.warning("The process of the search index can't be started: %s", error)
            raise StorageFailureError(Message.of("index_failure")) from error

    async def _start(self) -> Child:
        self._is_hung, self._ends_at = False, -math.inf
        methods = {"embed": self._embed, "model_named": self._model_named}
        notices = {
            "request": self.health.request,
            "note_failure": self.health.note_failure,
            "state": self._note_state,
            "hung": self._note_hung,
            "log": write_line,
        }
        child = await start(store_environment(self._url), methods, notices)
        level = logging.getLogger("drive_server").getEffectiveLevel()
        await child.peer.call("open", Opening(self._url, self._embedder, self.late, level, self._state))
        return child

    async def _model_named(self, name: str) -> Embedder | None:
        ours = (model for model in (self._embedder, self.late) if model is not None and model.name == name)
        return next(ours, None) or self._open_model(name)

    async def _embed(self, name: str, query: str) -> Vectors:
        model = await self._model_named(name)
        if model is None:
            raise EmbedderUnavailableError(f"There is no model {name} any more.")
        return await model.embed_query(query)

    def _note_state(self, state: TableState) -> None:
        self._state = state

    def _note_hung(self) -> None:
        self._is_hung = True

    def _kill(self) -> None:
        task, self._starting = self._starting, None
        if task is not None and _is_usable(task):
            task.result().kill()

    def _stay(self, seconds: float) -> None:
        """Keep the process for so long."""
        loop = asyncio.get_running_loop()
        self._ends_at = max(self._ends_at, loop.time() + seconds)
        if self._timer is None:
            self._timer = loop.call_at(self._ends_at, self._end_if_idle)

    def _end_if_idle(self) -> None:
        self._timer = None
        if self._calls or not self._is_running:
            return  # the end of a call sets the timer again
        if self._state.is_maintaining:
            self._stay(WORK_IDLE_SECONDS)
        elif asyncio.get_running_loop().time() < self._ends_at:
            self._stay(0)
        else:
            self._let_go()

    def _let_go(self) -> None:
        """Have the process end; the next call starts another one."""
        task, self._starting = self._starting, None
        if task is not None:
            ending = asyncio.create_task(self._end(task), name="index-end", context=Context())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _end(self, started: asyncio.Task[Child]) -> None:
        with suppress(OSError, ProcessCrashedError, StorageFailureError):
            child = await started
            try:
                if not self._is_closed:
                    with anyio.move_on_after(MARGIN_SECONDS):
                        await child.peer.call("run", "look", (), {}, {})  # it notes the version, for later looks
            finally:
                await child.end()
        if is_local(self._url) and not self._is_closed:
            self._seen = await self._versions()

    async def _versions(self) -> Sequence[str]:
        return await anyio.to_thread.run_sync(_versions, Path(self._url), self.table_name)


def _is_usable(task: asyncio.Task[Child]) -> bool:
    """Return whether a process was started and still runs."""
    return task.done() and not task.cancelled() and task.exception() is None and task.result().is_running


def _versions(folder: Path, table: str) -> Sequence[str]:
    """Return the names of the files that say which versions of a table there are, as Lance has them."""
    with suppress(OSError):
        return sorted(entry.name for entry in Path(folder, f"{table}.lance", "_versions").iterdir())
    return ()
