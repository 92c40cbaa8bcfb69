from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item


@pytest.fixture
async def reports(drive: Drive, alice: Actor) -> Item:
    return (await drive.files.create_folder(alice, "root", "Reports")).value


@pytest.fixture
async def plan(drive: Drive, alice: Actor, reports: Item) -> Item:
    return (await drive.documents.create(alice, reports.id, "plan.md", "# Plan")).value
