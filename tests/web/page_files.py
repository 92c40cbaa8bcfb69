"""`python -m tests.web.page_files`: the files of the first view without a bundle, in bytes as they are sent."""

from __future__ import annotations

import posixpath
import sys
from pathlib import Path
from typing import Final

from api.page.files import PageFile, PageFiles
from api.page.first_load import first_page, modules, styles

LIMIT_BYTES: Final = 120_000
NO_BUNDLE: Final = Path(__file__).parent / "no bundle"
LOADS_WORDS: Final = "loadTexts(import.meta.url)"


def words(files: PageFiles, language: str) -> list[str]:
    """Return the words that the modules of the first view load."""
    folders = [posixpath.dirname(name) for name in modules(files) if LOADS_WORDS in files.text(name)]
    return [f"{folder}/texts/{language}.json" for folder in folders]


def first_load(language: str) -> dict[str, int]:
    """Return the files of the first view with the words of a language: bytes of each, compressed."""
    files = PageFiles(bundle=NO_BUNDLE)
    sizes = {"/": len(PageFile.of(first_page(files, language).encode(), "text/html").compressed)}
    for name in (*styles(files), *modules(files), *words(files, language)):
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
