"""Waiting for work that the service does in the background."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.person import Person

INDEX_SECONDS = 60


def wait_until_indexed(person: Person, seconds: float = INDEX_SECONDS) -> None:
    """Wait until none of the person's files waits for the index."""
    deadline = time.monotonic() + seconds
    counts: dict[str, int] = {}
    while time.monotonic() < deadline:
        counts = person.get("/api/drive/index", wait_seconds="5")["counts"]
        if not counts.get("pending") and not counts.get("indexing"):
            return
    raise AssertionError(f"still not indexed after {seconds} s: {counts}")
