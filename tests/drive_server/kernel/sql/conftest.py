from __future__ import annotations

import pytest

from drive_server.kernel.sql import engine
from tests.once import WITH_DISK


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have SQLite wait for the disk, as it does in services."""
    monkeypatch.setattr(engine, "_on_connect", WITH_DISK)
