"""`drive-agent migrate`: an embedded installation moves to the servers that the settings name."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from sqlalchemy import URL, Connection, Engine, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from api.cli.backups.contents import DamagedError
from api.cli.backups.databases import copy_databases
from api.cli.backups.layout import BLOBS, DRIVE, MEMORIES, SERVICE, THREADS, remove_folder, used_blobs
from api.cli.backups.restore import SCHEMAS, copy_contents, migrate_files, remove_mark
from api.cli.backups.rows import continue_numbers, copied_tables, copy_rows, digest_of_rows, filled_table
from api.cli.backups.sources import contents_at
from api.cli.backups.thread_copies import copy_threads
from api.cli.configuration import settings_of
from api.cli.failure import CommandError, system_reason
from api.cli.service.data_dir import hold
from api.cli.terminal import Terminal, format_size, visible_line
from api.cli.texts import text
from api.servers.secrets import KEY_FILE
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.settings import DriveSettings
from drive_server.storage.installation.parts import index_part
from graph.settings import AgentSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator

FILES: Final = (DRIVE, SERVICE, THREADS, MEMORIES)
DRAFT: Final = ".migrating-"


def migrate(arguments: Namespace) -> int:
    """Copy a data directory's databases and contents to the servers that the settings name; change nothing in it.

    Every table and every thread is read back and compared; the drive's rows are committed last, all or none. Raises
    `CommandError`.
    """
    drive, agent = settings_of(arguments, DriveSettings), settings_of(arguments, AgentSettings)
    source = Path(arguments.source_path) if arguments.source_path else drive.root
    _require_servers(drive, agent)
    _require_source(source, agent)
    begun, terminal = time.monotonic(), Terminal()
    try:
        with hold(source), _draft(source) as folder:
            told = _move(source, folder, drive, agent.threads_url, terminal)
    except (OSError, sqlite3.Error, SQLAlchemyError, StorageFailureError) as error:
        raise CommandError.of("migrate_failed", reason=system_reason(error)) from error
    except DamagedError as error:
        raise CommandError.of("backup_blob", sha256=error) from error
    terminal.say(text("migrate_done", seconds=f"{time.monotonic() - begun:.1f}", **told), "bold")
    terminal.say(text("migrate_next", source=visible_line(str(source))))
    return 0


@contextmanager
def _draft(source: Path) -> Generator[Path]:
    """Yield a folder for copies. Remove those of a command that was killed."""
    for left in source.glob(f"{DRAFT}*"):
        remove_folder(left)
    with TemporaryDirectory(prefix=DRAFT, dir=source) as folder:
        yield Path(folder)


def _require_servers(drive: DriveSettings, agent: AgentSettings) -> None:
    for setting, url in (("DRIVE_DATABASE_URL", drive.database_url), ("AGENT_THREADS_URL", agent.threads_url)):
        if not url.startswith("postgres"):
            raise CommandError.of("migrate_needs_server", setting=setting)


def _require_source(source: Path, agent: AgentSettings) -> None:
    if not (source / DRIVE).exists():
        raise CommandError.of("backup_nothing", root=source)
    key = source / KEY_FILE
    keys = [known.strip() for known in agent.secrets_key.get_secret_value().split(",")]
    if key.exists() and key.read_text(encoding="ascii").strip() not in keys:
        raise CommandError.of("migrate_key", file=visible_line(str(key)))


def _move(source: Path, draft: Path, drive: DriveSettings, threads: str, terminal: Terminal) -> dict[str, object]:
    """Copy all of it; return the numbers to tell."""
    copy_databases({name: source / name for name in FILES if (source / name).exists()}, draft)
    migrate_files(draft, (DRIVE,))
    url = make_url(drive.database_url).set(drivername="postgresql+psycopg")
    for schema in SCHEMAS.values():
        schema.upgrade(url)
    blobs = [*used_blobs(draft / DRIVE)]
    engine = _opened(url)
    with engine.connect() as target:
        _require_empty(target)
    place = contents_at(drive.resolved_blob_url)
    if place != source / BLOBS:
        copy_contents(source / BLOBS, place, blobs, terminal)
    # Before the transaction of the rows: LangGraph makes its indexes concurrently, and would wait for its end.
    names, memories = asyncio.run(copy_threads((draft / THREADS, draft / MEMORIES), threads))
    with engine.begin() as target:
        rows = sum(_copy_schema(draft / name, target, name) for name in SCHEMAS if (draft / name).exists())
    remove_mark(place)
    _empty_index(drive.resolved_index_url)
    size = format_size(sum(size for _, size in blobs))
    return {"rows": rows, "threads": names, "memories": memories, "blobs": len(blobs), "size": size}


def _empty_index(url: str) -> None:
    """Empty an index of files that was another database's: the first start would take it for an older copy."""
    index = index_part(url)
    if index is not None and index.look().state != "missing":
        index.reset()


def _require_empty(target: Connection) -> None:
    tables = [table for schema in SCHEMAS.values() for table in copied_tables(schema)]
    if filled := filled_table(target, tables):
        raise CommandError.of("restore_database_full", database=f"{target.engine.url.database} ({filled})")


def _copy_schema(file: Path, target: Connection, name: str) -> int:
    """Copy the rows of a database; return their number. Raises `CommandError` for tables that differ afterwards."""
    total = 0
    with _opened(make_url(f"sqlite:///{file}")).connect() as source:
        for table in copied_tables(SCHEMAS[name]):
            sent = copy_rows(source, target, table)
            if sent != digest_of_rows(target, table):
                raise CommandError.of("migrate_differs", what=table.name)
            continue_numbers(source, target, table)
            total += sent.rows
    return total


def _opened(url: URL) -> Engine:
    return create_engine(url, poolclass=NullPool, hide_parameters=True)
