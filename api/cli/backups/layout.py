"""A folder of backups: the contents of files once each, and some generations of all else.

blobs/ab/cd/abcd...          a content, by its SHA-256
generations/TIME/            databases, keys and settings as they were at that time (UTC)
generations/TIME/backup.json the hashes of these files, written last: a generation without it is none
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeGuard, cast

from api.cli.backups.databases import opened_database
from api.cli.failure import CommandError
from drive_server.kernel.files.inner_paths import OuterPathError, inner_path

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from api.cli.client import Json

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
DRIVE_DUMP: Final = "drive.dump"
THREADS_DUMP: Final = "threads.dump"
CONTENTS: Final = "contents.txt"
"""The contents that a dump refers to: SHA-256 and bytes of one in each line. A copy of SQLite's is asked itself."""
FILES: Final = frozenset({DRIVE, SERVICE, THREADS, MEMORIES, DRIVE_DUMP, THREADS_DUMP, CONTENTS, *SECRETS, *OTHERS})
"""The files that a generation may list: no other name is read or written."""
HASH: Final = re.compile("[0-9a-f]{64}")
MAX_RECORD_BYTES: Final = 1 << 20
VERSION_TABLES: Final = {DRIVE: "alembic_version", SERVICE: "api_alembic_version"}
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
        yield from used_blobs(self.path_of(CONTENTS if self.is_dump else DRIVE))

    @property
    def is_dump(self) -> bool:
        """Whether its databases are dumps of PostgreSQL's."""
        return DRIVE_DUMP in self.record.files

    def path_of(self, name: str) -> Path:
        """Return the path of one of its files. Raises `OuterPathError` for a link."""
        return inner_path(self.folder, name)


def used_blobs(database: Path) -> Iterator[tuple[str, int]]:
    """Yield the SHA-256 and the size in bytes of each content that a copy of the drive's database refers to.

    Beside a dump stands their list.
    """
    if database.name == CONTENTS:
        with database.open(encoding="ascii") as lines:
            for sha256_hex, size in map(str.split, lines):
                yield sha256_hex, int(size)
        return
    with opened_database(database, read_only=True) as connection:
        yield from connection.execute(f"{SIZES} ORDER BY blob")


def count_blobs(database: Path) -> tuple[int, int]:
    """Return the number of those contents, and their bytes."""
    if database.name == CONTENTS:
        sizes = [size for _, size in used_blobs(database)]
        return len(sizes), sum(sizes)
    with opened_database(database, read_only=True) as connection:
        return connection.execute(f"SELECT count(*), coalesce(sum(size), 0) FROM ({SIZES})").fetchone()  # noqa: S608 - ours


def blob_path(root: Path, blob: str) -> Path:
    """Return the path of a content below a folder of contents, which is that of the drive too.

    Raises `OuterPathError` unless the hash is a SHA-256 (a hostile database may have other text), and for a link.
    """
    if not HASH.fullmatch(blob):
        raise OuterPathError(blob)
    return inner_path(root, f"{blob[:2]}/{blob[2:4]}/{blob}")


def generations_in(root: Path) -> list[Generation]:
    """Return the whole generations, the oldest first."""
    found = (_read(path) for path in _folders(root))
    return [generation for generation in found if isinstance(generation, Generation)]


def malformed_in(root: Path) -> list[str]:
    """Return the names of generations whose record lists files that no backup has, and of links to folders."""
    return [path.name for path in _folders(root) if _read(path) == MALFORMED]


def _folders(root: Path) -> list[Path]:
    folder = root / GENERATIONS
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []


def write_record(folder: Path, record: Record) -> None:
    """Make a generation of a folder: with this it is whole."""
    document = {"format": FORMAT, "schema_version": SCHEMA_VERSION, **asdict(record)}
    with private_file(folder / RECORD) as file:
        file.write(json.dumps(document, indent=2).encode())


MALFORMED: Final = "malformed"


def _read(folder: Path) -> Generation | Literal["malformed"] | None:
    """Return the generation in a folder; None if there is no whole one."""
    try:
        with (folder / RECORD).open("rb") as file:
            document: Any = json.loads(file.read(MAX_RECORD_BYTES))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    known: dict[str, Any] = document
    if isinstance(version := known.get("schema_version"), int) and version > SCHEMA_VERSION:
        raise CommandError.of("backup_newer", name=folder.name)
    record = _record_of(known)
    return MALFORMED if record is None or folder.is_symlink() else Generation(folder, record)


def _record_of(document: dict[str, Any]) -> Record | None:
    """Return the record, if it lists no other files and databases than a backup has."""
    fields = ("made_at", "version", "schemas", "files", "blobs", "blob_bytes")
    schemas, files = document.get("schemas"), document.get("files")
    if not (_is_table(schemas, {DRIVE, SERVICE}) and _is_table(files, FILES)):
        return None
    is_hashed = all(HASH.fullmatch(sha256) for sha256 in files.values())
    is_numbered = all(isinstance(document.get(name), int) for name in ("blobs", "blob_bytes"))
    is_named = all(isinstance(document.get(name), str) for name in ("made_at", "version"))
    return Record(**{name: document[name] for name in fields}) if is_hashed and is_numbered and is_named else None


def _is_table(value: Any, names: AbstractSet[str]) -> TypeGuard[dict[str, str]]:
    """Say whether a value has texts, by some of these names."""
    return isinstance(value, dict) and all(
        name in names and isinstance(text, str) for name, text in cast("Json", value).items()
    )


def schemas_of(folder: Path) -> dict[str, str]:
    """Return the newest migrations of the copies of databases in a folder."""
    found: dict[str, str] = {}
    for name, table in VERSION_TABLES.items():
        if (folder / name).exists():
            with opened_database(folder / name, read_only=True) as connection:
                found[name] = str(connection.execute(f"SELECT version_num FROM {table}").fetchone()[0])  # noqa: S608 - ours
    return found


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def copy_private(source: Path, target: Path) -> str:
    """Copy a file to one that only its owner may read; return the SHA-256 of the copied bytes, in hex."""
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
    """Remove a folder with all that is in it: first the record that makes it whole."""
    (folder / RECORD).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
