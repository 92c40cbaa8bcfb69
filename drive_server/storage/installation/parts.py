"""The parts of an installation beside its database: each has a mark, with the installation's id and a number."""

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, Literal, Protocol
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore
from sqlalchemy import Column, Engine, Integer, MetaData, String, Table, create_engine, delete, insert, inspect, select
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from drive_server.kernel.sql.database import parsed_url
from drive_server.kernel.sql.server import is_sqlite, server_url
from drive_server.kernel.sql.sqlite_faults import require_sound
from drive_server.storage.blobs import places_of, remote_store

MARK_FILE: Final = ".installation.json"
BUSY_SECONDS: Final = 1
"""The longest wait for a program that writes: the drive's own writers wait as well."""
State = Literal["missing", "unmarked", "marked", "swapped", "unreadable"]
"""`missing`: it is not there, or has nothing; `swapped`: it is another part than its name says; `unreadable`: whoever
opens it says why."""
MARKS: Final = Table(
    "drive_agent_marks",
    MetaData(),
    Column("part", String(32), primary_key=True),
    Column("installation", String(32), nullable=False),
    Column("number", Integer, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Mark:
    """The installation's id, the number of the mark, and the newest change of the drive that the part was told of."""

    installation: str
    number: int
    change: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a part, and its mark if it is `marked`."""

    state: State
    mark: Mark | None = None


MISSING: Final = Look("missing")
UNMARKED: Final = Look("unmarked")
UNREADABLE: Final = Look("unreadable")


class Part(Protocol):
    """A part of an installation. `name` is its key in the database, `place` its path or address for people.

    A `derived` part is made anew where it does not fit. The methods block.
    """

    name: str
    place: str
    derived: bool

    def look(self) -> Look:
        """Return the state of the part; make nothing."""
        ...

    def is_writable(self) -> bool:
        """Say whether the part may be written; true of one that is not there, and of one at another machine."""
        ...

    def write(self, mark: Mark) -> None:
        """Write the mark. Raises `OSError`, `SQLAlchemyError` or `StorageFailureError` if that fails."""
        ...

    def reset(self) -> None:
        """Remove the content of a derived part. Raises `OSError`."""
        ...


class Contents(Part, Protocol):
    """The part with the contents of files."""

    def lacks(self, blob_hash: str) -> bool:
        """Say whether a content is not there. Raises `OSError` if it can't be told."""
        ...

    def note(self, mark: Mark) -> None:
        """Write the mark so that it outlives the process; a power failure may lose it. Raises `OSError`."""
        ...


class FolderPart:
    """A folder: the contents on a local disk, or the index. `pattern` finds its contents."""

    def __init__(self, name: str, folder: Path, pattern: str, *, derived: bool = False) -> None:
        self.name = name
        self.place = str(folder)
        self.derived = derived
        self._folder = folder
        self._pattern = pattern

    def look(self) -> Look:
        """Return the state of the folder."""
        try:
            if next(self._folder.glob(self._pattern), None) is None:
                return self._look_empty()
            return read_mark((self._folder / MARK_FILE).read_bytes(), self.name)
        except FileNotFoundError:
            return UNMARKED
        except OSError:
            return UNREADABLE

    def _look_empty(self) -> Look:
        """Tell a folder without anything from another part's."""
        mark = self._folder / MARK_FILE
        found = read_mark(mark.read_bytes(), self.name) if mark.exists() else MISSING
        return found if found.state == "swapped" else MISSING

    def is_writable(self) -> bool:
        """Say whether the folder and the lock beside it may be written, as far as they are there."""
        return all(may_write(path) for path in (self._folder, self._folder.with_name(f"{self._folder.name}.lock")))

    def lacks(self, blob_hash: str) -> bool:
        """Say whether a content is not there."""
        return not any((self._folder / place).exists() for place in places_of(blob_hash))

    def write(self, mark: Mark) -> None:
        """Write the mark, durable and whole."""
        self._write(mark, durable=True)

    def note(self, mark: Mark) -> None:
        """Write the mark so that it outlives the process."""
        self._write(mark, durable=False)

    def _write(self, mark: Mark, *, durable: bool) -> None:
        draft = self._folder / f"{MARK_FILE}.{token_hex(4)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(mark_json(mark, self.name))
            file.flush()
            if durable:
                os.fsync(file.fileno())
        draft.replace(self._folder / MARK_FILE)

    def reset(self) -> None:
        """Remove its content, and the mark."""
        (self._folder / MARK_FILE).unlink(missing_ok=True)
        for path in self._folder.glob(self._pattern):
            shutil.rmtree(path)


class ObjectsPart:
    """The contents in an object store."""

    derived = False

    def __init__(self, name: str, url: str, store: ObjectStore) -> None:
        self.name = name
        self.place = url
        self._store = store

    def look(self) -> Look:
        """Return the state of the store."""
        try:
            if not self._has_content():
                return MISSING
            return read_mark(bytes(obstore.get(self._store, MARK_FILE).bytes()), self.name)
        except FileNotFoundError:
            return UNMARKED
        except (BaseError, OSError):
            return UNREADABLE

    def is_writable(self) -> bool:
        """Say yes: each request tells."""
        return True

    def _has_content(self) -> bool:
        return any(meta["path"] != MARK_FILE for found in obstore.list(self._store, chunk_size=2) for meta in found)

    def lacks(self, blob_hash: str) -> bool:
        """Say whether a content is not there."""
        try:
            return not any(self._has(place) for place in places_of(blob_hash))
        except BaseError as error:
            raise OSError(str(error)) from error

    def _has(self, place: str) -> bool:
        with suppress(FileNotFoundError):
            obstore.head(self._store, place)
            return True
        return False

    def note(self, mark: Mark) -> None:
        """Do nothing: each change would be a request."""

    def write(self, mark: Mark) -> None:
        """Write the mark."""
        try:
            obstore.put(self._store, MARK_FILE, mark_json(mark, self.name))
        except BaseError as error:
            raise OSError(str(error)) from error

    def reset(self) -> None:
        """Do nothing: contents are not derived."""


class DatabasePart:
    """Another database; `own_table` is one that it has had since its first version.

    Raises `InvalidInputError` for a malformed URL.
    """

    derived = False

    def __init__(self, name: str, url: str, own_table: str) -> None:
        self._url = _synchronous(parsed_url(url))
        self.name = name
        self.place = self._url.database or "" if is_sqlite(self._url) else self._url.render_as_string()
        self._own_table = own_table

    def look(self) -> Look:
        """Return the state of the database."""
        if is_sqlite(self._url) and _is_empty(Path(self._url.database or "")):
            return MISSING
        engine = self._engine()
        try:
            with engine.connect() as connection:
                return self._look(connection)
        except (SQLAlchemyError, OSError, ImportError):
            return UNREADABLE
        finally:
            engine.dispose()

    def is_writable(self) -> bool:
        """Say whether a database in a file may be written, which takes its folder as well: its log lies there."""
        path = Path(self._url.database or "")
        return not is_sqlite(self._url) or (may_write(path) and may_write(path.parent))

    def write(self, mark: Mark) -> None:
        """Write the mark, in a table of its own. Raises `StorageFailureError` for a damaged file."""
        if is_sqlite(self._url):
            require_sound(Path(self._url.database or ""))
        engine = self._engine()
        try:
            with engine.begin() as connection:
                MARKS.create(connection, checkfirst=True)
                connection.execute(delete(MARKS).where(MARKS.c.part == self.name))
                values = {"part": self.name, "installation": mark.installation, "number": mark.number}
                connection.execute(insert(MARKS).values(values))
        finally:
            engine.dispose()

    def reset(self) -> None:
        """Do nothing: a database is not derived."""

    def _look(self, connection: Connection) -> Look:
        tables = set(inspect(connection).get_table_names())
        if self._own_table not in tables:
            return Look("swapped") if tables and is_sqlite(self._url) else MISSING
        if MARKS.name not in tables:
            return UNMARKED
        rows = {row.part: Mark(row.installation, row.number) for row in connection.execute(select(MARKS))}
        if self.name in rows:
            return Look("marked", rows[self.name])
        return Look("swapped") if rows and is_sqlite(self._url) else UNMARKED

    def _engine(self) -> Engine:
        embedded = is_sqlite(self._url)
        url = self._url if embedded else server_url(self._url, self._url.drivername)
        options: dict[str, Any] = {"timeout": BUSY_SECONDS} if embedded else {}
        return create_engine(url, poolclass=NullPool, connect_args=options, hide_parameters=True)


def contents_part(url: str) -> "FolderPart | ObjectsPart | None":
    """Return the contents at an obstore URL; None for those in memory. Raises `InvalidInputError`."""
    parts = urlsplit(url)
    if parts.scheme == "memory":
        return None
    if parts.scheme == "file":
        return FolderPart("contents", Path(unquote(parts.path)), "[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*")
    return ObjectsPart("contents", url, remote_store(url))


def index_part(url: str) -> FolderPart | None:
    """Return the index at a path; None for one at another address."""
    if "://" in url:
        return None
    return FolderPart("index", Path(url).expanduser().absolute(), "*.lance", derived=True)


def read_mark(body: bytes, name: str) -> Look:
    """Return the mark of a file; one that can't be read counts as none."""
    try:
        document: dict[str, Any] = json.loads(body)
        mark = Mark(str(document["installation"]), int(document["number"]), int(document.get("change", 0)))
        return Look("marked", mark) if document["part"] == name else Look("swapped")
    except (ValueError, KeyError, TypeError):
        return UNMARKED


def mark_json(mark: Mark, name: str) -> bytes:
    """Return the mark in the form of its file."""
    document = {"part": name, "installation": mark.installation, "number": mark.number, "change": mark.change}
    return json.dumps(document).encode()


def may_write(path: Path) -> bool:
    """Return whether the file or folder may be written, by its modes and by its mount; true if there is none there."""
    return not path.exists() or os.access(path, os.W_OK)


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True
    except OSError:  # whoever opens it says why
        return False


def _synchronous(url: URL) -> URL:
    drivers = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
    return url.set(drivername=drivers.get(url.get_backend_name(), url.drivername))
