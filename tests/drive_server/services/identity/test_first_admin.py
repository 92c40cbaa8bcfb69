"""The first administrator of a drive without an owner: made once, whoever else asks at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import InvalidInputError, StateConflictError
from drive_server.services.identity.first_admin import create_first_admin
from drive_server.services.identity.service import IdentityService
from tests.databases import new_url
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    url = new_url() if request.param == "postgresql" else f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}"
    async with open_store(tmp_path, url) as store:
        yield store


async def test_the_key_is_that_of_an_administrator_with_a_drive(store: Store, tmp_path: Path) -> None:
    key = await create_first_admin(store.database, "Root@Example.com")
    principal = await IdentityService(store.database, tmp_path / "token").authenticate(key)
    assert (principal.email, principal.is_admin, principal.method) == ("root@example.com", True, "api_key")
    assert not (tmp_path / "token").exists()


async def test_who_has_an_account_already_keeps_it(store: Store, tmp_path: Path) -> None:
    ana = await store.person("ana@example.com")
    key = await create_first_admin(store.database, "ana@example.com")
    assert (await IdentityService(store.database, tmp_path / "token").authenticate(key)).user_id == ana.user_id


async def test_there_is_one_first_administrator_also_of_two_that_are_made_at_once(store: Store) -> None:
    refused: list[str] = []

    async def create(email: str) -> None:
        try:
            await create_first_admin(store.database, email)
        except StateConflictError as error:
            refused.append(error.hint)

    async with anyio.create_task_group() as tasks:
        for name in ("a", "b", "c"):
            tasks.start_soon(create, f"{name}@example.com")
    assert len(refused) == 2
    assert "drive-agent user add" in refused[0]


async def test_the_owner_of_a_machine_is_an_administrator_on_it_alone(store: Store, tmp_path: Path) -> None:
    await IdentityService(store.database, tmp_path / "token").ensure_local_user()
    if store.database.takes_turns:
        assert await create_first_admin(store.database, "root@example.com")
    else:
        with pytest.raises(StateConflictError):
            await create_first_admin(store.database, "root@example.com")


async def test_what_is_no_address_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInputError):
        await create_first_admin(store.database, "root")
