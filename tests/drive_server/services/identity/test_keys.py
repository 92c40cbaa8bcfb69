from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import UnauthenticatedError
from drive_server.services.identity.service import IdentityService
from drive_server.services.identity.sessions import LIFETIME, SessionService
from drive_server.storage.tables.people import ApiKeyRow
from tests.drive_server.actors import with_scopes
from tests.fakes.clock import START, SettableClock

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def sessions(drive: Drive, clock: SettableClock) -> SessionService:
    return SessionService(drive.database, clock)


@pytest.fixture
def identity(drive: Drive, clock: SettableClock) -> IdentityService:
    return IdentityService(drive.database, drive.settings.token_path, clock)


async def test_a_session_stands_for_the_key_that_opened_it(
    sessions: SessionService, identity: IdentityService, alice: Actor
) -> None:
    secret, ends = await sessions.create(with_scopes(alice, Scope.READ).principal)

    principal = await identity.authenticate(secret)

    assert (principal.user_id, principal.scopes, principal.method) == (alice.user_id, {Scope.READ}, "session")
    assert principal.expires_at == ends == START + LIFETIME


async def test_a_session_ends_after_thirty_days(
    sessions: SessionService, identity: IdentityService, alice: Actor, clock: SettableClock
) -> None:
    secret, _ = await sessions.create(alice.principal)
    clock.now = START + timedelta(days=30)

    with pytest.raises(UnauthenticatedError):
        await identity.authenticate(secret)


async def test_a_session_ends_no_later_than_its_key(sessions: SessionService, alice: Actor) -> None:
    end = START + timedelta(days=1)

    _, ends = await sessions.create(replace(alice.principal, expires_at=end))

    assert ends == end


async def test_a_session_ends_with_the_local_token_that_is_replaced(
    drive: Drive, sessions: SessionService, identity: IdentityService
) -> None:
    _, token = await identity.ensure_local_user()
    secret, _ = await sessions.create(await identity.authenticate(token))
    assert (await identity.authenticate(secret)).email == "me@localhost"

    drive.settings.token_path.unlink()
    await identity.ensure_local_user()

    with pytest.raises(UnauthenticatedError):
        await identity.authenticate(secret)


async def test_sessions_end_one_by_one_or_all_at_once(
    sessions: SessionService, identity: IdentityService, alice: Actor, bob: Actor
) -> None:
    first, second, bobs = [(await sessions.create(actor.principal))[0] for actor in (alice, alice, bob)]

    await sessions.end(first)
    await sessions.end("das_unknown")
    assert (await identity.authenticate(second)).user_id == alice.user_id
    await sessions.end_all(alice.principal)

    for secret in (first, second):
        with pytest.raises(UnauthenticatedError):
            await identity.authenticate(secret)
    assert (await identity.authenticate(bobs)).user_id == bob.user_id


async def test_only_sessions_are_ended(drive: Drive, sessions: SessionService, alice: Actor) -> None:
    _, key = await drive.identity.create_key(alice, "laptop", ["read"])

    await sessions.end(key)
    await sessions.end_all(alice.principal)

    assert (await drive.identity.authenticate(key)).key_name == "laptop"


async def test_expired_sessions_are_not_kept(
    drive: Drive, sessions: SessionService, alice: Actor, clock: SettableClock
) -> None:
    await sessions.create(alice.principal)
    clock.now = START + LIFETIME

    await sessions.create(alice.principal)

    async with drive.database.read() as session:
        kept = (await session.scalars(select(ApiKeyRow).where(ApiKeyRow.method == "session"))).all()
    assert [row.created_at for row in kept] == [clock.now]
