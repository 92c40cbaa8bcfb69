"""Fixtures: buckets in memory, and services that a test starts and that end with it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from obstore.store import MemoryStore

from api.cli.backups import sources
from drive_server.storage import blobs
from drive_server.storage.installation import parts

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def buckets(monkeypatch: pytest.MonkeyPatch) -> dict[str, MemoryStore]:
    """Stores in memory, one for each address."""
    made: dict[str, MemoryStore] = {}

    def store_at(url: str) -> MemoryStore:
        return made.setdefault(url, MemoryStore())

    for module in (blobs, parts, sources):
        monkeypatch.setattr(module, "remote_store", store_at)
    return made


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack
