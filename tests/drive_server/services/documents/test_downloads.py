from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.errors import ForbiddenError, InvalidInputError, MissingScopeError, NotFoundError
from drive_server.services.documents.downloads import ANYONE, DownloadService
from tests.drive_server.actors import rehearsing, with_scopes
from tests.fakes.clock import SettableClock

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.models.items import Item

BOB = "bob@example.com"


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def downloads(drive: Drive, clock: SettableClock) -> DownloadService:
    return DownloadService(drive.documents, drive.identity, drive.signer, "https://drive.example/", clock)


@pytest.fixture
async def plan(drive: Drive, alice: Actor) -> Item:
    item = (await drive.documents.create(alice, "root", "plan.md", "one")).value
    return (await drive.documents.write_text(alice, item.id, "two")).value


async def address(downloads: DownloadService, actor: Actor, ref: str, version: int | None = None) -> str:
    url = (await downloads.create(actor, ref, version)).value.url
    assert url.startswith("https://drive.example/d/")
    return url.rpartition("/")[2]


async def fetched(downloads: DownloadService, token: str) -> bytes:
    content = await downloads.open(token)
    return b"".join([chunk async for chunk in content.stream()])


async def test_whoever_has_the_address_gets_the_file_as_it_is_or_one_version(
    drive: Drive, alice: Actor, downloads: DownloadService, plan: Item
) -> None:
    newest, first = await address(downloads, alice, plan.id), await address(downloads, alice, plan.id, 1)
    assert (await fetched(downloads, newest), await fetched(downloads, first)) == (b"two", b"one")
    await drive.documents.write_text(alice, plan.id, "three")
    assert (await fetched(downloads, newest), await fetched(downloads, first)) == (b"three", b"one")


async def test_it_ends_in_time(alice: Actor, downloads: DownloadService, clock: SettableClock, plan: Item) -> None:
    made = (await downloads.create(alice, plan.id, minutes=2)).value
    assert made.expires_at == clock.now + timedelta(minutes=2)
    token = made.url.rpartition("/")[2]
    clock.advance(119)
    assert await fetched(downloads, token) == b"two"
    clock.advance(1)
    with pytest.raises(NotFoundError):
        await downloads.open(token)


async def test_it_ends_with_the_key_that_made_it_and_holds_no_longer_than_that(
    drive: Drive, alice: Actor, downloads: DownloadService, clock: SettableClock, plan: Item
) -> None:
    key, secret = await drive.identity.create_key(alice, "short", ["read", "share"])
    token = await address(downloads, Actor(await drive.identity.authenticate(secret)), plan.id)
    assert await fetched(downloads, token) == b"two"
    await drive.identity.revoke_key(alice, key.id)
    with pytest.raises(NotFoundError):
        await downloads.open(token)
    ending = replace(alice, principal=replace(alice.principal, expires_at=clock.now + timedelta(minutes=1)))
    assert (await downloads.create(ending, plan.id)).value.expires_at == clock.now + timedelta(minutes=1)


async def test_every_address_that_does_not_hold_gives_the_same_answer(
    drive: Drive, alice: Actor, bob: Actor, downloads: DownloadService, plan: Item
) -> None:
    await drive.sharing.share(alice, plan.id, BOB, "editor")
    bobs = await address(downloads, bob, plan.id)
    bobs_first = await address(downloads, bob, plan.id, 1)
    await drive.sharing.share(alice, plan.id, BOB, "viewer")
    assert await fetched(downloads, bobs) == b"two"
    await drive.sharing.revoke(alice, plan.id, BOB)
    mine = await address(downloads, alice, plan.id)
    await drive.files.trash(alice, plan.id)

    told: list[dict[str, object]] = []
    for token in (bobs, bobs_first, mine, "", "x", "报告", drive.signer.sign("link", bytes(60)), mine + "A"):
        with pytest.raises(NotFoundError) as caught:
            await downloads.open(token)
        told.append(caught.value.to_dict())
    assert all(answer == told[0] for answer in told)


async def test_it_is_refused_to_those_who_may_not_read_that(
    drive: Drive, alice: Actor, bob: Actor, downloads: DownloadService, plan: Item
) -> None:
    with pytest.raises(NotFoundError):
        await downloads.create(bob, plan.id)
    await drive.sharing.share(alice, plan.id, BOB, "viewer")
    with pytest.raises(ForbiddenError):
        await downloads.create(bob, plan.id, 1)
    with pytest.raises(MissingScopeError):
        await downloads.create(with_scopes(alice, Scope.WRITE, Scope.SHARE), plan.id)
    with pytest.raises(MissingScopeError):
        await downloads.create(with_scopes(alice, Scope.READ, Scope.WRITE, Scope.DELETE), plan.id)
    with pytest.raises(InvalidInputError):
        await downloads.create(alice, "root")
    with pytest.raises(NotFoundError):
        await downloads.create(alice, plan.id, 99)


@pytest.mark.parametrize("minutes", [0, -1, 1441])
async def test_it_holds_a_minute_to_a_day(alice: Actor, downloads: DownloadService, plan: Item, minutes: int) -> None:
    with pytest.raises(InvalidInputError):
        await downloads.create(alice, plan.id, minutes=minutes)


async def test_a_rehearsal_makes_none_and_says_who_could_fetch_what(
    alice: Actor, downloads: DownloadService, plan: Item
) -> None:
    outcome = await downloads.create(rehearsing(alice), plan.id, 1)
    assert outcome.value.url == ""
    assert outcome.effect is not None
    assert outcome.effect.gains_access == (ANYONE,)
    assert "'plan.md' (version 1)" in outcome.effect.summary
    assert not outcome.effect.reversible
