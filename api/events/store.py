"""The stored events of runs, and the questions that are asked of them."""

import orjson
from sqlalchemy import func, insert, select

from api.events.events import Event, Frame
from api.storage.tables import EventRow, table_of
from drive_server.storage.database import Database

PAGE_FRAMES = 1000
NEW_EVENT = insert(table_of(EventRow))


def row_of(run_id: str, frame: Frame) -> dict[str, object]:
    """Return a frame as `NEW_EVENT` takes it."""
    return {"run_id": run_id, "seq": frame.seq, "type": frame.type, "data": frame.data.decode()}


async def read_frames(database: Database, run_id: str, after: int, limit: int | None = PAGE_FRAMES) -> list[Frame]:
    """Return a run's stored frames after a number, at most `limit` (None: all)."""
    columns = select(EventRow.seq, EventRow.type, EventRow.data)
    query = columns.where(EventRow.run_id == run_id, EventRow.seq > after).order_by(EventRow.seq).limit(limit)
    async with database.read() as session:
        return [Frame(seq, kind, data.encode()) for seq, kind, data in await session.execute(query)]


async def read_all(database: Database, run_id: str) -> list[Frame]:
    """Return all stored frames of a run."""
    return await read_frames(database, run_id, 0, limit=None)


async def newest_number(database: Database, run_id: str) -> int:
    """Return the number of a run's newest stored frame, 0 without any."""
    async with database.read() as session:
        return await session.scalar(select(func.max(EventRow.seq)).where(EventRow.run_id == run_id)) or 0


async def open_calls(database: Database, run_id: str) -> list[Event]:
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
