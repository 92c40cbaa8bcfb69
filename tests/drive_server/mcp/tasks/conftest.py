"""Fixtures for the tests of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.gates import Gate
from tests.drive_server.hosts import host_of
from tests.drive_server.tasking import fill

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


@pytest.fixture
def copying_stands(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A gate in the place of every copy, before anything is written."""
    gate = Gate()

    async def stand(*args: Any, **kwargs: Any) -> None:
        del args, kwargs
        await gate()

    monkeypatch.setattr(drive.files, "copy", stand)
    return gate


@pytest.fixture
async def session(drive: Drive, alice: Actor) -> AsyncGenerator[ClientSession]:
    """Alice's host, and something in her drive to copy."""
    await fill(drive, alice)
    async with host_of(drive, alice) as host:
        yield host.session
