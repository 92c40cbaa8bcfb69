"""The health of an index that services on several machines share, in a row of their database."""

from typing import TYPE_CHECKING, Final, cast

from anyio import current_time
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.sql.database import Database
from drive_server.knowledge.index.health import HealthNews, HealthRecord, IndexHealth, Request
from drive_server.storage.tables.index import IndexHealthRow

if TYPE_CHECKING:
    from drive_server.models.search import IndexHealthState

SECONDS: Final = 5.0
"""How often a process with nothing to tell hears the news of others."""
UNTOLD_SECONDS: Final = 20.0
"""The same while the server tells of them, and has told of nothing."""
TURN: Final = "index health"
ONLY: Final = 1


class SharedHealth:
    """Brings together the health as each process knows it: the writer sets the state, requests are of all."""

    def __init__(self, database: Database, health: IndexHealth) -> None:
        self._database = database
        self._health = health
        self._next_at = self._untold_until = 0.0
        self._news_count = 0

    async def exchange(self, *, is_writer: bool) -> None:
        """Tell the news of this process at once, and hear those of others when it is time."""
        if not self._health.has_news:
            is_untold = self._database.news.arrives and self._database.news.count == self._news_count
            if current_time() < (self._untold_until if is_untold else self._next_at):
                return
            self._news_count = self._database.news.count
            record, request = await self._database.look(_read)
        else:
            record, request = await self._told(is_writer=is_writer)
        self._health.accept(record, request)
        self._next_at, self._untold_until = current_time() + SECONDS, current_time() + UNTOLD_SECONDS

    async def _told(self, *, is_writer: bool) -> tuple[HealthRecord, Request]:
        news = self._health.take_news()
        try:
            return await self._database.change(lambda session: _merge(session, news, is_writer), turns=(TURN,))
        except BaseException:
            self._health.put_back(news)
            raise


async def _read(session: AsyncSession) -> tuple[HealthRecord, Request]:
    return _known(await session.get(IndexHealthRow, ONLY))


async def _merge(session: AsyncSession, news: HealthNews, is_writer: bool) -> tuple[HealthRecord, Request]:
    # The turn keeps others out until this is committed.
    stored, before = await _read(session)
    record, request = news.merged(stored, before, is_writer=is_writer)
    values = {"state": record.state, "rebuilds": record.rebuilds, "request": request}
    await session.merge(IndexHealthRow(id=ONLY, **values))  # nobody else writes it in this turn
    return record, request


def _known(row: IndexHealthRow | None) -> tuple[HealthRecord, Request]:
    if row is None:
        return HealthRecord(), ""
    return HealthRecord(cast("IndexHealthState", row.state), list(row.rebuilds)), cast("Request", row.request)
