"""The file that the graph's checkpoints are kept in."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from aiosqlite import connect
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

# A checkpoint waits for another process, or for one that is just ending, instead of failing its run.
BUSY_TIMEOUT_SECONDS = 30


@asynccontextmanager
async def open_checkpoints(path: Path) -> AsyncGenerator[AsyncSqliteSaver]:
    """Open the checkpoints at the path, which are made if absent, and leave nothing locked at the end."""
    async with connect(path, timeout=BUSY_TIMEOUT_SECONDS) as connection:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        try:
            yield saver
        finally:
            # A run that was stopped between its write and the commit leaves a transaction open. Closing alone would
            # keep the lock until the last cursor is collected (sqlite3_close_v2): nobody could write until then. The
            # saver's own lock keeps out the writes of such runs that come in between.
            async with saver.lock:
                await connection.rollback()
                await connection.close()
