from __future__ import annotations

from typing import TYPE_CHECKING

from drive_server.knowledge.readers.extract import extract

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction


def read(folder: Path, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    return extract(path, "a.pdf", "")
