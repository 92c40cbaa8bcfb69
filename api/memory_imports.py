"""Facts of an export come in again: each once, and with where it is from as far as that is here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

from api.assistant import Assistant
from api.clock import Clock
from api.drive import DriveForService, Principal
from api.errors import NotFoundError
from api.threads import Threads
from graph.memory.facts import Fact, FactSource, Restored


@dataclass(frozen=True, slots=True)
class ImportedFact:
    """A fact of an export. `thread_id` and `file_id` are ids of here, empty for a source that did not come with it."""

    source_id: str
    text: str
    kind: Literal["said", "file"]
    created_at: datetime
    updated_at: datetime
    name: str = ""
    version: int | None = None
    thread_id: str = ""
    file_id: str = ""


class MemoryImports:
    """Takes exported facts in: a fact's id is made of the export, its id there and the person."""

    def __init__(self, graph: Assistant, drive: DriveForService, threads: Threads, clock: Clock) -> None:
        self._graph = graph
        self._drive = drive
        self._threads = threads
        self._clock = clock

    async def take(self, caller: Principal, export_id: str, facts: Sequence[ImportedFact]) -> list[Restored]:
        """Store the facts that the caller does not have; return the outcome for each."""
        # The file of a fact that the caller can't see would have it forgotten: such a fact comes without the link.
        hidden = await self._drive.hidden(caller, [fact.file_id for fact in facts if fact.file_id])
        made = [
            self._fact(caller, export_id, fact, await self._source(caller, fact, is_hidden=fact.file_id in hidden))
            for fact in facts
        ]
        return await self._graph.memory.restore(caller, made)

    def _fact(self, caller: Principal, export_id: str, fact: ImportedFact, source: FactSource) -> Fact:
        now = self._clock.now()
        return {
            "id": str(uuid5(NAMESPACE_URL, "\0".join((caller.user_id, export_id, fact.source_id)))),
            "text": fact.text,
            "source": source,
            "created_at": min(fact.created_at, now).isoformat(),
            "updated_at": min(fact.updated_at, now).isoformat(),
        }

    async def _source(self, caller: Principal, fact: ImportedFact, *, is_hidden: bool) -> FactSource:
        source: FactSource = {"kind": fact.kind}
        if fact.name:
            source["name"] = fact.name
        if fact.version is not None:
            source["version"] = fact.version
        if fact.file_id and not is_hidden:
            source["file_id"] = fact.file_id
        if fact.thread_id and await self._has_thread(caller, fact.thread_id):
            source["thread_id"] = fact.thread_id
        return source

    async def _has_thread(self, caller: Principal, thread_id: str) -> bool:
        try:
            await self._threads.get(caller, thread_id)
        except NotFoundError:
            return False
        return True
