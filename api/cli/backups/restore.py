"""`drive-agent restore`: a backup becomes the data directory of a service."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import obstore
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from api.cli.backups.contents import DamagedError, copy_content, put_content
from api.cli.backups.databases import check_database, opened_database
from api.cli.backups.layout import (
    BLOBS,
    CONTENTS,
    DRIVE,
    DRIVE_DUMP,
    MEMORIES,
    SERVICE,
    THREADS,
    THREADS_DUMP,
    Generation,
    copy_private,
    generations_in,
    malformed_in,
    remove_folder,
    sync_all,
)
from api.cli.backups.servers import Servers, check_dump, execute_all, require_empty, restore_dump
from api.cli.backups.sources import contents_at
from api.cli.configuration import settings_of
from api.cli.failure import CommandError, system_reason
from api.cli.progress import Progress
from api.cli.terminal import Terminal, format_size, visible_line
from api.cli.texts import text
from api.storage.database import SCHEMA as SERVICE_SCHEMA
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.files.spool import sync
from drive_server.kernel.settings import DriveSettings
from drive_server.kernel.sql.engine import configure_sqlite
from drive_server.storage.installation.parts import MARK_FILE
from drive_server.storage.installation.service_record import is_held, running_address
from drive_server.storage.tables.drive_schema import SCHEMA as DRIVE_SCHEMA
from graph.settings import AgentSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from obstore.store import ObjectStore

    from drive_server.kernel.sql.schema import Schema

CHECKS: Final = {".db": check_database, ".dump": check_dump}
SCHEMAS: Final[dict[str, Schema]] = {DRIVE: DRIVE_SCHEMA, SERVICE: SERVICE_SCHEMA}
DRAFT: Final = ".restoring"
READ_AGAIN: Final = """
UPDATE index_entries SET state = 'pending', reason = '', attempts = 0, content = '', index_table = '';
DELETE FROM readings;
DELETE FROM upload_parts;
DELETE FROM uploads;
DELETE FROM attempts;
DELETE FROM login_links;
DELETE FROM link_fetches;
"""
"""The index is not in a backup, nor are unfinished uploads, and nothing that holds for minutes."""
NEW_IDENTITY: Final = "DELETE FROM installation_marks; DELETE FROM installation;"
NO_MARK: Final = "DROP TABLE IF EXISTS drive_agent_marks;"
"""A restored backup is an installation of its own: its first start gives all parts a new identity."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The databases on servers to fill, and where contents go if not into the data directory."""

    servers: Servers
    blobs: Path | ObjectStore | None


def restore(arguments: Namespace) -> int:
    """Restore a generation of a backup, the newest if none is named, into an empty data directory."""
    terminal, root = Terminal(), Path(arguments.source_path)
    target = Path(arguments.into) if arguments.into else settings_of(arguments, DriveSettings).root
    generation = _chosen(root, arguments.generation)
    _require_known(generation)
    _require_free(target, force=arguments.force)
    destination = _destination(arguments, generation)
    begun = time.monotonic()
    draft = target.absolute().with_name(f"{DRAFT}-{target.absolute().name}")
    try:
        moved = _restore(generation, root, draft, target.absolute(), destination, terminal)
    except (OSError, sqlite3.Error, SQLAlchemyError, StorageFailureError) as error:
        raise CommandError.of("restore_failed", reason=system_reason(error)) from error
    except DamagedError as error:
        raise CommandError.of("restore_blob", sha256=error) from error
    size = format_size(generation.record.blob_bytes)
    facts = {"name": generation.name, "blobs": generation.record.blobs, "size": size}
    seconds = f"{time.monotonic() - begun:.1f}"
    terminal.say(text("restore_done", target=visible_line(str(target)), seconds=seconds, **facts), "bold")
    if moved:
        terminal.say(text("restore_moved", moved=visible_line(str(moved))), "yellow")
    terminal.say(text("restore_next"))
    return 0


def _chosen(root: Path, name: str | None) -> Generation:
    generations, malformed = generations_in(root), malformed_in(root)
    wanted = name or max([*malformed, *(generation.name for generation in generations)], default=None)
    if wanted is None:
        raise CommandError.of("backup_none", root=root)
    if wanted in malformed:
        raise CommandError.of("backup_malformed", name=visible_line(wanted))
    if name is None:
        return generations[-1]
    found = next((generation for generation in generations if generation.name == name), None)
    if found is None:
        raise CommandError.of("restore_which", names=", ".join(generation.name for generation in generations))
    return found


def _require_known(generation: Generation) -> None:
    """Raise `CommandError` for a backup of a newer version of the program, whose databases this one can't read."""
    for name, revision in generation.record.schemas.items():
        if not SCHEMAS[name].knows(revision):
            raise CommandError.of("restore_newer", version=generation.record.version)


def _destination(arguments: Namespace, generation: Generation) -> Destination | None:
    """Return the servers that the settings name, for a backup of such; None for one that becomes files.

    Raises `CommandError` if they name none, or if a database has tables.
    """
    if not generation.is_dump:
        return None
    drive, agent = settings_of(arguments, DriveSettings), settings_of(arguments, AgentSettings)
    if drive.is_embedded or make_url(drive.database_url).get_backend_name() != "postgresql":
        raise CommandError.of("restore_needs_server", setting="DRIVE_DATABASE_URL")
    servers = Servers.of(drive.database_url, agent.threads_url)
    has_threads = THREADS_DUMP in generation.record.files
    if has_threads and servers.threads is None:
        raise CommandError.of("restore_needs_server", setting="AGENT_THREADS_URL")
    require_empty(servers.drive)
    if has_threads and servers.threads is not None:
        require_empty(servers.threads)
    return Destination(servers, None if not drive.blob_url else contents_at(drive.blob_url))


def _require_free(target: Path, *, force: bool) -> None:
    if target.exists() and is_held(target):
        address = running_address(target)
        raise CommandError.of("restore_running_at" if address else "restore_running", target=target, url=address)
    if target.exists() and (not target.is_dir() or any(target.iterdir())) and not force:
        raise CommandError.of("restore_full", target=target)


def _restore(
    generation: Generation, root: Path, draft: Path, target: Path, destination: Destination | None, terminal: Terminal
) -> Path | None:
    """Put everything together beside the target, and then in its place; return the new place of the former content.

    Databases on servers come last before that: each is filled as a whole, or stays empty.
    """
    remove_folder(draft)
    draft.mkdir(mode=0o700, parents=True)
    _copy_files(generation, draft)
    place = (destination.blobs if destination else None) or target / BLOBS
    if isinstance(place, Path) and place.is_relative_to(target):
        place = draft / place.relative_to(target)
    copy_contents(root / BLOBS, place, [*generation.blobs()], terminal)
    migrate_files(draft, () if destination else (DRIVE,))
    if destination is not None:
        _fill(destination.servers, draft)
    sync_all()
    moved = None
    if target.exists() and any(target.iterdir()):
        moved = target.with_name(f"{target.name}.before-{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}")
        target.rename(moved)
    os.replace(draft, target)  # noqa: PTH105 - also over an empty folder
    sync(target.parent)
    return moved


def _copy_files(generation: Generation, draft: Path) -> None:
    for name, sha256 in generation.record.files.items():
        if copy_private(generation.path_of(name), draft / name) != sha256:
            raise CommandError.of("backup_file", name=f"{generation.name}/{name}")
        check = CHECKS.get(Path(name).suffix)
        if check and (found := check(draft / name)):
            raise CommandError.of("backup_database", name=f"{generation.name}/{name}", reason=found)


def copy_contents(
    source: Path, place: Path | ObjectStore, blobs: Sequence[tuple[str, int]], terminal: Terminal
) -> None:
    """Copy contents (SHA-256, bytes) to where the drive looks for them; a mark of another installation there ends."""
    if isinstance(place, Path):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_mark(place)
    with Progress(terminal, text("restoring"), len(blobs)) as progress:
        for number, (sha256, size) in enumerate(blobs, 1):
            if isinstance(place, Path):
                copy_content(source, place, sha256, size)
            else:
                put_content(source, place, sha256, size)
            progress.update(number, len(blobs))


def remove_mark(place: Path | ObjectStore) -> None:
    """Have the next service that starts on these contents take them as its own."""
    if isinstance(place, Path):
        (place / MARK_FILE).unlink(missing_ok=True)
        return
    with suppress(FileNotFoundError):
        obstore.delete(place, MARK_FILE)


def _fill(servers: Servers, draft: Path) -> None:
    """Fill the databases from their dumps, which go then; bring them to this version of the program."""
    dumps = ((DRIVE_DUMP, servers.drive), (THREADS_DUMP, servers.threads))
    for name, url in dumps:
        if url is not None and (draft / name).exists():
            restore_dump(url, draft / name)
            execute_all(url, NO_MARK)
    for schema in SCHEMAS.values():
        schema.upgrade(servers.drive.set(drivername="postgresql+psycopg"))
    execute_all(servers.drive, READ_AGAIN + NEW_IDENTITY)
    for name in (DRIVE_DUMP, THREADS_DUMP, CONTENTS):
        (draft / name).unlink(missing_ok=True)


def migrate_files(draft: Path, drives: tuple[str, ...]) -> None:
    """Bring the databases in files to this version of the program, and have all files read again for search."""
    for name, schema in SCHEMAS.items():
        if (draft / name).exists():
            schema.upgrade(make_url(f"sqlite:///{draft / name}"), configure_sqlite)
    for name in (SERVICE, THREADS, MEMORIES):
        if (draft / name).exists():
            with opened_database(draft / name) as connection:
                connection.executescript(NO_MARK)
    for name in drives:
        with opened_database(draft / name) as connection:
            connection.executescript(READ_AGAIN + NEW_IDENTITY)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
