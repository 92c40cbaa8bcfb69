from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from drive_server.connect import open_drive
from drive_server.kernel.settings import DriveSettings
from tests.databases import IS_POSTGRES, drive_url
from tests.drive_server.actors import local_owner, new_person
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


@pytest.fixture
def drive_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DriveSettings:
    """Settings of a drive in a scratch directory; the machine's environment and `.env` have no say."""
    for name in [name for name in os.environ if name.startswith("DRIVE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    url = drive_url(tmp_path) if IS_POSTGRES else ""
    return DriveSettings(data_dir=tmp_path / "data", database_url=url, embedding_model="none")


@pytest.fixture
async def drive(drive_settings: DriveSettings) -> AsyncIterator[Drive]:
    """A real drive in a scratch directory, without an embedding model; `await drive.ingester.drain()` indexes."""
    async with open_drive(drive_settings) as drive:
        yield drive


@pytest.fixture
async def owner(drive: Drive) -> Actor:
    return await local_owner(drive.identity)


@pytest.fixture
async def alice(drive: Drive) -> Actor:
    return await new_person(drive.identity, "alice@example.com")


@pytest.fixture
async def bob(drive: Drive) -> Actor:
    return await new_person(drive.identity, "bob@example.com")


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
