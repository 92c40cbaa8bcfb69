from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.settings import DriveSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def drive_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DriveSettings:
    """Settings of a drive in a scratch directory, without an embedding model."""
    monkeypatch.chdir(tmp_path)
    return DriveSettings(data_dir=tmp_path / "data", embedding_model="none")
