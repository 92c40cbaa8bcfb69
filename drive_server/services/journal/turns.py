"""Changes of one drive follow one another, also where several processes write to the database at once."""

import logging
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.errors import DatabaseAwayError
from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.engine import SessionWork
from drive_server.kernel.sql.server import is_undone
from drive_server.storage.tables.items import NodeRow

logger = logging.getLogger(__name__)

MAX_UNDONE: Final = 5
"""How often a change may be undone by the server before its caller has to try again."""
T = TypeVar("T")


class _MoreDrivesError(Exception):
    """A change used items of a drive whose turn it did not have."""


async def change_in_turn(database: Database, work: SessionWork[T], user_id: str, *, waits: bool = False) -> T:
    """Do as `Database.change` does, and let nobody else change meanwhile the drives whose items the work uses.

    Which drives these are shows while it runs: one that used more than the person's own is taken back and run again, in
    the turn of all of them. So data that it reads, such as an etag or the folders above an item, holds until it
    commits.

    One that the server undid for the sake of another transaction is run again too: not all who write rows of a drive
    take its turn, such as the index, which may hold one row of a change and wait for another.
    """
    if not database.takes_turns:
        return await database.change(work, waits=waits)
    owners, undone = {user_id}, 0
    while True:
        used = set[str]()

        async def alone(session: AsyncSession, turns: Iterable[str] = frozenset(owners), seen: set[str] = used) -> T:
            _gather_owners(session, seen)
            try:
                value = await work(session)
            # Not `finally`: whoever is cancelled ends here, and does not begin again.
            except Exception as error:
                _require_turns(seen, turns, error)
                raise
            _require_turns(seen, turns)
            return value

        try:
            return await database.change(alone, turns=owners, waits=waits)
        except _MoreDrivesError:
            owners |= used
        except DatabaseAwayError as error:
            undone += 1
            if undone > MAX_UNDONE or not is_undone(error):
                raise
            logger.info("A change was undone by the server, and is tried again: %s", error.__cause__)


def _require_turns(used: set[str], turns: Iterable[str], error: Exception | None = None) -> None:
    """Raise `_MoreDrivesError` if a drive was used out of turn: without it, an error may come of a state in between."""
    if not used <= set(turns):
        raise _MoreDrivesError from error


def _gather_owners(session: AsyncSession, owners: set[str]) -> None:
    def note(_session: Any, row: object) -> None:
        if isinstance(row, NodeRow):
            owners.add(row.owner_id)

    event.listen(session.sync_session, "loaded_as_persistent", note)
    event.listen(session.sync_session, "pending_to_persistent", note)
