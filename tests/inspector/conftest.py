from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.conftest import drive_settings
from tests.drive_server.http.conftest import service
from tests.inspector.command import Inspector, over_http, over_stdio

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

__all__ = ["drive_settings", "service"]


@pytest.fixture
def inspectors(service: Service, drive_settings: DriveSettings, tmp_path: Path) -> dict[str, Inspector]:
    """The Inspector by transport, on one drive."""
    return {
        "http": over_http(service.url, service.token, tmp_path),
        "stdio": over_stdio(drive_settings.root, service.token, tmp_path),
    }
