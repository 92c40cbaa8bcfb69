"""`python -m tests.packages.verify`: checks the page's libraries against the hashes that vendor.json has of them."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

from tests.packages.lists import PAGE

if TYPE_CHECKING:
    from pathlib import Path


def altered(folder: Path) -> list[str]:
    """Return the names of the libraries that are missing, or not as they were when they were taken over."""
    rows = json.loads((folder / "vendor.json").read_text())["files"]
    others = {path.name for path in folder.glob("*.js")} - {*rows}
    return sorted({*others, *(name for name, row in rows.items() if _hash(folder / name) != row["sha256"])})


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def main() -> None:
    """Exit with 1, and name what was altered, if anything was."""
    if found := altered(PAGE):
        sys.exit(f"The page's libraries are not those of api/web/vendor/vendor.json: {', '.join(found)}")


if __name__ == "__main__":
    main()
