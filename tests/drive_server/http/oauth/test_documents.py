"""Programs whose id is the address at which they describe themselves."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import drive_server.connect
from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import UnavailableError
from drive_server.services.identity.programs.documents import ClientDocuments, is_document_address
from tests.drive_server.http.oauth.program import REDIRECT, Program
from tests.drive_server.http.service import Service, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.settings import DriveSettings

ADDRESS = "https://host.example/oauth/client.json"
DOCUMENT: dict[str, Any] = {"client_id": ADDRESS, "client_name": "A host", "redirect_uris": [REDIRECT]}


class Host:
    """The site of a program, which counts how often it is asked."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = DOCUMENT
        self.answer: httpx.Response | None = None
        self.asked = 0

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer), follow_redirects=False)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        assert request.url == ADDRESS
        self.asked += 1
        return self.answer or httpx.Response(200, json=self.document)


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
async def described(
    host: Host, drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Program]:
    """A program that is described at its address, and a browser in which the owner is logged in."""
    monkeypatch.setattr(drive_server.connect, "ClientDocuments", partial(ClientDocuments, host.client))
    async with running(drive_settings) as service, service.client("") as browser, service.client("") as outside:
        await browser.post("/api/auth/login", json={"token": service.token})
        yield Program(service, browser, outside, {"client_id": ADDRESS})


async def test_a_program_signs_in_by_the_address_of_its_description(described: Program, host: Host) -> None:
    shown = await described.browser.get(described.address())
    tokens = await described.signed_in()
    opened = await described.mcp(tokens["access_token"])
    refreshed = await described.refresh(tokens["refresh_token"])
    [key] = await described.keys()

    assert ADDRESS in shown.text
    assert "<strong><bdi>host.example</bdi></strong>" in shown.text
    assert (opened.status_code, refreshed.status_code) == (200, 200)
    assert key["name"] == "A host (host.example)"
    assert host.asked == 1


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"client_id": "https://host.example/another.json"}, 400),
        ({"client_id": None}, 400),
        ({"redirect_uris": []}, 400),
        ({"redirect_uris": None}, 400),
        ({"redirect_uris": ["javascript:alert(1)"]}, 400),
        ({"redirect_uris": ["https://other.example/"]}, 400),
        ({"token_endpoint_auth_method": "client_secret_post"}, 400),
        ({"token_endpoint_auth_method": "private_key_jwt"}, 400),
    ],
)
async def test_a_description_that_does_not_fit_lets_nobody_in(
    described: Program, host: Host, changes: dict[str, Any], status: int
) -> None:
    host.document = {**DOCUMENT, **changes}
    shown = await described.browser.get(described.address())
    answer = await described.redeem("dac_x")

    assert (shown.status_code, "<form" in shown.text) == (status, False)
    assert answer.status_code in {400, 401}


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (httpx.Response(404), 503),
        (httpx.Response(302, headers={"Location": "http://127.0.0.1/"}), 503),
        (httpx.Response(200, text="<html>"), 400),
        (httpx.Response(200, json=["a list"]), 400),
    ],
)
async def test_an_address_without_a_description_lets_nobody_in(
    described: Program, host: Host, answer: httpx.Response, status: int
) -> None:
    host.answer = answer
    shown = await described.browser.get(described.address())
    told = await described.redeem("dac_x")

    assert (shown.status_code, "<form" in shown.text) == (status, False)
    assert told.status_code == (503 if status == 503 else 401)
    assert told.json()["error"] == ("temporarily_unavailable" if status == 503 else "invalid_client")


async def test_a_description_holds_for_an_hour_and_for_a_day_while_its_site_is_away(
    host: Host,
) -> None:
    now = utc_now()
    documents = ClientDocuments(host.client, lambda: now)
    first = await documents.get(ADDRESS)
    now += timedelta(minutes=61)
    host.document = {**DOCUMENT, "client_name": "Renamed"}
    second = await documents.get(ADDRESS)
    host.answer = httpx.Response(500)
    now += timedelta(hours=20)
    third = await documents.get(ADDRESS)
    now += timedelta(hours=5)
    with pytest.raises(UnavailableError):
        await documents.get(ADDRESS)
    await documents.close()

    assert [one["client_name"] for one in (first, second, third)] == ["A host", "Renamed", "Renamed"]


async def test_a_host_is_not_asked_again_and_again(host: Host) -> None:
    host.answer = httpx.Response(404)
    documents = ClientDocuments(host.client)
    for _ in range(15):
        with pytest.raises(UnavailableError):
            await documents.get(ADDRESS)
    await documents.close()

    assert host.asked == 10


async def test_the_drive_asks_nobody_in_its_own_network(service: Service) -> None:
    for name in ("127.0.0.1", "localhost", "10.0.0.1", "[::1]", "169.254.169.254"):
        async with service.client("") as browser:
            program = Program(service, browser, browser, {"client_id": f"https://{name}/client.json"})
            shown = await browser.get(program.address())

        assert (shown.status_code, "<form" in shown.text) == (503, False), name


@pytest.mark.parametrize(
    "text",
    [
        "http://host.example/client.json",
        "https://host.example",
        "https://host.example/",
        "https://host.example:8443/client.json",
        "https://user@host.example/client.json",
        "https://host.example/a/../client.json",
        "https://host.example/client.json#part",
        "https://[/client.json",
        "https:///client.json",
        "https://hôst.example/client.json",
    ],
)
def test_no_other_address_is_an_id(text: str) -> None:
    assert is_document_address(ADDRESS)
    assert not is_document_address(text)
