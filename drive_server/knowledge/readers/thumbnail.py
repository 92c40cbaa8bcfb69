"""Thumbnails as a reader's process makes them."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from drive_server.knowledge.text.unreadable import UnreadableKind, unreadable

MEDIA_TYPE: Final = "image/webp"
QUALITY: Final = 80


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A picture as WebP; empty, with the reason, where none can be made."""

    state: Literal["ready", "failed"]
    reason: str = ""
    data: bytes = b""


def refuse_thumbnail(kind: UnreadableKind, count: int) -> Thumbnail:
    """Return the thumbnail of a file that made its reader crash, or took too long."""
    return Thumbnail("failed", unreadable(kind, count).reason)


def make_thumbnail(size: int, path: Path, name: str, media_type: str) -> Thumbnail:
    """Return the picture, `size` pixels at its longer side or less. Blocks; not for two threads at once."""
    from drive_server.knowledge.readers.pages.drawing import UndrawableError, draw

    del name, media_type  # the bytes tell, not the file's name
    try:
        picture = draw(path, size)
    except UndrawableError as error:
        return Thumbnail("failed", str(error))
    file = io.BytesIO()
    picture.save(file, "WEBP", quality=QUALITY)
    return Thumbnail("ready", data=file.getvalue())
