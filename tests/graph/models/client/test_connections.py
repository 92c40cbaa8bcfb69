"""The way to a model's service: connections, proxies, certificates."""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import HumanMessage

from graph.errors import ModelOutputError, ModelUnavailableError
from graph.model_factory import Clients, build_models
from graph.models.asking import ask
from graph.models.client import proxy_for
from graph.settings import AgentSettings
from tests.fakes.openai_server import running_server, text
from tests.fakes.raw_server import RawServer, Sent, certificate, raw_server, whole

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel

    Build = Callable[..., BaseChatModel]

HI = [HumanMessage("hi")]
BODY = b'data: {"choices": [{"index": 0, "delta": {"content": "Yes"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
EVENTS = "content-type: text/event-stream"
YES = Sent([whole(BODY, EVENTS)])
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def server() -> AsyncGenerator[RawServer]:
    async with raw_server() as server:
        yield server


@pytest.fixture
async def build(server: RawServer) -> AsyncGenerator[Callable[..., BaseChatModel]]:
    async with aclosing(Clients()) as clients:

        def at(url: str = server.url) -> BaseChatModel:
            return build_models(_settings(url), clients)["agent"]

        yield at


def _settings(url: str) -> AgentSettings:
    given: dict[str, Any] = {"model": "m", "openai_api_key": "k", "openai_base_url": url, "model_retries": 0}
    return AgentSettings.model_validate(given)


async def test_a_hundred_at_once_do_not_wait_for_one_another(build: Build, server: RawServer) -> None:
    server.replies = [Sent([b"", *YES.parts])] * 101
    model = build()
    asking = [asyncio.create_task(ask(model, HI)) for _ in range(101)]
    for _ in asking:
        await server.arrived.acquire()
    server.more.set()
    assert [answer.text for answer in await asyncio.gather(*asking)] == ["Yes"] * 101


async def test_cookies_are_not_kept(build: Build, server: RawServer) -> None:
    server.replies = [Sent([whole(BODY, EVENTS, "set-cookie: a=b; Path=/")]), YES]
    for _ in range(2):
        await ask(build(), HI)
    assert "cookie" not in server.heads[1].lower()
    assert server.opened == 1


async def test_a_redirection_is_not_followed(build: Build, server: RawServer) -> None:
    server.replies = [Sent([whole(b"", f"location: {server.url}/elsewhere", status="307 Temporary Redirect")]), YES]
    with pytest.raises(ModelOutputError):
        await ask(build(), HI)
    assert len(server.heads) == 1


async def test_a_request_of_megabytes_is_sent_whole(build: Build, server: RawServer) -> None:
    server.replies = [YES]
    await ask(build(), [HumanMessage("四" * 1_000_000)])
    assert server.bodies[0].decode().count("四") == 1_000_000


async def test_long_headers_are_no_fault(build: Build, server: RawServer) -> None:
    server.replies = [Sent([whole(BODY, EVENTS, "content-security-policy: " + "x" * 40_000)])]
    assert (await ask(build(), HI)).text == "Yes"


async def test_the_key_is_sent_unless_the_address_has_a_name_and_a_password(build: Build, server: RawServer) -> None:
    server.replies = [YES, YES]
    await ask(build(), HI)
    await ask(build(server.url.replace("://", "://me:s%20t@")), HI)
    told = [line for head in server.heads for line in head.split("\r\n") if line.lower().startswith("authorization")]
    assert [line.partition(": ")[2] for line in told] == ["Bearer k", f"Basic {base64.b64encode(b'me:s t').decode()}"]


async def test_a_request_goes_through_the_proxy_of_the_environment(
    build: Build, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = [YES]
    monkeypatch.setenv("HTTP_PROXY", server.url.replace("://", "://me:pw@").removesuffix("/v1"))
    assert (await ask(build("http://models.example/v1"), HI)).text == "Yes"
    assert server.heads[0].startswith("POST http://models.example/v1/chat/completions HTTP/1.1")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'me:pw').decode()}" in server.heads[0]
    assert "Authorization: Bearer k" in server.heads[0].replace("authorization", "Authorization")


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({}, "https://models.example/v1", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https://models.example/v1", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://models.example/v1", None),
        ({"HTTP_PROXY": "p:1"}, "http://models.example/v1", "http://p:1"),
        ({"ALL_PROXY": "http://p:1"}, "https://models.example/v1", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "HTTPS_PROXY": "http://q:2"}, "https://models.example/v1", "http://q:2"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "*"}, "https://models.example/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "a.b, models.example"}, "https://models.example/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": ".example"}, "https://models.example/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "dels.example"}, "https://models.example/v1", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "localhost,127.0.0.1"}, "http://127.0.0.1:8000/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "::1"}, "http://[::1]:8000/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "models.example:81"}, "http://models.example:81/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "models.example:81"}, "http://models.example:82/v1", "http://p:1"),
    ],
)
def test_the_environment_names_the_proxy(
    environment: dict[str, str], url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy


def test_a_proxy_that_can_not_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://me:secret@p:1")
    with pytest.raises(ValueError, match="socks5") as told:
        proxy_for("https://models.example/v1")
    assert "secret" not in str(told.value)


def test_clients_that_nobody_closes_end_with_their_event_loop(caplog: pytest.LogCaptureFixture) -> None:
    with running_server() as server, caplog.at_level(logging.WARNING):
        server.replies = [text("Yes")]
        assert asyncio.run(ask(build_models(_settings(server.url))["agent"], HI)).text == "Yes"
    assert caplog.messages == []


async def test_only_a_service_with_a_certificate_that_is_known_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    async with raw_server(context) as server:
        server.replies = [YES]
        async with aclosing(Clients()) as clients:
            with pytest.raises(ModelUnavailableError):
                await ask(build_models(_settings(server.url), clients)["agent"], HI)
        assert server.heads == []
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        async with aclosing(Clients()) as clients:
            assert (await ask(build_models(_settings(server.url), clients)["agent"], HI)).text == "Yes"


async def test_a_proxy_that_refuses_is_a_service_that_is_not_available(
    build: Build, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = [Sent([whole(b"", status="407 Proxy Authentication Required")])]
    monkeypatch.setenv("HTTPS_PROXY", server.url.removesuffix("/v1"))
    with pytest.raises(ModelUnavailableError) as caught:
        await ask(build("https://models.example/v1"), HI)
    assert "407" in str(caught.value)
    assert "Bearer" not in server.heads[0]
