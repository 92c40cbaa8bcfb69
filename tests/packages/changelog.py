"""The changelog's block of a version: what was unreleased gets its number and its day."""

from __future__ import annotations

import re
from typing import Final

UNRELEASED: Final = "## [Unreleased]"


class NothingToReleaseError(Exception):
    """The changelog has neither changes that are unreleased nor a block of the version."""


def dated(changelog: str, version: str, day: str) -> str:
    """Return the changelog with what is unreleased as the block of the version, above the earlier ones.

    One that has the block already, and nothing that is unreleased, stays as it is. Raises `NothingToReleaseError` if
    there is neither, and `ValueError` if there are both: then the version needs another number.
    """
    before, found, rest = changelog.partition(f"{UNRELEASED}\n")
    is_released = re.search(rf"^## \[{re.escape(version)}\]", rest, re.MULTILINE) is not None
    unreleased = rest[: next((match.start() for match in re.finditer(r"^## \[", rest, re.MULTILINE)), len(rest))]
    if is_released and unreleased.strip():
        raise ValueError(
            f"{version} is released already, and there are changes after it: raise the version in pyproject.toml."
        )
    if is_released:
        return changelog
    if not found or not unreleased.strip():
        raise NothingToReleaseError(f"Nothing below {UNRELEASED} in CHANGELOG.md.")
    return f"{before}{UNRELEASED}\n\n## [{version}] - {day}\n{rest}"
