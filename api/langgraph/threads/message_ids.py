"""The ids that clients give to their messages: they find a message that they have shown already by its id.

A run's id is the id of its message everywhere else, as no client could choose it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select

from api.langgraph.entrance import Json
from api.langgraph.threads.rows import ClientThread
from api.service import Service
from api.storage.tables import ClientRunRow

SAID: Final = "said"
"""Key in the stored request of a client run: the ids of the messages that began it."""
_ID: Final = re.compile(r"[\w.:-]{1,128}", re.ASCII)


def usable_id(given: str) -> str | None:
    """Return a client's id if it can be kept; the message has its run's id otherwise."""
    return given if _ID.fullmatch(given) else None


@dataclass(frozen=True, slots=True)
class Said:
    """The messages said on a thread: `by_id` has the client run of each, "" if none began it, and its text."""

    by_id: Mapping[str, tuple[str, str]]

    def client_run(self, message: Mapping[str, str]) -> str | None:
        """Return the client run that said a message; None if it is new, or has other words by now."""
        found = self.by_id.get(message["id"])
        return found[0] if found and message["content"].strip() in found[1] else None


NOTHING_SAID: Final = Said({})


async def said_on(service: Service, thread: ClientThread) -> Said:
    """Return the messages that were said on a thread, by the ids of their clients and of their runs."""
    if thread.run is None:
        return NOTHING_SAID
    runs = await service.threads.runs(thread.row.id)
    texts = {run.id: run.message for run in runs}
    by_id = {run.id: ("", run.message) for run in runs}
    query = select(ClientRunRow).where(ClientRunRow.thread_id == thread.row.id).order_by(ClientRunRow.number)
    async with service.database.read() as session:
        for row in await session.scalars(query):
            text = texts.get(row.run_id or "") or row.wanted.get("message", "")
            begun = row.wanted.get(SAID, ())
            by_id.update(dict.fromkeys((*begun, *([row.run_id] if row.run_id and begun else ())), (row.id, text)))
    return Said(by_id)


async def ids_by_run(service: Service, thread_id: str) -> Mapping[str, str]:
    """Return the id of the client's last message in each run of a thread that had one, by the run's id."""
    columns = select(ClientRunRow.run_id, ClientRunRow.wanted)
    query = columns.where(ClientRunRow.thread_id == thread_id, ClientRunRow.run_id.is_not(None))
    rows = await service.database.read_sync(lambda connection: connection.execute(query).all())
    return {str(run_id): wanted[SAID][-1] for run_id, wanted in rows if wanted.get(SAID)}


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
