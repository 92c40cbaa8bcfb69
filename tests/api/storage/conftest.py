"""Threads on each kind of storage: the tests of a folder run on both, unless their module names one."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import pytest

from api.storage.threads import open_threads
from tests.api.storage.postgres_server import PostgresServer, running_server


@pytest.fixture(scope="session")
def postgres() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty storage of threads."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'graph.db'}"
    return request.getfixturevalue("postgres").new_database()


@pytest.fixture
async def saver(url: str) -> AsyncGenerator[Any]:
    async with open_threads(url) as storage:
        yield storage.saver
