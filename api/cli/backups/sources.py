"""The parts of an installation on this machine: databases, contents, keys; and what to do if a part is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sqlalchemy import make_url

from api.cli.backups.layout import DRIVE, MEMORIES, SERVICE, THREADS
from api.cli.configuration import settings_of
from api.cli.failure import CommandError
from drive_server.settings import DriveSettings
from graph.settings import AgentSettings

if TYPE_CHECKING:
    from argparse import Namespace


@dataclass(frozen=True, slots=True)
class Sources:
    """The data directory, its databases by their names in a backup, and the folder of contents."""

    root: Path
    databases: dict[str, Path]
    blobs: Path


def local_sources(arguments: Namespace) -> Sources:
    """Return what the settings name. Raises `CommandError` for what is not on this machine's disk."""
    drive, agent = settings_of(arguments, DriveSettings), settings_of(arguments, AgentSettings)
    url = make_url(drive.resolved_database_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise CommandError.of("backup_postgres", setting="DRIVE_DATABASE_URL")
    if agent.threads_url and not agent.threads_url.startswith("sqlite"):
        raise CommandError.of("backup_postgres", setting="AGENT_THREADS_URL")
    parts = urlsplit(drive.resolved_blob_url)
    if parts.scheme != "file":
        raise CommandError.of("backup_objects")
    threads = Path(agent.threads_url.partition("///")[2]) if agent.threads_url else drive.root / THREADS
    databases = {
        DRIVE: Path(url.database),
        SERVICE: drive.root / SERVICE,
        THREADS: threads,
        MEMORIES: threads.with_name(MEMORIES),
    }
    return Sources(drive.root, databases, Path(unquote(parts.path)))
