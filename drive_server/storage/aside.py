"""Contents that the collector took from their places: they come back when something refers to them again.

`.aside/released/` has those that a file gave up, `.aside/unknown/` those that the database never knew, each under its
SHA-256. The time of a file is when it was set aside.
"""

import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TypeVar

import obstore
from obstore.store import ObjectStore

from drive_server.kernel.files.spool import sync

FOLDER: Final = ".aside"
Kind = Literal["released", "unknown"]
KINDS: Final[tuple[Kind, ...]] = ("released", "unknown")
Listed = tuple[str, int, float]
"""SHA-256, size in bytes, and when it was set aside (POSIX seconds)."""

TRIPS_AT_ONCE: Final = 16

T = TypeVar("T")


class AsideFolder:
    """The contents set aside of a store on a local disk. Its methods block."""

    def __init__(self, root: Path) -> None:
        self._root = root / FOLDER

    def take(self, path: Path, kind: Kind, before: float) -> int | None:
        """Set a content aside unless it was put since `before`; return its size, None if it stays or is gone."""
        folder = self._root / kind
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = folder / path.name
        try:
            if path.stat().st_mtime >= before:
                return None
            # Before the move: if the process is killed after it, the content still stays aside for all its days.
            os.utime(path)
            taken_at = path.stat().st_mtime_ns
            path.replace(aside)
            status = aside.stat()
        except FileNotFoundError:  # it is gone, or somebody who reads it has brought it back
            return None
        if status.st_mtime_ns == taken_at:
            return status.st_size
        aside.replace(path)
        sync(path.parent)
        return None

    def bring_back(self, path: Path) -> bool:
        """Put a content back to its place, as if it were just put; return whether it is there now."""
        for kind in KINDS:
            aside = self._root / kind / path.name
            with suppress(FileNotFoundError):
                os.utime(aside)
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                aside.replace(path)
                sync(path.parent)
                return True
        return path.exists()  # another reader was faster

    def listed(self, kind: Kind) -> list[Listed]:
        """Return the contents of a kind."""
        found: list[Listed] = []
        with suppress(FileNotFoundError):
            for entry in os.scandir(self._root / kind):
                with suppress(FileNotFoundError):
                    status = entry.stat()
                    found.append((entry.name, status.st_size, status.st_mtime))
        return found

    def remove(self, blob_hash: str, kind: Kind) -> None:
        """Remove a content for good."""
        (self._root / kind / blob_hash).unlink(missing_ok=True)


class AsideObjects:
    """The contents set aside of an object store. Its methods block."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def take(self, key: str, kind: Kind, before: float) -> int | None:
        """Do as `AsideFolder.take` does."""
        try:
            meta = obstore.head(self._store, key)
        except FileNotFoundError:
            return None
        if meta["last_modified"].timestamp() >= before:
            return None
        self._move(key, _key(key.rpartition("/")[2], kind))
        return meta["size"]

    def bring_back(self, key: str) -> bool:
        """Do as `AsideFolder.bring_back` does."""
        for kind in KINDS:
            with suppress(FileNotFoundError):
                self._move(_key(key.rpartition("/")[2], kind), key)
                return True
        with suppress(FileNotFoundError):
            obstore.head(self._store, key)
            return True  # another reader was faster
        return False

    def listed(self, kind: Kind) -> list[Listed]:
        """Return the contents of a kind."""
        return [
            (meta["path"].rpartition("/")[2], meta["size"], meta["last_modified"].timestamp())
            for found in obstore.list(self._store, f"{FOLDER}/{kind}")
            for meta in found
        ]

    def remove(self, blob_hash: str, kind: Kind) -> None:
        """Remove a content for good."""
        with suppress(FileNotFoundError):
            obstore.delete(self._store, _key(blob_hash, kind))

    def _move(self, source: str, target: str) -> None:
        # A copy has a time of its own, which a renamed object need not have.
        obstore.copy(self._store, source, target)
        obstore.delete(self._store, source)


def for_each(work: Callable[[str], T], hashes: Collection[str]) -> list[T]:
    """Return the results of `work` for each, some `TRIPS_AT_ONCE`.

    Transactions wait for it: PostgreSQL ends one that is silent while 200 contents are asked for one by one.
    """
    if len(hashes) <= 1:
        return [work(blob_hash) for blob_hash in hashes]
    with ThreadPoolExecutor(TRIPS_AT_ONCE) as threads:
        return [*threads.map(work, hashes)]


def _key(blob_hash: str, kind: Kind) -> str:
    return f"{FOLDER}/{kind}/{blob_hash}"
