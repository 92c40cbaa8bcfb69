from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.storage.postgres_server import PostgresServer, running_server

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.fixture(scope="package")
def server() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server
