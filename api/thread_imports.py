"""Threads of an export come in again: to be read, and to be continued as content from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import NAMESPACE_URL, uuid5

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from sqlalchemy import ColumnElement, delete, func, select

from api.assistant import LAST_NODE, Assistant
from api.clock import Clock
from api.drive import Principal
from api.errors import TooManyError
from api.storage.tables import ThreadImportRow, ThreadRow
from api.threads import make_title
from drive_server.kernel.sql.database import Database
from graph.citations.cite import CITATIONS
from graph.language import language_of
from graph.messages.written import result_message

MAX_UNFINISHED: Final = 20
"""Imports of one person whose last part did not come yet."""
MAX_BYTES: Final = 128 << 20
"""The bytes of these together: twice the largest thread that the command line sends."""
EACH_BYTES: Final = 200
"""Bytes counted for a message in addition to its text."""
KEPT_FOR: Final = timedelta(days=1)
"""An import whose next part does not come within this time is removed."""
OUTCOMES: Final = frozenset({"done", "error", "cancelled", "rejected"})


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message of an exported thread; a tool's has the id of its call."""

    id: str
    role: Literal["user", "assistant", "tool"]
    text: str
    tool_calls: Sequence[dict[str, Any]] = ()
    citations: Sequence[dict[str, Any]] = ()
    tool_call_id: str = ""
    name: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True)
class ImportedThread:
    """A part of an exported thread. The thread is there once the part that `is_last` came."""

    export_id: str
    source_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    messages: Sequence[ImportedMessage]
    is_last: bool = True


class ThreadImports:
    """Takes exported threads in, each once: its id is made of the export, its id there and the person.

    The author of the export wrote the messages, so an imported thread is tainted: actions that it leads to are asked
    about.
    """

    def __init__(self, database: Database, graph: Assistant, clock: Clock) -> None:
        self._database = database
        self._graph = graph
        self._clock = clock

    async def take(self, caller: Principal, part: ImportedThread) -> tuple[str, bool]:
        """Add the part; return the thread's id here, and whether it was not there yet."""
        thread_id = str(uuid5(NAMESPACE_URL, "\0".join((caller.user_id, part.export_id, part.source_id))))
        if await self._exists(thread_id):
            return thread_id, False
        await self._count(caller, thread_id, part)
        await self._add_messages(thread_id, part)
        if part.is_last:
            await self._publish(caller, thread_id, part)
        return thread_id, True

    async def add(self, thread_id: str, part: ImportedThread) -> None:
        """Add messages to a thread of the person's in which no run is active; the thread is tainted by them."""
        await self._add_messages(thread_id, part)

    async def expire(self) -> int:
        """Delete the imports whose last part did not come for a day; return their number."""
        ended = self._clock.now() - KEPT_FOR
        return await self._end(ThreadImportRow.updated_at <= ended)

    async def forget(self, user_id: str) -> None:
        """Delete the unfinished imports of a person."""
        await self._end(ThreadImportRow.user_id == user_id)

    async def _end(self, condition: ColumnElement[bool]) -> int:
        async with self._database.read() as session:
            rows = list(await session.scalars(select(ThreadImportRow).where(condition)))
        for row in rows:
            if not await self._exists(row.thread_id):
                await self._graph.forget(row.user_id, row.thread_id)
            async with self._database.write() as session:
                await session.execute(delete(ThreadImportRow).where(ThreadImportRow.thread_id == row.thread_id))
        return len(rows)

    async def _count(self, caller: Principal, thread_id: str, part: ImportedThread) -> None:
        """Count the part before it is stored. Raises `TooManyError` if the person has too much that is unfinished.

        Parts that are stored already count nothing: an import that was killed begins again with its first part.
        """
        size = _size(await self._new_messages(thread_id, part))
        mine = ThreadImportRow.user_id == caller.user_id
        async with self._database.write(f"imports of {caller.user_id}") as session:
            row = await session.get(ThreadImportRow, thread_id)
            if row is None:
                if (await session.scalar(select(func.count()).where(mine)) or 0) >= MAX_UNFINISHED:
                    raise TooManyError("too_many_imports", limit=str(MAX_UNFINISHED))
                row = ThreadImportRow(thread_id=thread_id, user_id=caller.user_id, size=0)
                session.add(row)
            row.size, row.updated_at = row.size + size, self._clock.now()
            await session.flush()
            if (await session.scalar(select(func.sum(ThreadImportRow.size)).where(mine)) or 0) > MAX_BYTES:
                raise TooManyError("imports_too_large", limit=str(MAX_BYTES))

    async def _new_messages(self, thread_id: str, part: ImportedThread) -> list[ImportedMessage]:
        stored = (await self._graph.state(thread_id)).get("messages", ())
        there = {message.id for message in stored}
        return [message for message in part.messages if _key(thread_id, message) not in there]

    async def _exists(self, thread_id: str) -> bool:
        async with self._database.read() as session:
            return await session.get(ThreadRow, thread_id) is not None

    async def _add_messages(self, thread_id: str, part: ImportedThread) -> None:
        """Add the messages to the graph's state, as a turn that is over; those of the same ids are replaced."""
        messages = [_message(thread_id, message) for message in part.messages]
        if not messages:
            return
        last = str(messages[-1].id)
        update = {
            "messages": messages,
            "taint": {"file_id": "", "name": part.title, "path": "", "origin": "outside"},
            "turn": {"run_id": last, "message_id": last, "language": language_of(part.title), "written": [last]},
        }
        config = {"configurable": {"thread_id": thread_id}}
        await self._graph.graph.aupdate_state(config, update, as_node=LAST_NODE)

    async def _publish(self, caller: Principal, thread_id: str, part: ImportedThread) -> None:
        now = self._clock.now()
        row = ThreadRow(
            id=thread_id,
            user_id=caller.user_id,
            title=make_title(part.title),
            created_at=min(part.created_at, now),
            updated_at=min(part.updated_at, now),
        )
        async with self._database.write() as session:
            if await session.get(ThreadRow, thread_id) is None:
                session.add(row)
            await session.execute(delete(ThreadImportRow).where(ThreadImportRow.thread_id == thread_id))


def _size(messages: Sequence[ImportedMessage]) -> int:
    """Return about how many bytes the messages take."""
    return sum(
        len(message.text.encode()) + len(repr(message.tool_calls)) + len(repr(message.citations)) + EACH_BYTES
        for message in messages
    )


def _key(thread_id: str, message: ImportedMessage) -> str:
    return str(uuid5(NAMESPACE_URL, f"{thread_id} {message.id}"))


def _message(thread_id: str, message: ImportedMessage) -> AnyMessage:
    key = _key(thread_id, message)
    if message.role == "user":
        return HumanMessage(message.text, id=key)
    if message.role == "tool":
        return _result(message).model_copy(update={"id": key})
    calls = [
        {"id": call["tool_call_id"], "name": call["name"], "args": call["args"], "type": "tool_call"}
        for call in message.tool_calls
    ]
    cited = {CITATIONS: [*message.citations]} if message.citations else {}
    return AIMessage(message.text, id=key, tool_calls=calls, additional_kwargs=cited)


def _result(message: ImportedMessage) -> ToolMessage:
    outcome: Any = message.status if message.status in OUTCOMES else "done"
    return result_message(message.tool_call_id, message.name, message.text, outcome)
