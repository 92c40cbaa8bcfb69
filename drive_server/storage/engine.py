"""Engines for SQLAlchemy as the drive and the service want them: on SQLite, durable, and with one writer at a time."""

import sqlite3
import time
from typing import Any

from sqlalchemy import URL, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from drive_server.storage.trips import TripConnection

BUSY_TIMEOUT_SECONDS = 30
POOL_SIZE = 16
WAL_ATTEMPTS = 100
WAL_PAUSE_SECONDS = 0.05


def open_engine(url: URL) -> AsyncEngine:
    """Return an engine for the URL. With the execution option `writes`, transactions take SQLite's write lock first."""
    if not is_sqlite(url):
        return create_async_engine(url, hide_parameters=True)
    engine = create_async_engine(
        url,
        hide_parameters=True,
        pool_size=POOL_SIZE,
        max_overflow=0,
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "async_creator_fn": _connect},
    )
    configure_sqlite(engine.sync_engine)
    return engine


def is_sqlite(url: URL) -> bool:
    """Whether the URL leads to an embedded database."""
    return url.get_backend_name() == "sqlite"


def configure_sqlite(engine: Any) -> None:
    """Make SQLAlchemy, not the driver, begin transactions; set durability and integrity on each connection."""
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)


def _connect(database: str, **options: Any) -> TripConnection:
    return TripConnection(lambda: sqlite3.connect(database, **options))


def _on_connect(connection: Any, record: Any) -> None:
    del record
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_SECONDS * 1000}")
    _switch_to_wal(cursor)
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _switch_to_wal(cursor: Any) -> None:
    """Ask for WAL until no other process does so at the same moment: SQLite refuses that at once, whatever the timeout.

    Only the first start on a new file can meet this, in the thread that migrates; the mode stays with the file.
    """
    for attempt in range(WAL_ATTEMPTS):
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if attempt == WAL_ATTEMPTS - 1:
                raise
            time.sleep(WAL_PAUSE_SECONDS)
        else:
            return


def _on_begin(connection: Any) -> None:
    statement = "BEGIN IMMEDIATE" if connection.get_execution_options().get("writes", False) else "BEGIN"
    driver = connection.connection.driver_connection
    if isinstance(driver, TripConnection):
        driver.begin_with(statement)
    else:
        connection.exec_driver_sql(statement)
