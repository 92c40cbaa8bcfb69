"""Work that most tests would repeat, done once in each process of the test run, and costs that none of them needs.

All of it changes speed only. With PLAIN=1 in the environment the tests run without it (`make test-plain`, at night).
"""

from __future__ import annotations

import os
import shutil
import ssl
from contextlib import contextmanager, suppress
from functools import cache, partialmethod, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from _pytest import pathlib
from argon2 import PasswordHasher
from fastapi import routing
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore
from mcp.server.fastmcp.tools import Tool
from sqlalchemy import Engine
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.util import LRUCache

from drive_server import connect
from drive_server.kernel.sql import engine
from drive_server.kernel.sql.schema import Schema
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.readers import pool as reader_pool
from drive_server.knowledge.readers.pool import ReaderPool
from drive_server.services.sharing import link_passwords

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    import pytest
    from sqlalchemy import URL

    from drive_server.knowledge.readers.process import Reader

PLAIN: Final = os.environ.get("PLAIN") == "1"
"""Whether the tests run without all this."""
WITHOUT_DISK: Final = "PRAGMA synchronous = OFF"
WITH_DISK: Final = vars(engine)["_on_connect"]
"""Sets a connection up as services do."""
MAX_STATEMENTS: Final = 5000
"""How many compiled statements are kept."""


@contextmanager
def done_once(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Generator[None]:
    """Do all of this while the tests run. The folder is for databases that others begin as copies of."""
    copy_migrated_databases(monkeypatch, folder)
    compile_statements_once(monkeypatch)
    describe_tools_once(monkeypatch)
    build_routes_once(monkeypatch)
    read_certificates_once(monkeypatch)
    load_lancedb_once(monkeypatch)
    wait_for_no_disk(monkeypatch)
    hash_passwords_cheaply(monkeypatch)
    # Beside each folder of a test, pytest makes a link to the newest one of that name: tests follow none of them.
    monkeypatch.setattr(pathlib, "_force_symlink", _link_nothing)
    with shared_readers(monkeypatch):
        yield


def copy_migrated_databases(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Migrate one empty SQLite database for each schema; every other one begins as a copy of it."""
    upgrade = Schema.upgrade

    @wraps(upgrade)
    def copy_or_upgrade(schema: Schema, url: URL, configure: Callable[[Any], None] | None = None) -> None:
        if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
            template = folder / f"{schema.version_table}.db"
            if not template.exists():
                unfinished = folder / uuid4().hex
                upgrade(schema, url.set(database=str(unfinished)), configure)
                unfinished.replace(template)
            _copy(template, Path(url.database))
        else:
            upgrade(schema, url, configure)

    monkeypatch.setattr(Schema, "upgrade", copy_or_upgrade)


def _copy(template: Path, target: Path) -> None:
    """Put a copy at the target, whole, unless another process is first."""
    unfinished = target.with_name(f".{uuid4().hex}")
    shutil.copyfile(template, unfinished)
    with suppress(FileExistsError):
        os.link(unfinished, target)
    unfinished.unlink()


def compile_statements_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share one cache of compiled statements among all engines, and take SQLite dialects of one type as equal keys."""
    compiled: LRUCache[Any, Any] = LRUCache(MAX_STATEMENTS)
    of_all = property(lambda _: compiled, lambda _engine, _own: None)
    monkeypatch.setattr(Engine, "_compiled_cache", of_all, raising=False)
    monkeypatch.setattr(SQLiteDialect, "__eq__", _is_of_the_same_type)
    monkeypatch.setattr(SQLiteDialect, "__hash__", _hash_of_the_type)


def wait_for_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing in this process wait for a disk: each commit of SQLite takes some milliseconds of it.

    Durability is tested in processes of their own, where this does not reach.
    """
    monkeypatch.setattr(os, "fsync", _return_at_once)

    def configure_without_disk(connection: Any, record: Any) -> None:
        WITH_DISK(connection, record)
        connection.execute(WITHOUT_DISK)

    monkeypatch.setattr(engine, "_on_connect", configure_without_disk)
    for kept in (AsyncSqliteSaver, AsyncSqliteStore):
        monkeypatch.setattr(kept, "setup", _setup_without_disk(kept.setup))
    set_up = SqliteStore.setup

    def set_up_without_disk(store: SqliteStore) -> None:
        store.conn.execute(WITHOUT_DISK)
        set_up(store)

    monkeypatch.setattr(SqliteStore, "setup", set_up_without_disk)


def _link_nothing(root: Path, target: str, link_to: Path) -> None:
    del root, target, link_to


def _return_at_once(descriptor: int) -> None:
    del descriptor


def _setup_without_disk(setup: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """Return LangGraph's preparation of a connection, which then waits for no disk either."""

    @wraps(setup)
    async def prepare(kept: Any) -> None:
        if not kept.is_setup:
            await kept.conn.execute(WITHOUT_DISK)
        await setup(kept)

    return prepare


def hash_passwords_cheaply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with the least memory and time: as services do it, each takes 64 MiB and 0.1 s of CPU."""
    cheap = partialmethod(PasswordHasher.__init__, time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(PasswordHasher, "__init__", cheap)
    monkeypatch.setattr(link_passwords, "COST", {"n": 2, "r": 8, "p": 1})


def _is_of_the_same_type(one: object, other: object) -> bool:
    return type(one) is type(other)


def _hash_of_the_type(one: object) -> int:
    return hash(type(one))


def describe_tools_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the schemas of the drive's tools for the first server; the functions of the others have the same code."""
    from_function = Tool.from_function
    described: dict[object, Tool] = {}

    def describe(function: Callable[..., Any], name: str | None = None, **options: Any) -> Tool:
        if not function.__module__.startswith("drive_server."):
            return from_function(function, name, **options)
        key = (getattr(function, "__code__", function), name)
        if key not in described:
            described[key] = from_function(function, name, **options)
        return described[key].model_copy(update={"fn": function, "parameters": described[key].parameters.copy()})

    monkeypatch.setattr(Tool, "from_function", describe)


def build_routes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build what FastAPI derives from a route of a router for the first application: the others include the same."""
    context_type: Any = vars(routing)["_EffectiveRouteContext"]
    build = context_type.from_api_route
    built: dict[object, tuple[routing.APIRoute, object]] = {}

    def from_api_route(*, original_route: routing.APIRoute, include_context: Any) -> object:
        needed = [each.dependency for each in include_context.dependencies]
        # The route is kept with what was built of it: a key is its own as long as it lives.
        key = (id(original_route), include_context.path_for(original_route), *needed)
        if key not in built:
            context = build(original_route=original_route, include_context=include_context)
            built[key] = (original_route, context)
        return built[key][1]

    monkeypatch.setattr(context_type, "from_api_route", from_api_route)


@contextmanager
def shared_readers(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Leave the readers of a drive that is closed to the next drive: a process takes 0.2 s of CPU to start.

    One that has ended meanwhile, as idle ones do, is replaced by its pool.
    """
    idle: list[Reader] = []
    begin, end = ReaderPool.__init__, vars(reader_pool)["_end_all"]

    @wraps(begin)
    def begin_with_readers(pool: ReaderPool) -> None:
        begin(pool)
        move(idle, vars(pool)["_idle"])

    @wraps(end)
    def move(readers: list[Reader], target: list[Reader] = idle) -> None:
        while readers:
            target.append(readers.pop())

    monkeypatch.setattr(ReaderPool, "__init__", begin_with_readers)
    monkeypatch.setattr(reader_pool, "_end_all", move)
    yield
    end(idle)


class IndexWithoutProcess(KnowledgeIndex):
    """The index of a drive in the process of the tests."""

    async def end(self) -> None:
        """Close its files."""
        self.close()


def load_lancedb_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the indices of drives in this process: one that only has LanceDB takes 1.2 s of CPU to start.

    `own_index_process` gives a test the real one, and services in processes of their own have it.
    """
    monkeypatch.setattr(connect, "IndexProcess", IndexWithoutProcess)


def read_certificates_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a file of certificates for the first HTTP client: it takes longer than most tests do otherwise."""
    create = ssl.create_default_context

    @cache
    def of_file(cafile: str) -> ssl.SSLContext:
        return create(cafile=cafile)

    def create_default_context(*args: Any, **options: Any) -> ssl.SSLContext:
        if not args and options.keys() == {"cafile"}:
            return of_file(options["cafile"])
        return create(*args, **options)

    monkeypatch.setattr(ssl, "create_default_context", create_default_context)
