"""Where threads, and what is remembered beside them, are kept: LangGraph's own savers and stores, chosen by URL."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from api.storage.remembering import Remembering
from api.storage.secure_delete import truncate_log
from api.storage.serializer import PackingSerializer
from api.storage.sqlite import connected, opened_saver
from drive_server.errors import InvalidInputError

STORE_NAME: Final = "store.db"
"""The file of the store on SQLite, beside that of the threads: each file has one writer."""


async def _nothing() -> None:
    """Erase nothing: the database does it itself."""


@dataclass(frozen=True, slots=True)
class ThreadStorage:
    """The saver of checkpoints, the store, and what takes deleted words out of the files too."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore
    erase: Callable[[], Awaitable[None]] = _nothing


def open_threads(url: str) -> AbstractAsyncContextManager[ThreadStorage]:
    """Open what the URL names: `sqlite:///PATH` or `postgresql://...`; made if absent, closed at the end."""
    scheme = url.partition(":")[0]
    if scheme not in OPENERS:
        raise InvalidInputError(
            f"Threads can't be kept at a URL of this kind: {scheme}.", hint="Use postgresql://... or sqlite:///PATH."
        )
    return OPENERS[scheme](url)


@asynccontextmanager
async def _sqlite(url: str) -> AsyncGenerator[ThreadStorage]:
    path = Path(url.partition("///")[2])
    store_path = path.with_name(STORE_NAME)

    async def erase() -> None:
        for file in (path, store_path):
            await truncate_log(file)

    async with opened_saver(path) as saver, connected(store_path, isolation_level=None) as connection:
        store = AsyncSqliteStore(connection)
        await store.setup()
        yield ThreadStorage(saver, store, erase)


@asynccontextmanager
async def _postgres(url: str) -> AsyncGenerator[ThreadStorage]:
    # The extra `postgres`, which lint and types do without.
    saver_type: Any = import_module("langgraph.checkpoint.postgres.aio").AsyncPostgresSaver
    store_type: Any = import_module("langgraph.store.postgres.aio").AsyncPostgresStore
    remembering: Any = type("PostgresThreads", (Remembering, saver_type), {})
    async with (
        remembering.from_conn_string(url, serde=PackingSerializer()) as saver,
        store_type.from_conn_string(url) as store,
    ):
        await saver.setup()
        await store.setup()
        yield ThreadStorage(saver, store)


OPENERS: Final[dict[str, Callable[[str], AbstractAsyncContextManager[ThreadStorage]]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgres,
}
