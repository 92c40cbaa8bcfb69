from __future__ import annotations

import re
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import select

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import InvalidInputError, MissingScopeError, NotFoundError, UnauthenticatedError
from drive_server.kernel.signing import Signer
from drive_server.services.identity.service import IdentityService
from drive_server.services.identity.sign_ins import SignInService
from drive_server.storage.tables.people import ApiKeyRow, SignInRow
from tests.drive_server.actors import with_scopes
from tests.fakes.clock import SettableClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from drive_server.models.access import ApiKey
    from tests.drive_server.store import Store

SIGNER = Signer(b"k" * 32)
PUBLIC_URL = "https://drive.example.com/"


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
async def sign_ins(store: Store, clock: SettableClock) -> AsyncIterator[SignInService]:
    service = SignInService(store.database, SIGNER, PUBLIC_URL, clock, looked_every_seconds=0.001)
    yield service
    await service.close()


@pytest.fixture
def identity(store: Store, tmp_path: Path, clock: SettableClock) -> IdentityService:
    return IdentityService(store.database, tmp_path / "token", clock)


def token_of(url: str) -> str:
    base, _, token = url.rpartition("/")
    assert base == "https://drive.example.com/connect"
    return token


async def test_a_host_is_let_in_with_a_key_of_its_name(
    sign_ins: SignInService, identity: IdentityService, ana: Actor
) -> None:
    asked = await sign_ins.ask("Claude Desktop")
    waiting = await sign_ins.state(asked.id)

    key = await sign_ins.accept(ana, token_of(asked.url), ["read", "write"], 7)

    assert waiting is not None
    assert (waiting.key_id, waiting.is_declined) == (None, False)
    answered = await sign_ins.state(asked.id)
    assert answered is not None
    assert answered.key_id == key.id
    principal = await identity.authenticate_key(key.id)
    assert (principal.user_id, principal.scopes, principal.key_name) == (
        ana.user_id,
        {Scope.READ, Scope.WRITE},
        "Claude Desktop",
    )
    assert [entry.id for entry in await identity.list_keys(ana)] == [key.id]


async def test_its_key_ends_in_time_and_when_it_is_revoked(
    sign_ins: SignInService, identity: IdentityService, clock: SettableClock, ana: Actor
) -> None:
    keys = [await let_in(sign_ins, ana) for _ in range(2)]
    await identity.revoke_key(ana, keys[0].id)
    with pytest.raises(UnauthenticatedError):
        await identity.authenticate_key(keys[0].id)

    await identity.authenticate_key(keys[1].id)
    clock.advance(24 * 3600)
    with pytest.raises(UnauthenticatedError):
        await identity.authenticate_key(keys[1].id)


async def let_in(sign_ins: SignInService, actor: Actor) -> ApiKey:
    asked = await sign_ins.ask("host")
    return await sign_ins.accept(actor, token_of(asked.url), ["read"], 1)


@pytest.mark.parametrize("first", ["accept", "decline"])
async def test_a_request_is_answered_once(sign_ins: SignInService, ana: Actor, first: str) -> None:
    token = token_of((await sign_ins.ask("host")).url)
    if first == "accept":
        await sign_ins.accept(ana, token, ["read"], 1)
    else:
        await sign_ins.decline(token)

    with pytest.raises(NotFoundError):
        await sign_ins.accept(ana, token, ["read"], 1)
    with pytest.raises(NotFoundError):
        await sign_ins.decline(token)
    with pytest.raises(NotFoundError):
        await sign_ins.open(token)


async def test_of_two_people_who_agree_at_once_one_does(
    sign_ins: SignInService, store: Store, ana: Actor, ben: Actor
) -> None:
    asked = await sign_ins.ask("host")
    refused: list[NotFoundError] = []

    async def agree(actor: Actor) -> None:
        try:
            await sign_ins.accept(actor, token_of(asked.url), ["read"], 1)
        except NotFoundError as error:
            refused.append(error)

    async with anyio.create_task_group() as group:
        for actor in (ana, ben):
            group.start_soon(agree, actor)

    answered = await sign_ins.state(asked.id)
    async with store.database.read() as session:
        keys = (await session.scalars(select(ApiKeyRow.id))).all()
    assert len(refused) == 1
    assert answered is not None
    assert keys == [answered.key_id]


async def test_a_request_is_over_after_ten_minutes(sign_ins: SignInService, clock: SettableClock, ana: Actor) -> None:
    asked = await sign_ins.ask("host")
    clock.advance(599)
    await sign_ins.open(token_of(asked.url))
    clock.advance(1)

    with pytest.raises(NotFoundError):
        await sign_ins.accept(ana, token_of(asked.url), ["read"], 1)
    assert await sign_ins.state(asked.id) is None


async def test_whoever_says_no_sends_the_host_away(sign_ins: SignInService, store: Store) -> None:
    asked = await sign_ins.ask("host")
    await sign_ins.decline(token_of(asked.url))

    answered = await sign_ins.state(asked.id)
    async with store.database.read() as session:
        assert (await session.scalars(select(ApiKeyRow))).all() == []
    assert answered is not None
    assert (answered.is_declined, answered.key_id) == (True, None)


async def test_an_address_can_not_be_guessed(sign_ins: SignInService, ana: Actor) -> None:
    asked = await sign_ins.ask("host")
    by_others = Signer(b"x" * 32).sign("sign-in", bytes.fromhex(asked.id))
    for token in (
        asked.id,
        "",
        "x",
        "\ud800",
        token_of(asked.url)[:-1],
        token_of(asked.url) + "A",
        by_others,
        SIGNER.sign("link", bytes.fromhex(asked.id)),
        SIGNER.sign("sign-in", b""),
        SIGNER.sign("sign-in", bytes(16)),
        SIGNER.sign("sign-in", b"' OR 1=1 --"),
    ):
        with pytest.raises(NotFoundError):
            await sign_ins.open(token)
        with pytest.raises(NotFoundError):
            await sign_ins.accept(ana, token, ["read"], 1)
        with pytest.raises(NotFoundError):
            await sign_ins.decline(token)


async def test_nobody_gives_more_than_they_have(sign_ins: SignInService, ana: Actor) -> None:
    token = token_of((await sign_ins.ask("host")).url)

    with pytest.raises(MissingScopeError):
        await sign_ins.accept(with_scopes(ana, Scope.READ), token, ["read", "delete"], 1)
    for scopes, days in (([], 1), (["admin"], 1), (["read"], 0), (["read"], 3651)):
        with pytest.raises(InvalidInputError):
            await sign_ins.accept(ana, token, scopes, days)
    await sign_ins.open(token)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("VS Code", "VS Code"),
        ("  a \n b\t", "a b"),
        ("克劳德 🌍", "克劳德 🌍"),
        ("שלום", "שלום"),
        ("good\u202egnp.exe", "good gnp.exe"),
        ("\0\x1b[2J", "[2J"),
        ("", "MCP host"),
        ("\u200b\u2066", "MCP host"),
        ("x" * 500, "x" * 60),
        ("<script>", "<script>"),
    ],
)
async def test_a_hosts_name_is_one_line_that_can_be_seen(sign_ins: SignInService, given: str, shown: str) -> None:
    assert (await sign_ins.ask(given)).client_name == shown


async def test_the_code_is_short_of_its_own_and_in_every_process_the_same(
    sign_ins: SignInService, store: Store
) -> None:
    asked = [await sign_ins.ask("host") for _ in range(3)]
    elsewhere = await SignInService(store.database, SIGNER, PUBLIC_URL).state(asked[0].id)

    assert len({found.code for found in asked}) == 3
    assert all(re.fullmatch("[A-Z2-7]{4}-[A-Z2-7]{4}", found.code) for found in asked)
    assert all(found.code not in found.url for found in asked)
    assert elsewhere is None or elsewhere.code == asked[0].code


async def test_whoever_waits_is_told_once_there_is_an_answer(
    sign_ins: SignInService, store: Store, clock: SettableClock, ana: Actor
) -> None:
    elsewhere = SignInService(store.database, SIGNER, PUBLIC_URL, clock)
    told: dict[str, anyio.Event] = {}
    for answer in ("accept", "decline"):
        asked = await sign_ins.ask("host")
        told[answer] = anyio.Event()

        async def tell(answer: str = answer) -> None:
            told[answer].set()

        sign_ins.when_answered(asked.id, tell)
        if answer == "accept":
            await elsewhere.accept(ana, token_of(asked.url), ["read"], 1)
        else:
            await elsewhere.decline(token_of(asked.url))
    with anyio.fail_after(20):
        for event in told.values():
            await event.wait()


async def test_nobody_is_told_of_a_request_that_was_over(sign_ins: SignInService, clock: SettableClock) -> None:
    async def tell() -> None:
        raise AssertionError("nobody answered")

    sign_ins.when_answered((await sign_ins.ask("host")).id, tell)
    sign_ins.when_answered("0" * 32, tell)
    clock.advance(600)
    with anyio.fail_after(20):
        await sign_ins.idle()


async def test_old_requests_are_removed_and_their_keys_stay(
    sign_ins: SignInService, identity: IdentityService, store: Store, clock: SettableClock, ana: Actor
) -> None:
    key = await let_in(sign_ins, ana)
    clock.advance(600 + 3599)
    assert await sign_ins.remove_expired() == 0
    await sign_ins.ask("newer")
    clock.advance(1)

    assert await sign_ins.remove_expired() == 1
    async with store.database.read() as session:
        assert (await session.scalars(select(SignInRow.client_name))).all() == ["newer"]
    await identity.authenticate_key(key.id)
