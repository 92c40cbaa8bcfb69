"""An export as a folder or as a zip file: its manifest, and the bytes of its files."""

from __future__ import annotations

import hashlib
import stat
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, cast

from api.cli.exports.format.bounds import TooLongError
from api.cli.exports.format.manifest import FORMAT, MANIFEST, STATE, Header, no_export, read_entries, read_header
from api.cli.failure import CommandError
from drive_server.kernel.files.inner_paths import OuterPathError, inner_path, is_inner

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

CHUNK_BYTES: Final = 1 << 18
BEGINNING_BYTES: Final = 1 << 16
UNIX_MODE: Final = 16
"""The bits of a member's attributes above which its mode stands."""


class ExportFiles(Protocol):
    """The files of an export, by their paths in it."""

    def open(self, path: str) -> BinaryIO:
        """Open a file. Raises `OSError` if it is not there."""
        ...


class FolderFiles:
    """The files of an export that is a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def open(self, path: str) -> BinaryIO:
        """Open a file below the folder, over no link. Raises `OSError`."""
        return inner_path(self._root, path).open("rb")


class ZipFiles:
    """The files of an export that is a zip file."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, path: str) -> BinaryIO:
        """Open a file, no link. Raises `OSError`."""
        try:
            if not is_inner(path) or _is_link(self._archive.getinfo(path)):
                raise OuterPathError(path)
            return cast("BinaryIO", self._archive.open(path))
        except (KeyError, zipfile.BadZipFile, RuntimeError) as error:
            raise FileNotFoundError(path) from error


class Export:
    """A whole export. `header` is the beginning of its manifest."""

    def __init__(self, files: ExportFiles) -> None:
        self.files = files
        self.header = Header.of(_document_of(files))

    def entries(self, wanted: str) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list of the manifest."""
        with self.files.open(MANIFEST) as file:
            yield from read_entries(file, wanted)


def is_export(path: Path) -> bool:
    """Say whether a folder or a zip file is an export, of whichever version, or was to become one.

    Raises `TooLongError` for one whose manifest is not read.
    """
    try:
        with _opened_files(path) as files:
            if (path / STATE).exists():
                return True
            with files.open(MANIFEST) as file:
                # A file of that name that is none of ours may be of any size.
                if FORMAT.encode() not in file.read(BEGINNING_BYTES):
                    return False
            return _document_of(files).get("format") == FORMAT
    except TooLongError:
        raise
    except (CommandError, OSError):
        return False


def _document_of(files: ExportFiles) -> dict[str, Any]:
    try:
        with files.open(MANIFEST) as file:
            return read_header(file)
    except OSError as error:
        raise no_export() from error


def _is_link(member: zipfile.ZipInfo) -> bool:
    """Say whether a member is a symbolic link of Unix."""
    return stat.S_ISLNK(member.external_attr >> UNIX_MODE)


@contextmanager
def opened_export(path: Path) -> Generator[Export]:
    """Open an export. Raises `CommandError` if it is none, or not whole."""
    with _opened_files(path) as files:
        yield Export(files)


@contextmanager
def _opened_files(path: Path) -> Generator[ExportFiles]:
    if path.is_dir():
        yield FolderFiles(path)
        return
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise no_export() from error
    with archive:
        yield ZipFiles(archive)


def digest_of(file: BinaryIO) -> tuple[str, int]:
    """Return the SHA-256 of the rest of a file in hex, and its size in bytes."""
    digest, size = hashlib.sha256(), 0
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size
