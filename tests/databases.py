"""The databases of the tests: SQLite in a folder of the test, or PostgreSQL with `TEST_DATABASE=postgresql`."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Final

from sqlalchemy import make_url

from drive_server.storage.tables.drive_schema import SCHEMA
from tests.api.storage.postgres_server import PostgresServer, running_server

if TYPE_CHECKING:
    from pathlib import Path

IS_POSTGRES: Final = os.environ.get("TEST_DATABASE") == "postgresql"
_running: Final = ExitStack()


@cache
def drive_url(file: Path) -> str:
    """Return the URL of a database for a drive: of the file, or of a database with the drive's tables in its place.

    Which one that is stands beside the file: programs that a test starts have the same.
    """
    if not IS_POSTGRES:
        return f"sqlite+aiosqlite:///{file}"
    noted = file.with_name(f".{file.name}.postgresql")
    if not noted.exists():
        noted.parent.mkdir(parents=True, exist_ok=True)
        noted.write_text(new_url())
    return noted.read_text()


def new_url() -> str:
    """Return the URL of a new PostgreSQL database with the drive's tables."""
    return async_url(server().new_database(_template()))


@cache
def server() -> PostgresServer:
    """Return the server of this process, which runs until `stop_server`."""
    return _running.enter_context(running_server())


def stop_server() -> None:
    """End the server, if there is one. The tests do so: not all of their processes call what `atexit` has."""
    _running.close()


@cache
def _template() -> str:
    url = async_url(server().new_database())
    SCHEMA.upgrade(make_url(url))
    return str(make_url(url).database)


def async_url(url: str) -> str:
    return url.replace("postgresql", "postgresql+psycopg", 1)
