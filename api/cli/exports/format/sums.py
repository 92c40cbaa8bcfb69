"""The file of hashes of an export, as `sha256sum --check SHA256SUMS` reads it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from api.cli.exports.format.bounds import lines_of
from api.cli.exports.format.manifest import SUMS
from drive_server.kernel.files.inner_paths import inner_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO, TextIO

    from api.cli.exports.table import ItemTable

HASH_CHARACTERS: Final = 64


class Sums:
    """Writes the hashes of all files of an export, and the small files themselves."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def add(self, path: str, sha256: str) -> None:
        """Add a file."""
        self._file.write(f"{sha256}  {path}\n")

    def add_files(self, table: ItemTable) -> None:
        """Add the contents of the drive."""
        for path, sha256, _, _ in table.files():
            self.add(path, sha256)

    def write(self, root: Path, path: str, body: bytes) -> str:
        """Write a small file whole, add it, and return its SHA-256."""
        target = inner_path(root, path)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = target.with_name(f"{target.name}.part")
        draft.write_bytes(body)
        draft.replace(target)
        sha256 = hashlib.sha256(body).hexdigest()
        self.add(path, sha256)
        return sha256


def read_sums(file: BinaryIO) -> Iterator[tuple[str, str]]:
    """Yield path and SHA-256 of each file, as far as the lines can be read."""
    for line in lines_of(file, SUMS):
        sha256, _, path = line.decode("utf-8", "replace").rstrip("\n").partition("  ")
        if path and len(sha256) == HASH_CHARACTERS:
            yield path, sha256
