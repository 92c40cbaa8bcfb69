"""`python -m tests.web.page_files`: what the first view takes, in bytes as they are sent."""

from __future__ import annotations

import sys
from typing import Final

from api.page.files import PageFiles
from api.page.first_load import SHELL, modules, styles

LIMIT_BYTES: Final = 120_000
ROOMS: Final = ("shared", "app", "files", "chat", "approvals")
"""Whose words the first view loads."""


def first_load(language: str) -> dict[str, int]:
    """Return the files of the first view with the words of a language: bytes of each, compressed."""
    files = PageFiles()
    words = [f"{room}/texts/{language}.json" for room in ROOMS]
    sizes: dict[str, int] = {}
    for name in (SHELL, *styles(files), *modules(files), *words):
        found = files.get(name)
        assert found, name
        sizes[name] = len(found.compressed)
    return sizes


def main() -> None:
    """Print the files, the largest first."""
    sizes = first_load("en")
    for name, size in sorted(sizes.items(), key=lambda one: -one[1]):
        sys.stdout.write(f"{size:8,} {name}\n")
    sys.stdout.write(f"{sum(sizes.values()):8,} in {len(sizes)} files; the limit is {LIMIT_BYTES:,}\n")


if __name__ == "__main__":
    main()
