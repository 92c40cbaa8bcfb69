"""The storage of threads and memories: LangGraph's own savers and stores, chosen by URL."""

import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore
from typing_extensions import override

from api.storage.database import truncate_log
from api.storage.one_thread import OneThread
from api.storage.postgres_threads import opened_postgres
from api.storage.sqlite_threads import opened_saver, opened_store
from drive_server.kernel.errors import InvalidInputError

STORE_NAME: Final = "store.db"
"""The file of the store on SQLite, beside that of the threads: each file has one writer."""


async def _nothing() -> None:
    """Erase nothing: the database does it itself."""


@dataclass(frozen=True, slots=True)
class ThreadStorage:
    """The saver of checkpoints, the store, and the function that erases deleted words from the files too."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore
    erase: Callable[[], Awaitable[None]] = _nothing

    def require_sound(self) -> None:
        """Raise the failure that told of a damaged file of SQLite, if there was one."""
        for one in (self.saver, self.store):
            thread = getattr(one, "thread", None)
            if isinstance(thread, OneThread) and thread.damage is not None:
                raise thread.damage


def open_threads(url: str) -> AbstractAsyncContextManager[ThreadStorage]:
    """Open the storage at the URL: `sqlite:///PATH` or `postgresql://...`; made if absent, closed at the end."""
    scheme = url.partition(":")[0]
    if scheme not in OPENERS:
        raise InvalidInputError(
            f"Threads can't be stored at a URL of this kind: {scheme}.", hint="Use postgresql://... or sqlite:///PATH."
        )
    return OPENERS[scheme](url)


def threads_at(url: str) -> tuple[str, str]:
    """Return where checkpoints are, and where the store is."""
    if not url.startswith("sqlite"):
        return url, url
    return url, f"sqlite:///{Path(url.partition('///')[2]).with_name(STORE_NAME)}"


@asynccontextmanager
async def _sqlite(url: str) -> AsyncGenerator[ThreadStorage]:
    path = Path(url.partition("///")[2])
    store_path = path.with_name(STORE_NAME)

    async def erase() -> None:
        for file in (path, store_path):
            await truncate_log(file)

    async with opened_saver(path, PackingSerializer()) as saver, opened_store(store_path) as store:
        yield ThreadStorage(saver, store, erase)


@asynccontextmanager
async def _postgres(url: str) -> AsyncGenerator[ThreadStorage]:
    async with opened_postgres(url, PackingSerializer()) as (saver, store):
        yield ThreadStorage(saver, store)


OPENERS: Final[dict[str, Callable[[str], AbstractAsyncContextManager[ThreadStorage]]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgres,
}


PACKED: Final = "zlib:"
"""Begins the type of packed data; the type that it had follows."""
LEVEL: Final = 6
LONG: Final = 512
"""Bytes from which on a value is packed."""


class PackingSerializer(JsonPlusSerializer):
    """Packs long values, in which the same names stand again and again, and reads both forms."""

    @override
    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return the type of a value, and its content."""
        kind, content = super().dumps_typed(obj)
        return (f"{PACKED}{kind}", zlib.compress(content, LEVEL)) if len(content) >= LONG else (kind, content)

    @override
    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the stored value, packed or not."""
        kind, content = data
        if kind.startswith(PACKED):
            return super().loads_typed((kind.removeprefix(PACKED), zlib.decompress(content)))
        return super().loads_typed(data)
