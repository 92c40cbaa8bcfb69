"""The table that tests ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.knowledge.tables.asker import Asker

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def asker(tmp_path: Path) -> Asker:
    return Asker(tmp_path)
