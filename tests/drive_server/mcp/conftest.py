from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.services.files import copying
from tests.drive_server.gates import Gate
from tests.drive_server.hosts import Host, assistant_of, host_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


@pytest.fixture
async def assistant(drive: Drive, alice: Actor) -> AsyncIterator[Host]:
    """Alice's assistant, inside this process."""
    async with assistant_of(drive, alice) as host:
        yield host


@pytest.fixture
async def bobs(drive: Drive, bob: Actor) -> AsyncIterator[Host]:
    """Bob's host, outside."""
    async with host_of(drive, bob) as host:
        yield host


@pytest.fixture
async def alices(drive: Drive, alice: Actor) -> AsyncIterator[Host]:
    """Alice's host, outside, which can't ask her."""
    async with host_of(drive, alice) as host:
        yield host


@pytest.fixture
def half_way(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A gate where a copy has written its first items, and has not committed."""
    gate = Gate()
    monkeypatch.setattr(copying, "_insert", gate.after(copying._insert))  # pyright: ignore[reportPrivateUsage] - nothing else is half-way
    return gate
