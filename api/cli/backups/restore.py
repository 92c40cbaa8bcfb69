"""`drive-agent restore`: a backup becomes the data directory of a service."""

from __future__ import annotations

import os
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import make_url

from api.cli.backups.contents import DamagedError, copy_content
from api.cli.backups.databases import check_database, opened_database
from api.cli.backups.layout import (
    BLOBS,
    DRIVE,
    MEMORIES,
    SERVICE,
    THREADS,
    Generation,
    copy_private,
    generations_in,
    malformed_in,
    remove_folder,
    sync_all,
)
from api.cli.configuration import settings_of
from api.cli.failure import CommandError, system_reason
from api.cli.progress import Progress
from api.cli.service.data_dir import is_held
from api.cli.terminal import Terminal, format_size, visible_line
from api.cli.texts import text
from api.storage.database import SCHEMA as SERVICE_SCHEMA
from drive_server.errors import StorageFailureError
from drive_server.settings import DriveSettings
from drive_server.storage.engine import configure_sqlite
from drive_server.storage.spool import sync
from drive_server.storage.tables.drive_schema import SCHEMA as DRIVE_SCHEMA

if TYPE_CHECKING:
    from argparse import Namespace

    from drive_server.storage.schema import Schema

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


def restore(arguments: Namespace) -> int:
    """Restore a generation of a backup, the newest if none is named, into an empty data directory."""
    terminal, root = Terminal(), Path(arguments.source_path)
    target = Path(arguments.into) if arguments.into else settings_of(arguments, DriveSettings).root
    generation = _chosen(root, arguments.generation)
    _require_known(generation)
    _require_free(target, force=arguments.force)
    begun = time.monotonic()
    draft = target.absolute().with_name(f"{DRAFT}-{target.absolute().name}")
    try:
        moved = _restore(generation, root, draft, target.absolute(), terminal)
    except (OSError, sqlite3.Error, StorageFailureError) as error:
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


def _require_free(target: Path, *, force: bool) -> None:
    if target.exists() and is_held(target):
        raise CommandError.of("restore_running", target=target)
    if target.exists() and (not target.is_dir() or any(target.iterdir())) and not force:
        raise CommandError.of("restore_full", target=target)


def _restore(generation: Generation, root: Path, draft: Path, target: Path, terminal: Terminal) -> Path | None:
    """Put everything together beside the target, and then in its place; return where what was there went."""
    remove_folder(draft)
    draft.mkdir(mode=0o700, parents=True)
    _copy_files(generation, draft)
    (draft / BLOBS).mkdir(mode=0o700)
    with Progress(terminal, text("restoring"), generation.record.blobs) as progress:
        for number, (sha256, size) in enumerate(generation.blobs(), 1):
            copy_content(root / BLOBS, draft / BLOBS, sha256, size)
            progress.update(number, generation.record.blobs)
    _migrate(draft)
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
        if name.endswith(".db") and (found := check_database(draft / name)):
            raise CommandError.of("backup_database", name=f"{generation.name}/{name}", reason=found)


def _migrate(draft: Path) -> None:
    """Bring the databases to this version of the program, and have all files read again for search."""
    for name, schema in SCHEMAS.items():
        if (draft / name).exists():
            schema.upgrade(make_url(f"sqlite:///{draft / name}"), configure_sqlite)
    for name in (SERVICE, THREADS, MEMORIES):
        if (draft / name).exists():
            with opened_database(draft / name) as connection:
                connection.executescript(NO_MARK)
    with opened_database(draft / DRIVE) as connection:
        connection.executescript(READ_AGAIN + NEW_IDENTITY)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
