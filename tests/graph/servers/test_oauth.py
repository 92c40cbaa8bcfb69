"""Tokens of a sign-in are refreshed once for many callers, and not lost with one of them."""

import asyncio
from collections.abc import Iterator

import pytest
from pydantic import AnyHttpUrl

from graph.clock import utc_now
from graph.servers.addresses import AddressGuard
from graph.servers.definition import ServerDefinition
from graph.servers.oauth import tokens
from graph.servers.oauth.credentials import Credentials
from graph.servers.oauth.sign_in import Comeback, SignIns
from graph.servers.reasons import FaultError
from tests.fakes.oauth_server import OAuthServer, oauth_server
from tests.fakes.raw_server import Sent, raw_server


class MemoryStore:
    """The credentials of one person for one server."""

    def __init__(self) -> None:
        self.text: str | None = None

    async def read(self, definition: ServerDefinition) -> str | None:
        del definition
        return self.text

    async def write(self, definition: ServerDefinition, credentials: str, *, is_new: bool) -> None:
        del definition
        if is_new or self.text:
            self.text = credentials

    async def delete(self, definition: ServerDefinition) -> None:
        del definition
        self.text = None

    @property
    def token(self) -> str:
        """Return the token."""
        return Credentials.model_validate_json(self.text or "").tokens.access_token


@pytest.fixture(scope="module")
def server() -> Iterator[OAuthServer]:
    with oauth_server() as running:
        yield running


@pytest.fixture
def definition(server: OAuthServer) -> ServerDefinition:
    return ServerDefinition(id="s1", user_id="u1", name="locked", type="streamableHttp", base_url=server.mcp_url)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def sign_ins(store: MemoryStore, server: OAuthServer, definition: ServerDefinition) -> SignIns:
    """The sign-ins, with one that is done."""
    made = SignIns(store, AddressGuard(["127.0.0.1"]), utc_now)
    address = await made.begin(definition, "http://127.0.0.1:1/callback")
    params = await asyncio.to_thread(server.agree, address)
    await made.finish(definition, Comeback(state=params["state"], code=params["code"]))
    server.provider.refreshes = 0
    return made


async def test_callers_at_the_same_time_share_one_refresh(
    sign_ins: SignIns, store: MemoryStore, server: OAuthServer, definition: ServerDefinition
) -> None:
    before = store.token
    fresh = await asyncio.gather(*(sign_ins.tokens.after(definition, before) for _ in range(6)))
    late = await sign_ins.tokens.after(definition, before)
    assert {*fresh, late} == {store.token}
    assert store.token != before
    assert server.provider.refreshes == 1


async def test_a_refresh_goes_on_when_its_caller_is_cancelled(
    sign_ins: SignIns, store: MemoryStore, definition: ServerDefinition
) -> None:
    before = store.token
    caller = asyncio.create_task(sign_ins.tokens.after(definition, before))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.wait({caller})
    await sign_ins.aclose()
    assert caller.cancelled()
    assert store.token != before


async def test_a_refresh_after_a_sign_out_brings_nothing_back(
    sign_ins: SignIns, store: MemoryStore, definition: ServerDefinition
) -> None:
    before = store.token
    refresh = asyncio.create_task(sign_ins.tokens.after(definition, before))
    await asyncio.sleep(0)
    await sign_ins.sign_out(definition)
    await asyncio.wait({refresh})
    assert store.text is None


async def test_a_refresh_that_has_no_end_is_given_up(
    sign_ins: SignIns, store: MemoryStore, definition: ServerDefinition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "REFRESH_SECONDS", 0.2)
    credentials = Credentials.model_validate_json(store.text or "")
    assert credentials.service
    async with raw_server() as slow:
        slow.replies = [Sent([b"HTTP/1.1 200 OK\r\n"], stalls=True)]
        credentials.service.token_endpoint = AnyHttpUrl(slow.url)
        store.text = credentials.model_dump_json()
        async with asyncio.timeout(5):
            with pytest.raises(FaultError) as raised:
                await sign_ins.tokens.after(definition, store.token)
    assert raised.value.reason.code == "timeout"
