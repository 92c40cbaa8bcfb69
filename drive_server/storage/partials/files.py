"""Files of unfinished uploads: private, append-only, with one writer at a time."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from drive_server.kernel.errors import LockedError
from drive_server.kernel.files.file_locks import try_lock
from drive_server.kernel.files.spool import sync

BINARY: Final = getattr(os, "O_BINARY", 0)
"""Windows would change line ends without it."""
UNVERIFIED: Final = ".unverified"


class PartialFile:
    """An upload's file, locked for one writer also against other processes. Its methods block.

    Bytes that are appended between `distrust` and `trust` do not count: `discard_untrusted`, or opening the file after
    its writer was killed, cuts them off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._marker = path.with_name(path.name + UNVERIFIED)
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | BINARY)
        try:
            self._lock()
            self.discard_untrusted()
        except BaseException:
            os.close(self._descriptor)
            raise

    def _lock(self) -> None:
        if not try_lock(self._descriptor):
            raise LockedError("Another request is sending to this upload.", hint="Try again when it has ended.")

    def size(self) -> int:
        """Return the size in bytes."""
        return os.fstat(self._descriptor).st_size

    def append(self, data: bytes | bytearray) -> None:
        """Write the bytes at the end. On an error none of them, or the first ones, are there."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def sync(self) -> None:
        """Make the appended bytes survive a power failure."""
        os.fsync(self._descriptor)

    def distrust(self) -> None:
        """Mark the bytes that are appended from now on as unverified."""
        self._marker.write_text(str(self.size()))
        sync(self._marker)
        sync(self._marker.parent)

    def trust(self) -> None:
        """Mark the appended bytes as verified, durably."""
        self.sync()
        self._marker.unlink()
        sync(self._marker.parent)

    def discard_untrusted(self) -> None:
        """Cut off unverified bytes, if there are any."""
        trusted = _trusted_size(self._marker)
        if trusted is not None:
            os.ftruncate(self._descriptor, trusted)
            os.fsync(self._descriptor)
            self._marker.unlink()

    def remove(self) -> None:
        """Remove the file; it stays locked until it is closed."""
        self._marker.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file, and with it release the lock."""
        os.close(self._descriptor)


class PartialFiles:
    """The files of all uploads, by the uploads' ids. Its methods block, and raise `OSError`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, upload_id: str) -> None:
        """Make an empty file that survives a power failure."""
        if not self._folder.is_dir():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync(self._folder.parent)
        os.close(os.open(self._path(upload_id), os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o600))
        sync(self._folder)

    def open(self, upload_id: str) -> PartialFile | None:
        """Open the file, if there is one, for its one writer. Raises `LockedError` if it has a writer."""
        try:
            return PartialFile(self._path(upload_id))
        except FileNotFoundError:
            return None

    def size(self, upload_id: str) -> int | None:
        """Return the number of verified bytes, None if there is no file."""
        path = self._path(upload_id)
        trusted = _trusted_size(path.with_name(path.name + UNVERIFIED))
        if trusted is not None:
            return trusted
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return None

    def untouched_since(self, before: float) -> list[str]:
        """Return the ids of files without a write since that time (POSIX seconds)."""
        if not self._folder.is_dir():
            return []
        old: list[str] = []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if path.suffix != UNVERIFIED and path.stat().st_mtime < before:
                    old.append(path.name)
        return old

    def _path(self, upload_id: str) -> Path:
        return self._folder / upload_id


def _trusted_size(marker: Path) -> int | None:
    """Return the verified size in a marker; one without a number was half written, before anything was appended."""
    try:
        written = marker.read_text()
    except FileNotFoundError:
        return None
    return int(written) if written.isdecimal() else None
