"""An export as a folder or as a zip file: its manifest, and the bytes of its files."""

from __future__ import annotations

import hashlib
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, cast

from api.cli.exports.format.manifest import FORMAT, MANIFEST, STATE, Header, no_export, read_entries, read_header
from api.cli.failure import CommandError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

CHUNK_BYTES: Final = 1 << 18


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
        """Open a file below the folder, and no link. Raises `OSError`."""
        target = self._root / path
        if not is_inside(path) or target.is_symlink():
            raise FileNotFoundError(path)
        return target.open("rb")


class ZipFiles:
    """The files of an export that is a zip file."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, path: str) -> BinaryIO:
        """Open a file. Raises `OSError`."""
        try:
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


def is_inside(path: str) -> bool:
    """Say whether a path leads to something below the export."""
    return bool(path) and ".." not in path.split("/") and not path.startswith("/") and not set(path) & set("\\:\0")


def is_export(path: Path) -> bool:
    """Say whether a folder or a zip file is an export, of whichever version, or was to become one."""
    try:
        with _opened_files(path) as files:
            return (path / STATE).exists() or _document_of(files).get("format") == FORMAT
    except CommandError:
        return False


def _document_of(files: ExportFiles) -> dict[str, Any]:
    try:
        with files.open(MANIFEST) as file:
            return read_header(file)
    except OSError as error:
        raise no_export() from error


@contextmanager
def opened_export(path: Path) -> Generator[Export]:
    """Open an export. Raises `CommandError` for what is none, or not whole."""
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
