"""Databases on a PostgreSQL server: dumped as they are at one moment, and put back, by PostgreSQL's own programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, Connection, create_engine, inspect, text
from sqlalchemy.pool import NullPool

from api.cli.backups.layout import (
    CONTENTS,
    DRIVE,
    DRIVE_DUMP,
    SERVICE,
    SIZES,
    THREADS_DUMP,
    VERSION_TABLES,
    private_file,
)
from api.cli.failure import CommandError
from drive_server.kernel.sql.server import server_url
from drive_server.storage.collector import COLLECTING

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

BATCH: Final = 1000
DEFAULT_PORT: Final = 5432


@dataclass(frozen=True, slots=True)
class Servers:
    """The URLs of the drive's database, and of another one with the threads if there is one."""

    drive: URL
    threads: URL | None = None

    @classmethod
    def of(cls, drive: str, threads: str) -> Servers:
        """Return those that the settings name."""
        first = _plain(drive)
        second = _plain(threads) if threads.startswith("postgres") else None
        return cls(first, None if second is None or _place(second) == _place(first) else second)


@contextmanager
def held_collector(url: URL) -> Generator[None]:
    """Keep all processes from removing contents, once a round of theirs has ended."""
    with _connected(url) as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:turn, 0))"), {"turn": COLLECTING})
        yield


def dump_databases(servers: Servers, folder: Path) -> dict[str, str]:
    """Dump the databases into a folder, and list the contents that the drive's refers to at that moment.

    Return the newest migrations. Another database of threads is dumped after it, as no snapshot covers two.
    Raises `CommandError`, `OSError` and `SQLAlchemyError`.
    """
    with _connected(servers.drive, isolation_level="SERIALIZABLE") as connection:
        snapshot = str(connection.execute(text("SELECT pg_export_snapshot()")).scalar_one())
        schemas = _schemas(connection)
        _list_contents(connection, folder / CONTENTS)
        _run("pg_dump", servers.drive, f"--snapshot={snapshot}", "--format=custom", f"--file={folder / DRIVE_DUMP}")
    if servers.threads is not None:
        _run("pg_dump", servers.threads, "--format=custom", f"--file={folder / THREADS_DUMP}")
    for name in (DRIVE_DUMP, THREADS_DUMP):
        if (folder / name).exists():
            (folder / name).chmod(0o600)
    return schemas


def check_dump(path: Path) -> str:
    """Return why a dump can't be read; empty if it can."""
    try:
        _run("pg_restore", None, "--list", str(path))
    except CommandError as error:
        return error.message
    return ""


def require_empty(url: URL) -> None:
    """Raise `CommandError` for a database that has tables: a restore would mix two drives."""
    with _connected(url) as connection:
        if inspect(connection).get_table_names():
            raise CommandError.of("restore_database_full", database=url.render_as_string())


def restore_dump(url: URL, path: Path) -> None:
    """Put a dump into an empty database: all of it, or nothing."""
    _run("pg_restore", url, "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", str(path))


def execute_all(url: URL, script: str) -> None:
    """Execute statements, separated by semicolons, in one transaction."""
    with _connected(url) as connection:
        for statement in filter(None, map(str.strip, script.split(";"))):
            connection.execute(text(statement))


@contextmanager
def _connected(url: URL, **options: Any) -> Generator[Connection]:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"), poolclass=NullPool, hide_parameters=True, **options
    )
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def _schemas(connection: Connection) -> dict[str, str]:
    tables = inspect(connection).get_table_names()
    return {
        name: str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLES[name]}")).scalar_one())  # noqa: S608 - ours
        for name in (DRIVE, SERVICE)
        if VERSION_TABLES[name] in tables
    }


def _list_contents(connection: Connection, path: Path) -> None:
    with private_file(path) as file:
        rows = connection.execution_options(yield_per=BATCH).execute(text(f"{SIZES} ORDER BY blob"))
        for row in rows:
            file.write(f"{row.blob} {row.size}\n".encode())


def _run(program: str, url: URL | None, *arguments: str) -> None:
    """Run one of PostgreSQL's programs; a password goes by its environment, where no list of processes shows it."""
    found = shutil.which(program)
    if found is None:
        raise CommandError.of("backup_no_program", program=program)
    secret = {"PGPASSWORD": str(url.password)} if url is not None and url.password else {}
    database = [f"--dbname={_without_password(url)}"] if url is not None else []
    done = subprocess.run(  # noqa: S603 - PostgreSQL's own program, with arguments of ours
        [found, *database, *arguments], env={**os.environ, **secret}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"{program}: {done.returncode}"])[0]
        raise CommandError.of("backup_program_failed", program=program, reason=reason)


def _plain(url: str) -> URL:
    return server_url(url)


def _without_password(url: URL) -> str:
    return url.set(password=None).render_as_string()


def _place(url: URL) -> tuple[object, ...]:
    """Return where a database is, however its user is named."""
    return url.host or url.query.get("host"), url.port or url.query.get("port", DEFAULT_PORT), url.database
