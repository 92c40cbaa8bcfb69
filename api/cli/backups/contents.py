"""Contents of files in a folder of backups: copied once each, checked by hash, removed when nothing needs them."""

from __future__ import annotations

import hashlib
import os
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import obstore
from obstore.exceptions import BaseError

from api.cli.backups.layout import blob_path
from drive_server.kernel.files.inner_paths import OuterPathError, inner_path
from drive_server.storage.aside import FOLDER, KINDS
from drive_server.storage.blobs import places_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from obstore.store import ObjectStore

CHUNK_BYTES: Final = 1 << 20
PART: Final = ".part"


class DamagedError(Exception):
    """A content is not there, or is another one than its name says; the argument is its SHA-256."""


def copy_content(source: Path | ObjectStore, target: Path, sha256: str, size: int) -> bool:
    """Copy a content, also one that is set aside, to a folder of contents; return False if that has it.

    Raises `DamagedError` and `OSError`.
    """
    try:
        path = blob_path(target, sha256)
        chunks = _chunks_in_folder(source, sha256) if isinstance(source, Path) else _chunks_of_object(source, sha256)
    except OuterPathError as error:
        raise DamagedError(sha256) from error
    with suppress(FileNotFoundError):
        if path.stat().st_size == size:
            return False
    for folder in (path.parent.parent, path.parent):
        folder.mkdir(mode=0o700, exist_ok=True)
    draft = path.with_name(path.name + PART)
    digest = hashlib.sha256()
    try:
        with closing(chunks), _created(draft) as copy:
            for chunk in chunks:
                digest.update(chunk)
                copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
    except FileNotFoundError as error:
        raise DamagedError(sha256) from error
    if digest.hexdigest() != sha256:
        draft.unlink()
        raise DamagedError(sha256)
    draft.replace(path)
    return True


def put_content(source: Path, target: ObjectStore, sha256: str, size: int) -> bool:
    """Store a content of a folder as an object; return False if it is there. Raises as `copy_content` does."""
    place = places_of(sha256)[0]
    with suppress(FileNotFoundError):
        if obstore.head(target, place)["size"] == size:
            return False
    try:
        path = _place_of(source, sha256)
    except OuterPathError as error:
        raise DamagedError(sha256) from error
    if not _has_hash(path, sha256):
        raise DamagedError(sha256)
    try:
        obstore.put(target, place, path)
    except BaseError as error:
        raise OSError(str(error)) from error
    return True


def _chunks_in_folder(root: Path, sha256: str) -> Generator[bytes]:
    origin = _place_of(root, sha256)
    return _chunks_of_file(origin)


def _chunks_of_file(path: Path) -> Generator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _chunks_of_object(store: ObjectStore, sha256: str) -> Generator[bytes]:
    """Yield the bytes of an object in its place, or set aside. Raises `FileNotFoundError` and `OSError`."""
    for place in places_of(sha256):
        try:
            found = obstore.get(store, place)
        except FileNotFoundError:
            continue
        except BaseError as error:
            raise OSError(str(error)) from error
        yield from map(bytes, found.stream(min_chunk_size=CHUNK_BYTES))
        return
    raise FileNotFoundError(sha256)


def _place_of(root: Path, sha256: str) -> Path:
    """Return where a content of the drive is: in its place, or set aside, from where the drive takes it back too."""
    usual = blob_path(root, sha256)
    if usual.exists():
        return usual
    aside = (inner_path(root, f"{FOLDER}/{kind}/{sha256}") for kind in KINDS)
    return next((path for path in aside if path.is_file()), usual)


def is_intact(root: Path, sha256: str) -> bool:
    """Say whether a content is there with its hash."""
    try:
        return _has_hash(blob_path(root, sha256), sha256)
    except OuterPathError:
        return False


def _has_hash(path: Path, sha256: str) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False


def remove_unused(root: Path, used: Iterable[str]) -> int:
    """Remove the contents below a folder that are not among those, and unfinished copies; return their number."""
    needed, removed = set(used), 0
    if not root.is_dir():
        return 0
    for path in root.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*"):
        if path.name not in needed and not path.parent.is_symlink() and not path.parent.parent.is_symlink():
            path.unlink()
            removed += 1
    return removed


def _created(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
