from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.access import Actor


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path / "store") as store:
        yield store


@pytest.fixture
async def ana(store: Store) -> Actor:
    return await store.person("ana@example.com")


@pytest.fixture
async def ben(store: Store) -> Actor:
    return await store.person("ben@example.com")
