"""The items of a drive while it is exported or imported: a temporary database on disk, so that memory stays small."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

TABLES: Final = """
CREATE TABLE items (
    id TEXT PRIMARY KEY, parent_id TEXT, name TEXT, kind TEXT, trash_id TEXT, body TEXT,
    path TEXT, depth INTEGER, here TEXT, here_name TEXT, is_new INTEGER
);
CREATE INDEX items_parent ON items (parent_id, name, id);
CREATE TABLE files (path TEXT PRIMARY KEY, sha256 TEXT, size INTEGER, moment TEXT);
CREATE INDEX files_sha256 ON files (sha256);
CREATE TABLE earlier (path TEXT PRIMARY KEY, sha256 TEXT);
CREATE INDEX earlier_sha256 ON earlier (sha256);
"""
CACHE_KIB: Final = 8192


class ItemTable:
    """Items by their ids in the export, with their whole JSON, and the files that an export consists of."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def put(self, item: Mapping[str, Any]) -> None:
        """Add an item, or its newer state."""
        values = (item["id"], item["parent_id"], item["name"], item["kind"], item["trash_id"], json.dumps(item))
        self.connection.execute(
            "INSERT INTO items (id, parent_id, name, kind, trash_id, body) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET parent_id = excluded.parent_id, name = excluded.name,"
            " kind = excluded.kind, trash_id = excluded.trash_id, body = excluded.body",
            values,
        )

    def orphans(self) -> list[str]:
        """Return the ids of items whose folder is not there."""
        query = "SELECT id FROM items WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT id FROM items)"
        return [row[0] for row in self.connection.execute(query)]

    def set_parent(self, item_id: str, parent_id: str | None) -> None:
        """Put an item into another folder."""
        self.connection.execute("UPDATE items SET parent_id = ? WHERE id = ?", (parent_id, item_id))

    def children(self, parent_id: str | None, trash_id: str | None) -> list[tuple[str, str, str]]:
        """Return id, name and kind of the items in a folder, in one state, in the order of names."""
        query = "SELECT id, name, kind FROM items WHERE parent_id IS ? AND trash_id IS ? ORDER BY name, id"
        return self.connection.execute(query, (parent_id, trash_id)).fetchall()

    def trashed(self) -> list[tuple[str, str, str]]:
        """Return id, name and kind of the items that went to the trash by themselves."""
        return self.connection.execute(
            "SELECT id, name, kind FROM items WHERE trash_id = id ORDER BY name, id"
        ).fetchall()

    def place(self, item_id: str, path: str, depth: int) -> None:
        """Give an item its path in the export, and say how deep it is."""
        self.connection.execute("UPDATE items SET path = ?, depth = ? WHERE id = ?", (path, depth, item_id))

    def by_depth(self) -> Iterator[dict[str, Any]]:
        """Yield the items that have a place, folders before their items; `path` is among their JSON."""
        query = "SELECT body, path, parent_id FROM items WHERE depth IS NOT NULL ORDER BY depth, path, id"
        for body, path, parent_id in self.connection.execute(query):
            yield {**json.loads(body), "parent_id": parent_id, "path": path}

    def here(self, item_id: str | None) -> str | None:
        """Return the id that an item of the export has in the drive; None if it was not restored."""
        row = self.connection.execute("SELECT here FROM items WHERE id = ?", (item_id,)).fetchone()
        return row[0] if row else None

    def count(self, condition: str = "1") -> int:
        """Return the number of items."""
        return self.connection.execute(f"SELECT count(*) FROM items WHERE {condition}").fetchone()[0]  # noqa: S608 - ours

    def add_file(self, path: str, sha256: str, size: int, moment: str) -> None:
        """Add a file of the export, and when its content was made."""
        self.connection.execute("INSERT INTO files VALUES (?, ?, ?, ?)", (path, sha256, size, moment))

    def has_file(self, path: str) -> bool:
        """Say whether the export has a file at the path."""
        return self.connection.execute("SELECT 1 FROM files WHERE path = ?", (path,)).fetchone() is not None

    def path_of(self, sha256: str) -> str | None:
        """Return the path of some file with that content."""
        found = self.connection.execute("SELECT path FROM files WHERE sha256 = ? LIMIT 1", (sha256,)).fetchone()
        return found[0] if found else None

    def files(self) -> Iterator[tuple[str, str, int, str]]:
        """Yield path, SHA-256, size and time of the files."""
        yield from self.connection.execute("SELECT path, sha256, size, moment FROM files ORDER BY path")


@contextmanager
def item_table() -> Generator[ItemTable]:
    """Make a table that is gone at the end."""
    with closing(sqlite3.connect("", isolation_level=None, check_same_thread=False)) as connection:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA temp_store = FILE")
        connection.executescript(TABLES)
        yield ItemTable(connection)
