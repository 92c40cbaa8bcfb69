"""The status of the index for all who watch it: read once for all of them, and only if anything may have changed."""

from collections.abc import Collection, Mapping
from time import monotonic
from typing import Final

from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.shared_poll import SharedPoll, Watch
from drive_server.knowledge.ingest.ingester import PAUSE_SECONDS, POLL_SECONDS, Ingester
from drive_server.models.search import IndexStatus
from drive_server.storage.journal_numbers import read_numbers_sync

MAX_SECONDS: Final = 30.0
"""A status is read anew after so long, even if nothing seems to have changed."""


class IndexStatuses:
    """Reads the statuses for those who watch. `polls` has to run.

    A status is another one after a step of the ingester or a change in the journal. While another process indexes,
    only the database tells of its steps, so it is read at each poll.
    """

    def __init__(self, database: Database, ingester: Ingester) -> None:
        self._database = database
        self._ingester = ingester
        self._state: tuple[object, ...] = ()
        self._known: Mapping[str, IndexStatus] = {}
        self.polls = SharedPoll[IndexStatus](self._read, POLL_SECONDS, IndexStatus(), PAUSE_SECONDS)
        ingester.on_step = self.polls.wake

    def watch(self, user_id: str) -> Watch[IndexStatus]:
        """Watch the status of a person's files."""
        return self.polls.watch(user_id)

    async def _read(self, user_ids: Collection[str]) -> Mapping[str, IndexStatus]:
        # Before the statuses: a change in between is read at the next poll.
        state = await self._state_now()
        known = self._known if state == self._state and self._ingester.is_writer else {}
        unknown = [user_id for user_id in user_ids if user_id not in known]
        read = await self._ingester.statuses(unknown) if unknown else {}
        self._state, self._known = state, {**{user: known[user] for user in user_ids if user in known}, **read}
        return self._known

    async def _state_now(self) -> tuple[object, ...]:
        numbers = await self._database.read_sync(read_numbers_sync)
        return numbers, self._ingester.steps, self._ingester.health.state, monotonic() // MAX_SECONDS
