"""The ids that clients give to their messages: they find a message that they have shown already by its id.

A run's id is the id of its message everywhere else, as no client could choose it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import select

from api.langgraph.entrance import Json
from api.service import Service
from api.storage.tables import ClientRunRow

MESSAGE_ID: Final = "message_id"
"""The name of the id in what a row of a client run says of its request."""
_ID: Final = re.compile(r"[\w.:-]{1,128}", re.ASCII)


def usable_id(given: str) -> str | None:
    """Return a client's id if it can be kept; the message has its run's id otherwise."""
    return given if _ID.fullmatch(given) else None


async def ids_by_run(service: Service, thread_id: str) -> Mapping[str, str]:
    """Return the ids that clients gave to the messages of a thread, by the ids of their runs."""
    query = select(ClientRunRow.run_id, ClientRunRow.wanted).where(ClientRunRow.thread_id == thread_id)
    async with service.database.read() as session:
        rows = (await session.execute(query.where(ClientRunRow.run_id.is_not(None)))).all()
    return {str(run_id): wanted[MESSAGE_ID] for run_id, wanted in rows if wanted.get(MESSAGE_ID)}


def with_own_ids(messages: Iterable[Json], own: Mapping[str, str]) -> list[Json]:
    """Return messages with the ids that clients gave them; no two of them get the same one."""
    listed = [*messages]
    taken = {message["id"] for message in listed}
    named: list[Json] = []
    for message in listed:
        wanted = own.get(str(message["id"]))
        is_free = wanted is not None and wanted not in taken
        named.append({**message, "id": wanted} if is_free else message)
        taken.add(named[-1]["id"])
    return named
