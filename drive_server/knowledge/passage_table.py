"""The LanceDB table of passages: made, opened, kept fast and small."""

import importlib
import logging
import math
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
import anyio.to_thread

from drive_server.errors import StorageFailureError
from drive_server.knowledge.rows import schema

logger = logging.getLogger(__name__)

PREFIX = "passages-"
UNINDEXED_ROWS = 256
COMMITS = 20
ROWS_FOR_VECTOR_INDEX = 30_000
KEPT_VERSIONS = timedelta(minutes=10)
SEEN_AFTER = timedelta(seconds=1)
"""How soon a process sees what another one wrote."""


class PassageTable:
    """One table for one embedding model, opened at its first use: LanceDB takes seconds of CPU to load."""

    def __init__(self, url: str, model: str, dimensions: int) -> None:
        self._url = url
        self._name = PREFIX + model
        self._dimensions = dimensions
        self._opening = anyio.Lock()
        self._database: Any = None
        self._table: Any = None
        self._unindexed = 0
        self._commits = 0
        self._clean_at = math.inf

    async def readable(self) -> Any | None:
        """Return LanceDB's table, None as long as nothing was ever written."""
        async with self._opening:
            if self._table is None and self._name in await self._names():
                self._table = await (await self._connected()).open_table(self._name)
            return self._table

    async def writable(self) -> Any:
        """Return LanceDB's table, made with its indices if need be; tables of other models are dropped then."""
        table = await self.readable()
        if table is not None:
            return table
        async with self._opening:
            database = await self._connected()
            for name in await self._names():
                if name.startswith(PREFIX):
                    await database.drop_table(name)
            self._table = await database.create_table(self._name, schema=schema(self._dimensions))
            await _create_indices(self._table)
            return self._table

    def note_write(self, rows: int, commits: int) -> None:
        """Take note of rows that were added and of commits, which `tend` cleans up after."""
        self._unindexed += rows
        self._commits += commits

    async def tend(self, *, idle: bool) -> None:
        """Bring added rows into the indices and drop old versions, if enough came together or there is time.

        Until then every query reads the added rows one by one. Versions of the last minutes stay for those who read.
        """
        urgent = self._unindexed >= UNINDEXED_ROWS or self._commits >= COMMITS
        wanted = self._commits > 0 or anyio.current_time() >= self._clean_at
        if self._table is None or not (urgent or (idle and wanted)):
            return
        await self._create_vector_index()
        await self._table.optimize(cleanup_older_than=KEPT_VERSIONS)
        # What was replaced just now is too young to go: once more when it no longer is.
        self._clean_at = anyio.current_time() + 1.1 * KEPT_VERSIONS.total_seconds() if self._commits else math.inf
        self._unindexed = self._commits = 0

    async def drop(self) -> None:
        """Remove everything, as if nothing had ever been written."""
        async with self._opening:
            self._table = None
            for name in await self._names():
                await (await self._connected()).drop_table(name)

    def close(self) -> None:
        """Let go of the files."""
        for opened in (self._table, self._database):
            if opened is not None:
                opened.close()
        self._table = self._database = None

    @asynccontextmanager
    async def guarded(self) -> AsyncGenerator[None]:
        """Turn LanceDB's errors into ours, saying nothing of paths, and open the table anew at the next use.

        Another process may have dropped and remade it, which an open table never gets over.
        """
        try:
            yield
        except (RuntimeError, OSError, ValueError) as error:
            logger.exception("The search index failed.")
            self._table = None
            raise StorageFailureError(
                "The search index can't be read or written.",
                hint="Check that the disk is not full; if it goes on, run `drive-agent index --rebuild`.",
            ) from error

    async def _create_vector_index(self) -> None:
        """Add the vector index to a table that has grown to need one: below, looking at every vector is faster."""
        if not self._dimensions:
            return
        rows = await self._table.count_rows("vector IS NOT NULL")
        names = {index.columns[0] for index in await self._table.list_indices()}
        if rows < ROWS_FOR_VECTOR_INDEX or "vector" in names:
            return
        from lancedb.index import IvfFlat

        partitions = max(1, math.isqrt(rows) // 4)
        await self._table.create_index("vector", config=IvfFlat(distance_type="dot", num_partitions=partitions))

    async def _names(self) -> list[str]:
        return list((await (await self._connected()).list_tables()).tables)

    async def _connected(self) -> Any:
        if self._database is None:
            lancedb = await anyio.to_thread.run_sync(_load)
            self._database = await lancedb.connect_async(self._url, read_consistency_interval=SEEN_AFTER)
        return self._database


async def _create_indices(table: Any) -> None:
    """Index the columns that are asked for; a full-text query on a column without an index is an error."""
    from lancedb.index import FTS, Bitmap, BTree

    words = FTS(base_tokenizer="simple", stem=True, remove_stop_words=True, with_position=False)
    await table.create_index("words", config=words)
    await table.create_index("file_id", config=BTree())
    await table.create_index("owner_id", config=Bitmap())


def _load() -> Any:
    # Its log goes to standard error at "info" and says of each new table that it did not exist before.
    os.environ.setdefault("LANCE_LOG", "error")
    return importlib.import_module("lancedb")
