"""Fixtures: buckets, and services that a test starts and that end with it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from api.cli.backups import sources
from drive_server.storage import blobs
from drive_server.storage.installation import parts
from tests.buckets import new_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore.store import ObjectStore


@pytest.fixture(autouse=True)
def buckets(monkeypatch: pytest.MonkeyPatch) -> dict[str, ObjectStore]:
    """Stores, one for each address."""
    made: dict[str, ObjectStore] = {}

    def store_at(url: str) -> ObjectStore:
        return made.setdefault(url, new_store())

    for module in (blobs, parts, sources):
        monkeypatch.setattr(module, "remote_store", store_at)
    return made


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack
