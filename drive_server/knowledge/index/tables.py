"""The tables of an index: the one of the model in use and, until that is complete, the one that serves searches.

A table's name says its format and model. A table of another format can't be used, and is dropped. If several models
have tables, the one with the most passages serves: so every process agrees, also after a crash, that a table which is
being filled does not serve yet. When it is complete, `promote` drops the others.
"""

import logging
import re
from collections import Counter
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from drive_server.kernel.errors import DriveError, StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.knowledge.index.health import DamagedIndexError, IndexHealth
from drive_server.knowledge.index.lance import Lance
from drive_server.knowledge.index.quarantine import is_local, set_aside
from drive_server.knowledge.index.retrieval import RowsMovedError
from drive_server.knowledge.index.table import PassageTable

logger = logging.getLogger(__name__)

FORMAT = 4
"""Raised with every change of the columns or of the words that are in them."""

PREFIX = "passages-"
MAX_NAME_CHARACTERS = 60
_UNFIT = re.compile(r"[^a-z0-9]+")
ANSWER_SECONDS: Final = 300.0
"""The longest wait for LanceDB: one of its threads that panics over a damaged file may leave a lock held for good."""
_OS_ERROR: Final = re.compile(r"os error (\d+)")
ENVIRONMENT: Final = frozenset({12, 23, 24, 28, 30, 122})
"""ENOMEM, ENFILE, EMFILE, ENOSPC, EROFS, EDQUOT: the machine failed, and the index may be sound."""
PANICS: Final = frozenset({"RustPanic", "PanicException"})
"""The names of the errors that a panic within LanceDB becomes; the second one is no `Exception`."""


class PassageTables:
    """All tables at one LanceDB URI. Opened at the first use."""

    def __init__(self, url: str, model: str, health: IndexHealth) -> None:
        self._lance = Lance(url)
        self._health = health
        self._choosing = anyio.Lock()
        self._serving: PassageTable | None = None
        self.current = PassageTable(self._lance, table_name(model), model)

    async def serving(self) -> PassageTable:
        """Return the table that answers searches."""
        async with self._choosing:
            if self._serving is None:
                self._serving = await self._fullest()
            return self._serving

    async def names(self) -> set[str]:
        """Return the names of the usable tables that are not empty."""
        return {table.name for table in await self._usable() if await table.count()}

    async def drop_unusable(self) -> None:
        """Remove the tables of other formats."""
        await self._lance.drop([name for name in await self._all_names() if not name.startswith(_format_prefix())])

    async def upgrade(self, models: Collection[str]) -> None:
        """Bring the current table to the newest columns, and have passages wait for a vector by one of the models.

        Without models, vectors stay as they are.
        """
        if self.current.name in await self._all_names():
            await self.current.upgrade()
            if models:
                await self.current.retire_vectors(models)

    async def promote(self) -> None:
        """Make the current table the only one."""
        async with self._choosing:
            if self._serving is not None and self._serving is not self.current:
                self._serving.forget()
            self._serving = self.current
            await self._lance.drop([name for name in await self._all_names() if name != self.current.name])

    async def drop(self) -> None:
        """Remove everything unread, as if nothing had ever been written."""
        self.forget()
        self.current.note_dropped()
        if is_local(self._lance.url):
            await anyio.to_thread.run_sync(set_aside, Path(self._lance.url))
        else:
            await self._lance.drop(await self._all_names())

    async def inspect(self) -> Counter[str]:
        """Read something of every file of the tables; return how many passages the current one has of each file."""
        found: Counter[str] = Counter()
        for table in await self._usable():
            passages = await table.inspect()
            if table is self.current:
                found = passages
        return found

    def forget(self) -> None:
        """Open and choose again at the next use: another process may have dropped, made or promoted a table."""
        self.current.forget()
        if self._serving is not None:
            self._serving.forget()
        self._serving = None
        self._lance.forget()

    def close(self) -> None:
        """Close the files."""
        if self._serving is not None:
            self._serving.close()
        self.current.close()
        self._serving = None
        self._lance.close()

    @asynccontextmanager
    async def translated_errors(self, seconds: float = ANSWER_SECONDS, *, reports: bool = True) -> AsyncGenerator[None]:
        """Turn LanceDB's errors into ours, without paths, and open the tables again at the next use.

        Raises `DamagedIndexError` if the index may be damaged, which `reports` tells its writer too.
        """
        try:
            with anyio.fail_after(seconds):
                yield
        except DriveError:
            raise
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            raise self._failure(error, reports=reports) from error
        except BaseException as error:
            if type(error).__name__ not in PANICS:
                raise
            raise self._failure(error, reports=reports) from error

    def _failure(self, error: BaseException, *, reports: bool) -> StorageFailureError:
        self.forget()
        number = _OS_ERROR.search(str(error))
        code = int(number[1]) if number else getattr(error, "errno", None)
        # Of the disk's own failures the reason says all; of others the way there may help.
        is_disk = code in ENVIRONMENT
        logger.warning("The search index failed: %s", error, exc_info=None if is_disk else error)
        if is_disk:
            return StorageFailureError(Message.of("index_failure"))
        if isinstance(error, RowsMovedError):
            return StorageFailureError(Message.of("index_failure"))
        if reports:
            self._health.request("inspect")
        return DamagedIndexError(Message.of("index_damaged"))

    async def _fullest(self) -> PassageTable:
        usable = await self._usable()
        if all(table is self.current for table in usable):
            return self.current
        counts = {table.name: await table.count() for table in usable}
        return max(usable, key=lambda table: (counts[table.name], table is self.current))

    async def _usable(self) -> list[PassageTable]:
        names = [name for name in await self._all_names() if name.startswith(_format_prefix())]
        return [
            self.current if name == self.current.name else PassageTable(self._lance, name, "") for name in sorted(names)
        ]

    async def _all_names(self) -> list[str]:
        return [name for name in await self._lance.names() if name.startswith(PREFIX)]


def table_name(model: str) -> str:
    """Return the name of the table of a model."""
    readable = _UNFIT.sub("-", model.lower()).strip("-")[:MAX_NAME_CHARACTERS]
    return f"{_format_prefix()}{readable}-{sha256(model.encode()).hexdigest()[:8]}"


def _format_prefix() -> str:
    return f"{PREFIX}{FORMAT}-"
