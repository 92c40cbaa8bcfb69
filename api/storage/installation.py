"""The service's own parts of an installation: its database, and those of threads and memories."""

from pathlib import Path
from typing import Final

from api.storage.database import SCHEMA
from api.storage.threads import threads_at
from drive_server.storage.installation.parts import DatabasePart, Part

SERVICE_NAME: Final = "api.db"
THREADS_NAME: Final = "graph.db"


def service_url(root: Path, drive_url: str) -> str:
    """Return the service's database: on SQLite a file of its own, as a file has one writer; else the drive's."""
    return f"sqlite+aiosqlite:///{root / SERVICE_NAME}" if drive_url.startswith("sqlite") else drive_url


def threads_url(root: Path, setting: str) -> str:
    """Return where threads are: as the setting says, or in the data directory."""
    return setting or f"sqlite:///{root / THREADS_NAME}"


def service_parts(root: Path, drive_url: str, threads_setting: str) -> list[Part]:
    """Return the parts beside the drive's, in the order in which backups lock them."""
    threads, memories = threads_at(threads_url(root, threads_setting))
    return [
        DatabasePart("service", service_url(root, drive_url), SCHEMA.version_table),
        DatabasePart("threads", threads, "checkpoints"),
        DatabasePart("memories", memories, "store"),
    ]
