"""Temporary files of contents that are being stored, hashed while they grow."""

import os
import shutil
import tempfile
from contextlib import suppress
from hashlib import md5, sha1, sha256
from pathlib import Path

COPIED_BYTES = 1 << 20
CHECKED_BYTES = 1 << 20
"""Contents up to here have their checksums worked out at once. For larger ones, which few ask for, that would more than
double the processor time of storing them (1.4 to 3.1 ms a MiB): they are read when somebody does."""


class Checksums:
    """Checksums by which clients of WebDAV find bytes broken on the way; nothing is named or trusted by them.

    As a text they are as ownCloud writes them: kinds with hex digits, SHA1 first, then the one that rclone prefers.
    """

    def __init__(self) -> None:
        self._digests = {"SHA1": sha1(usedforsecurity=False), "MD5": md5(usedforsecurity=False)}

    def update(self, data: bytes | bytearray) -> None:
        """Take the next bytes."""
        for digest in self._digests.values():
            digest.update(data)

    def __str__(self) -> str:
        """Return those of the bytes until now."""
        return " ".join(f"{kind}:{digest.hexdigest()}" for kind, digest in self._digests.items())

    @classmethod
    def of_file(cls, path: Path) -> str:
        """Return those of a whole file."""
        found = cls()
        with path.open("rb") as file:
            while chunk := file.read(COPIED_BYTES):
                found.update(chunk)
        return str(found)


class SpooledFile:
    """A temporary file that becomes a content, or is thrown away. Its methods block."""

    def __init__(self, folder: Path) -> None:
        descriptor, name = tempfile.mkstemp(dir=folder)
        self.path = Path(name)
        self.size = 0
        self._file = os.fdopen(descriptor, "wb")
        self._digest = sha256()
        self._checksums = Checksums()

    @property
    def checksums(self) -> str | None:
        """The checksums of the bytes written until now; None if it is large."""
        return str(self._checksums) if self.size <= CHECKED_BYTES else None

    def write(self, chunk: bytes | bytearray) -> None:
        """Append the bytes."""
        self._file.write(chunk)
        self._hash(chunk)

    def finish(self) -> str:
        """Make the file durable, close it, and return its SHA-256 in hex."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._digest.hexdigest()

    def adopt(self, source: Path) -> str:
        """Take the content of another file, which stays, by a hard link where possible; return its SHA-256 in hex."""
        self._file.close()
        with source.open("rb") as file:
            while chunk := file.read(COPIED_BYTES):
                self._hash(chunk)
        self.path.unlink()
        try:
            self.path.hardlink_to(source)
        except OSError:  # another file system, or one without links
            shutil.copyfile(source, self.path)
            self.path.chmod(0o600)
        sync(self.path)
        return self._digest.hexdigest()

    def _hash(self, chunk: bytes | bytearray) -> None:
        self._digest.update(chunk)
        self.size += len(chunk)
        if self.size <= CHECKED_BYTES:
            self._checksums.update(chunk)

    def discard(self) -> None:
        """Remove the file, unless it was moved into place."""
        self.path.unlink(missing_ok=True)
        with suppress(OSError):  # on a full disk the buffered rest can't be written; it is being thrown away
            self._file.close()


def remove_unfinished(folder: Path, before: float) -> int:
    """Remove the files last written before that time (POSIX seconds), left by killed processes; return how many."""
    removed = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # the other process may be cleaning up, too
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed


def sync(path: Path) -> None:
    """Make a file's bytes, or a folder's names, survive a power failure."""
    if os.name == "nt" and path.is_dir():  # Windows writes names by itself, and opens no folder
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
