"""Who listens for ended keys and accounts hears of those of before too, also while nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.connect import open_drive

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings

PATIENCE_SECONDS = 20


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drive_server.kernel.sql.database.CHANGED_SECONDS", 0.01)
    monkeypatch.setattr("drive_server.kernel.sql.database.STATE_SECONDS", 0.005)


class Heard:
    """Listens until something is told."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._is_told = anyio.Event()

    async def tell(self, *ids: str) -> None:
        self.ids += ids
        self._is_told.set()

    async def wait(self) -> None:
        with anyio.fail_after(PATIENCE_SECONDS):
            await self._is_told.wait()


async def settled() -> None:
    """Let those who follow the database see its state as it is."""
    for _ in range(5):
        await anyio.wait_all_tasks_blocked()


async def test_a_late_listener_hears_of_ended_keys_and_accounts(drive: Drive, owner: Actor, alice: Actor) -> None:
    key, _ = await drive.identity.create_key(owner, "laptop", ["read"])
    await drive.identity.revoke_key(owner, key.id)
    await drive.people.change(owner, alice.user_id, is_disabled=True)
    await settled()
    keys, people = Heard(), Heard()

    drive.identity.revocations.when_revoked(keys.tell)
    drive.people.when_ended(people.tell)
    await keys.wait()
    await people.wait()

    assert key.id in keys.ids
    assert people.ids == [alice.user_id]


async def test_what_another_process_ends_is_heard_of(drive: Drive, drive_settings: DriveSettings, owner: Actor) -> None:
    key, _ = await drive.identity.create_key(owner, "laptop", ["read"])
    heard = Heard()
    drive.identity.revocations.when_revoked(heard.tell)
    await settled()

    async with open_drive(drive_settings) as other:
        await other.identity.revoke_key(owner, key.id)
        await heard.wait()

    assert key.id in heard.ids
