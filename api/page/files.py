"""The files of the page (`api/web`, and its bundle), read once, under addresses that change with their contents."""

import gzip
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

from api.page import bundle as bundles

FOLDER: Final = Path(__file__).parents[1] / "web"
PREFIX: Final = "/assets"
TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html; charset=utf-8",
}
VERSION_CHARACTERS: Final = 16


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file: its bytes, the same compressed, and its media type."""

    content: bytes
    compressed: bytes
    media_type: str

    @classmethod
    def of(cls, content: bytes, media_type: str) -> Self:
        """Return the file with these bytes."""
        return cls(content, gzip.compress(content, mtime=0), media_type)


class PageFiles:
    """All files of the page by their path below `api/web`.

    `version` is a digest of all of them and stands in every address, so that a browser never mixes two versions and
    may keep each file for ever. `bundle`: few files in the place of the many, if this version has been bundled.
    """

    def __init__(self, folder: Path = FOLDER, bundle: Path = bundles.FOLDER) -> None:
        self._contents = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.suffix in TYPES
        }
        digest = sha256()
        for name, content in self._contents.items():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        self.version = digest.hexdigest()[:VERSION_CHARACTERS]
        self.bundle = bundles.Bundle.of(self.version, bundle)
        if self.bundle:
            self._contents.update(self.bundle.contents)
        self._sent: dict[str, PageFile] = {}

    def get(self, name: str) -> PageFile | None:
        """Return a file as it is sent; None if there is none of that name."""
        if name not in self._contents:
            return None
        if name not in self._sent:
            content = self._contents[name]
            self._sent[name] = PageFile.of(content, TYPES[Path(name).suffix])
        return self._sent[name]

    def text(self, name: str) -> str:
        """Return the text of a file. Raises `KeyError` for one that is not there."""
        return self._contents[name].decode()

    def address(self, name: str) -> str:
        """Return where a file is served."""
        return f"{PREFIX}/{self.version}/{name}"

    def names(self) -> list[str]:
        """Return the paths of all files."""
        return list(self._contents)
