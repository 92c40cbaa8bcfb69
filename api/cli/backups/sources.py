"""The parts of an installation: databases and contents, on this machine or on servers, and files of keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sqlalchemy import make_url

from api.cli.backups.layout import DRIVE, MEMORIES, SERVICE, THREADS
from api.cli.backups.servers import Servers
from api.cli.configuration import settings_of
from api.cli.failure import CommandError
from drive_server.kernel.settings import DriveSettings
from drive_server.storage.blobs import remote_store
from graph.settings import AgentSettings

if TYPE_CHECKING:
    from argparse import Namespace

    from obstore.store import ObjectStore


@dataclass(frozen=True, slots=True)
class Sources:
    """The data directory, databases in files by their names in a backup, those on servers, and the contents."""

    root: Path
    databases: dict[str, Path]
    servers: Servers | None
    blobs: Path | ObjectStore


def sources_of(arguments: Namespace) -> Sources:
    """Return the parts that the settings name.

    Raises `CommandError` for a drive in files whose threads are on a server, or whose contents are objects.
    """
    drive, agent = settings_of(arguments, DriveSettings), settings_of(arguments, AgentSettings)
    url = make_url(drive.resolved_database_url)
    threads_on_server = bool(agent.threads_url) and not agent.threads_url.startswith("sqlite")
    blobs = contents_at(drive.resolved_blob_url)
    if url.get_backend_name() == "postgresql":
        servers = Servers.of(drive.resolved_database_url, agent.threads_url)
        files = {} if threads_on_server else _thread_files(drive.root, agent)
        return Sources(drive.root, files, servers, blobs)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise CommandError.of("backup_server", setting="DRIVE_DATABASE_URL")
    if threads_on_server:
        raise CommandError.of("backup_server", setting="AGENT_THREADS_URL")
    if not isinstance(blobs, Path):
        raise CommandError.of("backup_objects")
    databases = {DRIVE: Path(url.database), SERVICE: drive.root / SERVICE, **_thread_files(drive.root, agent)}
    return Sources(drive.root, databases, None, blobs)


def contents_at(url: str) -> Path | ObjectStore:
    """Return the folder or the store of objects at the URL of contents."""
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else remote_store(url)


def _thread_files(root: Path, agent: AgentSettings) -> dict[str, Path]:
    threads = Path(agent.threads_url.partition("///")[2]) if agent.threads_url else root / THREADS
    return {THREADS: threads, MEMORIES: threads.with_name(MEMORIES)}
