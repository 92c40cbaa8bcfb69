"""The events of a run as frames: numbered, encoded once for every reader, and stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, func, insert, select

from api.storage.tables import EventRow, table_of
from drive_server.kernel.sql.database import Database
from graph.events.definitions import EVENTS

Event = dict[str, Any]
RECORD = "assistant.toolCall.updated"

NEW_EVENT = insert(table_of(EventRow))
# The format ends no line at these characters, but Python's `splitlines`, with which many clients read a stream, does.
LINE_SEPARATORS = [(character.encode(), b"\\u%04x" % ord(character)) for character in "\x85\u2028\u2029"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a run. `seq` counts from 1 within the run; `data` is its JSON."""

    seq: int
    type: str
    data: bytes

    @property
    def is_final(self) -> bool:
        """Say whether the run has no event after this one."""
        return EVENTS[self.type].is_final


def encode(event: Event) -> bytes:
    """Return the event as JSON, with surrogate pairs joined that a model server split over two deltas."""
    try:
        data = orjson.dumps(event, default=str)
    except TypeError:
        data = orjson.dumps(_repaired(event), default=str)
    for separator, escaped in LINE_SEPARATORS:
        data = data.replace(separator, escaped)
    return data


def _repaired(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {str(_repaired(key)): _repaired(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_repaired(item) for item in value]
    return value


def frame_to_row(run_id: str, frame: Frame) -> dict[str, object]:
    """Return a frame as the parameters of `NEW_EVENT`."""
    return {"run_id": run_id, "seq": frame.seq, "type": frame.type, "data": frame.data.decode()}


async def read_frames(database: Database, run_id: str, after: int = 0, limit: int | None = None) -> list[Frame]:
    """Return a run's stored frames after a number, at most `limit`."""
    columns = select(EventRow.seq, EventRow.type, EventRow.data)
    query = columns.where(EventRow.run_id == run_id, EventRow.seq > after).order_by(EventRow.seq).limit(limit)

    def read(connection: Connection) -> list[Frame]:
        return [Frame(seq, kind, data.encode()) for seq, kind, data in connection.execute(query)]

    return await database.read_sync(read)


async def newest_number(database: Database, run_id: str) -> int:
    """Return the number of a run's newest stored frame, 0 without any."""
    async with database.read() as session:
        return await session.scalar(select(func.max(EventRow.seq)).where(EventRow.run_id == run_id)) or 0


async def read_records(database: Database, run_id: str) -> list[list[Event]]:
    """Return the `assistant.toolCall.updated` events of each call of a person's own server, in order."""
    query = select(EventRow.data).where(EventRow.run_id == run_id, EventRow.type == RECORD)
    calls: dict[str, list[Event]] = {}
    async with database.read() as session:
        for data in await session.scalars(query.order_by(EventRow.seq)):
            event: Event = orjson.loads(data)
            calls.setdefault(event["toolCall"]["id"], []).append(event)
    return [*calls.values()]


def was_sent(updates: Sequence[Event]) -> bool:
    """Say whether a call of a person's own server was sent, by its events."""
    return any(event["toolCall"]["status"] == "invoking" for event in updates)


async def read_open_calls(database: Database, run_id: str) -> list[Event]:
    """Return the `tool_call_start` events of calls that have no `tool_call_end` yet."""
    kinds = ("tool_call_start", "tool_call_end")
    query = select(EventRow.type, EventRow.data).where(EventRow.run_id == run_id, EventRow.type.in_(kinds))
    calls: dict[str, Event] = {}
    async with database.read() as session:
        for kind, data in await session.execute(query.order_by(EventRow.seq)):
            event: Event = orjson.loads(data)
            if kind == "tool_call_start":
                calls[event["tool_call_id"]] = event
            else:
                calls.pop(event["tool_call_id"], None)
    return list(calls.values())
