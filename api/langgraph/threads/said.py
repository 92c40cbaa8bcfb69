"""The ids that clients gave to their messages: ours are those of runs, and clients join states by theirs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select

from api.service import Service
from api.storage.tables import ClientRunRow, RunRow

SAID: Final = "said"
"""Key in what is stored of a client run: the ids of the messages that began it."""


@dataclass(frozen=True, slots=True)
class Said:
    """The messages of clients on a thread, as far as they had ids. `by_id` has the client run and the text of each."""

    by_id: Mapping[str, tuple[str, str]]

    def client_run(self, message: Mapping[str, str]) -> str | None:
        """Return the client run that said a message; None if it is new, or has other words by now."""
        client_run, text = self.by_id.get(message["id"], ("", ""))
        return client_run if client_run and message["content"].strip() in text else None


async def said_on(service: Service, thread_id: str) -> Said:
    """Return the messages of clients on a thread."""
    query = select(ClientRunRow.id, ClientRunRow.wanted, RunRow.message).where(ClientRunRow.thread_id == thread_id)
    query = query.outerjoin(RunRow, RunRow.id == ClientRunRow.run_id).order_by(ClientRunRow.number)
    async with service.database.read() as session:
        found = await session.execute(query)
        by_id = {
            one: (key, message or wanted.get("message", ""))
            for key, wanted, message in found
            for one in wanted.get(SAID, ())
        }
    return Said(by_id)


async def own_ids(service: Service, thread_id: str) -> Mapping[str, str]:
    """Return the id of the client's last message in each run that had one, by the run's id."""
    query = select(ClientRunRow.run_id, ClientRunRow.wanted[SAID]).where(ClientRunRow.thread_id == thread_id)
    query = query.where(ClientRunRow.run_id.is_not(None), ClientRunRow.wanted[SAID].is_not(None))
    async with service.database.read() as session:
        found = await session.execute(query.order_by(ClientRunRow.number))
        last: dict[str, str] = {said[-1]: str(run_id) for run_id, said in found if said}
    return {run_id: one for one, run_id in last.items()}
