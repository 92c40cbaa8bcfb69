from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.http.dav.client import Dav, dav_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.drive_server.http.service import Service


@pytest.fixture
async def dav(service: Service) -> AsyncIterator[Dav]:
    async with dav_of(service) as client:
        yield client


@pytest.fixture
async def bobs_dav(service: Service) -> AsyncIterator[Dav]:
    async with dav_of(service, await service.add_person("bob@example.com")) as client:
        yield client
