"""Limits and addresses that hold for all drives on one database: what one counted or gave out, the other knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import (
    DriveError,
    InvalidInputError,
    NotFoundError,
    PasswordRequiredError,
    RateLimitError,
    UnauthenticatedError,
)
from drive_server.kernel.messages import Message
from drive_server.services.identity.challenges import Challenges
from drive_server.services.identity.passwords import MAX_WRONG, Source
from drive_server.services.sharing.link_downloads import Fetch, remove_old_fetches
from drive_server.services.sharing.link_passwords import GUESSES
from drive_server.services.sharing.links import LinkTerms
from drive_server.services.throttles.attempts import WrongKeys
from tests.drive_server.actors import new_person
from tests.drive_server.replicas import two_drives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.drive import Drive

Drives = tuple["Drive", "Drive"]
HERE = "10.0.0.1"


@pytest.fixture
async def drives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Drives]:
    async with two_drives(tmp_path, monkeypatch) as pair:
        yield pair


async def test_wrong_passwords_at_both_drives_are_as_many_as_at_one(drives: Drives) -> None:
    await new_person(drives[0].identity, "ana@example.com")
    for number in range(MAX_WRONG):
        with pytest.raises(UnauthenticatedError):
            await drives[number % 2].passwords.verify("ana@example.com", "wrong", Source(HERE))
    for drive in drives:
        with pytest.raises(RateLimitError):
            await drive.passwords.verify("ana@example.com", "wrong", Source(HERE))


async def test_wrong_keys_at_both_drives_are_as_many_as_at_one(drives: Drives) -> None:
    a, b = [WrongKeys(2, Message.of("too_many_wrong_keys"), drive.database) for drive in drives]
    await a.take(HERE, "one")
    await b.take(HERE, "two")
    for keys in (a, b):
        with pytest.raises(RateLimitError):
            await keys.take(HERE, "three")


async def test_guesses_of_a_links_password_at_both_drives_are_as_many_as_at_one(drives: Drives) -> None:
    ana = await new_person(drives[0].identity, "ana@example.com")
    file = (await drives[0].documents.create(ana, "root", "a.txt", "x")).value
    link = (await drives[0].links.create(ana, file.id, LinkTerms(password="right horse"))).value
    token = str(link.url).rpartition("/")[2]
    for number in range(GUESSES):
        with pytest.raises(PasswordRequiredError):
            await drives[number % 2].visits.open(token, HERE, password=f"wrong horse {number}")
    with pytest.raises(RateLimitError):
        await drives[1].visits.open(token, HERE, password="right horse")


async def test_a_passkeys_challenge_that_one_drive_gave_counts_once_at_all(drives: Drives) -> None:
    a, b = [Challenges(drive.database, utc_now) for drive in drives]
    challenge, refusal = a.create("log in"), InvalidInputError("no")
    with pytest.raises(KeyError):
        async with b.taken(challenge, "log in", refusal):
            raise KeyError
    async with b.taken(challenge, "log in", refusal):
        pass
    for challenges in (a, b):
        with pytest.raises(InvalidInputError):
            async with challenges.taken(challenge, "log in", refusal):
                raise AssertionError


async def test_an_address_that_logs_in_is_made_at_one_drive_and_used_once_at_the_other(drives: Drives) -> None:
    a, b = drives
    ana = await new_person(a.identity, "ana@example.com")
    secret = (await a.login_links.create(ana.principal)).url.rpartition("/")[2]
    assert (await b.login_links.find(secret)).email == "ana@example.com"
    given: list[str] = []

    async def redeem(drive: Drive) -> None:
        try:
            given.append((await drive.login_links.redeem(secret)).user_id)
        except NotFoundError:
            given.append("")

    async with anyio.create_task_group() as group:
        for drive in drives:
            group.start_soon(redeem, drive)
    assert sorted(given) == ["", ana.user_id]


async def test_a_download_that_began_at_one_drive_goes_on_at_the_other_and_counts_once(drives: Drives) -> None:
    a, b = drives
    ana = await new_person(a.identity, "ana@example.com")
    file = (await a.documents.create(ana, "root", "a.txt", "x")).value
    link = (await a.links.create(ana, file.id, LinkTerms(max_downloads=1))).value
    token = str(link.url).rpartition("/")[2]
    part = Fetch(link.id, "blob", HERE, 1000, 400, is_part=True)
    await a.visits.count(part)
    assert (await b.visits.open(token, HERE)).link_id == link.id
    with pytest.raises(NotFoundError):
        await b.visits.open(token, "10.0.0.2")
    await b.visits.count(replace_wanted(part, 600))

    async def one_piece() -> AsyncIterator[bytes]:
        yield b"x" * 100

    assert [len(piece) async for piece in b.visits.metered(replace_wanted(part, 600), one_piece())] == [100]
    await a.visits.count(replace_wanted(part, 500))  # what the other drive did not send
    with pytest.raises(NotFoundError):
        await b.visits.count(replace_wanted(part, 500))
    await remove_old_fetches(a.database)
    assert (await a.links.list_access(ana, file.id)).items


async def test_parts_that_come_to_both_drives_at_once_are_counted_once(drives: Drives) -> None:
    a, _ = drives
    ana = await new_person(a.identity, "ana@example.com")
    file = (await a.documents.create(ana, "root", "a.txt", "x")).value
    link = (await a.links.create(ana, file.id, LinkTerms(max_downloads=1))).value
    failed: list[DriveError] = []

    async def fetch(drive: Drive) -> None:
        try:
            await drive.visits.count(Fetch(link.id, "blob", HERE, 1000, 100, is_part=True))
        except DriveError as error:
            failed.append(error)

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(fetch, drives[number % 2])
    assert failed == []


def replace_wanted(fetch: Fetch, wanted: int) -> Fetch:
    return fetch._replace(wanted=wanted)
