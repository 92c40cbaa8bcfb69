"""The bundle of the page: its modules, styles and words in few files, which a release has beside the page itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import orjson

FOLDER: Final = Path(__file__).parent / "bundle"
MANIFEST: Final = "manifest.json"
PREFIX: Final = "bundle/"
"""The files of a bundle are served beside those of the page, below this."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of the first view: `scripts` (the entry first), `style`, and `words` for each language."""

    scripts: tuple[str, ...]
    style: str
    words: Mapping[str, str]
    contents: Mapping[str, bytes]
    """All files, also of parts that are loaded when they are wanted."""

    @classmethod
    def of(cls, version: str, folder: Path = FOLDER) -> Self | None:
        """Read the bundle of this version of the page; None without one, or if it is of another version."""
        if not (folder / MANIFEST).is_file():
            return None
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        if manifest["version"] != version:
            return None
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        contents = {PREFIX + path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        words = {language: PREFIX + name for language, name in manifest["words"].items()}
        return cls(tuple(PREFIX + name for name in manifest["scripts"]), PREFIX + manifest["style"], words, contents)
