from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.http.service import Service, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from drive_server.kernel.settings import DriveSettings


@pytest.fixture
async def service(drive_settings: DriveSettings) -> AsyncIterator[Service]:
    limited = drive_settings.model_copy(update={"max_request_bytes": 100_000, "max_upload_bytes": 3_000_000})
    async with running(limited) as service:
        yield service


@pytest.fixture
async def owner_client(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client() as client:
        yield client


@pytest.fixture
async def bobs_client(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client(await service.add_person("bob@example.com")) as client:
        yield client
