"""A folder of backups: the contents of files once each, and some generations of all else.

blobs/ab/cd/abcd...          a content, by its SHA-256
generations/TIME/            databases, keys and settings as they were at that time (UTC)
generations/TIME/backup.json the hashes of these files, written last: a generation without it is none
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from typing import IO, TYPE_CHECKING, Any, Final

from api.cli.backups.databases import opened_database
from api.cli.failure import CommandError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

CHUNK_BYTES: Final = 1 << 20
FORMAT: Final = "drive-agent backup"
SCHEMA_VERSION: Final = 1
RECORD: Final = "backup.json"
BLOBS: Final = "blobs"
GENERATIONS: Final = "generations"
DRAFT: Final = ".unfinished"
DRIVE: Final = "drive.db"
SERVICE: Final = "api.db"
THREADS: Final = "graph.db"
MEMORIES: Final = "store.db"
SECRETS: Final = ("token", "secrets.key", "drive-agent.env")
OTHERS: Final = ("model_services.json",)
SIZES: Final = "SELECT blob, max(size) AS size FROM versions GROUP BY blob"


@dataclass(frozen=True, slots=True)
class Record:
    """A generation: its time (ISO 8601, UTC), the program's version, its files' hashes, and the contents it refers to.

    `schemas` are the newest migrations of the databases, by name.
    """

    made_at: str
    version: str
    schemas: dict[str, str]
    files: dict[str, str]
    blobs: int
    blob_bytes: int


@dataclass(frozen=True, slots=True)
class Generation:
    """A whole generation in its folder."""

    folder: Path
    record: Record

    @property
    def name(self) -> str:
        """The name of its folder, which is its time."""
        return self.folder.name

    def blobs(self) -> Iterator[tuple[str, int]]:
        """Yield the SHA-256 and the size in bytes of each content that it refers to."""
        yield from used_blobs(self.folder / DRIVE)


def used_blobs(database: Path) -> Iterator[tuple[str, int]]:
    """Yield the SHA-256 and the size in bytes of each content that a copy of the drive's database refers to."""
    with opened_database(database, read_only=True) as connection:
        yield from connection.execute(f"{SIZES} ORDER BY blob")


def count_blobs(database: Path) -> tuple[int, int]:
    """Return the number of those contents, and their bytes."""
    with opened_database(database, read_only=True) as connection:
        return connection.execute(f"SELECT count(*), coalesce(sum(size), 0) FROM ({SIZES})").fetchone()  # noqa: S608 - ours


def blob_path(root: Path, blob: str) -> Path:
    """Return the path of a content below a folder of contents, which is that of the drive too."""
    return root / blob[:2] / blob[2:4] / blob


def generations_in(root: Path) -> list[Generation]:
    """Return the whole generations, the oldest first."""
    folder = root / GENERATIONS
    if not folder.is_dir():
        return []
    found = (_read(path) for path in sorted(folder.iterdir()) if not path.name.startswith("."))
    return [generation for generation in found if generation]


def write_record(folder: Path, record: Record) -> None:
    """Make a generation of a folder: with this it is whole."""
    document = {"format": FORMAT, "schema_version": SCHEMA_VERSION, **asdict(record)}
    with private_file(folder / RECORD) as file:
        file.write(json.dumps(document, indent=2).encode())


def _read(folder: Path) -> Generation | None:
    try:
        document: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if document.get("format") != FORMAT:
        return None
    if document["schema_version"] > SCHEMA_VERSION:
        raise CommandError.of("backup_newer", name=folder.name)
    fields = ("made_at", "version", "schemas", "files", "blobs", "blob_bytes")
    return Generation(folder, Record(**{name: document[name] for name in fields}))


def schemas_of(folder: Path) -> dict[str, str]:
    """Return the newest migrations of the copies of databases in a folder."""
    tables = {DRIVE: "alembic_version", SERVICE: "api_alembic_version"}
    found: dict[str, str] = {}
    for name, table in tables.items():
        if (folder / name).exists():
            with opened_database(folder / name, read_only=True) as connection:
                found[name] = str(connection.execute(f"SELECT version_num FROM {table}").fetchone()[0])  # noqa: S608 - ours
    return found


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def copy_private(source: Path, target: Path) -> str:
    """Copy a file to one that only its owner may read; return the SHA-256 of what was copied, in hex."""
    digest = sha256()
    with source.open("rb") as file, private_file(target) as copy:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            copy.write(chunk)
    return digest.hexdigest()


@contextmanager
def private_file(path: Path) -> Generator[IO[bytes]]:
    """Open a new file that only its owner may read, and make it durable at the end."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def sync_all() -> None:
    """Have all that was written survive a power failure, where the system can be asked for it."""
    if hasattr(os, "sync"):
        os.sync()


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it: first what makes it whole."""
    (folder / RECORD).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
