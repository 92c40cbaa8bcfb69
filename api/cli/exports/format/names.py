"""Names in an export: as in every archive (`portable_names`), but shorter, for disks that leave less."""

from __future__ import annotations

from typing import Final

MAX_BYTES: Final = 120
"""UTF-8 bytes of a name: an encrypting file system leaves 143 of 255."""
MAX_PATH: Final = 180
"""UTF-16 units of a path below the export: Windows has 260 for all of it."""


def length_of(path: str) -> int:
    """Return the length of a path in UTF-16 units."""
    return len(path.encode("utf-16-le")) // 2
