"""Every address in an answer leads to where the request came in, or to where the settings say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote

if TYPE_CHECKING:
    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

LISTENER = "http://127.0.0.1:8110"


async def addresses(service: Service, host: str) -> dict[str, str]:
    """Return the addresses that plain HTTP answers name, asked with this Host."""
    async with service.client() as client:
        uploaded = await client.post("/api/drive/files", params={"name": "a.txt"}, content=b"quokka")
        file: dict[str, Any] = uploaded.json()
        await service.drive.ingester.drain()
        client.headers["Host"] = host
        shared = await client.post(f"/api/drive/items/{file['id']}/shares", json={"role": "viewer"})
        found = await client.get("/api/drive/search", params={"q": "quokka", "mode": "text"})
        login = await client.post("/api/auth/login-links")
    named = {
        "link": shared.json()["url"],
        "hit": found.json()["hits"][0]["address"],
        "login": login.json()["url"],
    }
    return {name: re.match(r"https?://[^/]+", address)[0] for name, address in named.items()}  # pyright: ignore[reportOptionalSubscript] - all are addresses


def port(service: Service) -> str:
    return service.url.rpartition(":")[2]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
async def test_addresses_lead_to_the_host_of_the_request(service: Service, name: str) -> None:
    host = f"{name}:{port(service)}"

    assert set((await addresses(service, host)).values()) == {f"http://{host.lower()}"}


@pytest.mark.parametrize("host", ["evil.example", "localhost@evil.example", "localhost:x", "localhost/a", "127.0.0.2"])
async def test_a_host_that_is_none_of_ours_names_no_address(drive_settings: DriveSettings, host: str) -> None:
    async with running(drive_settings.listening_at(LISTENER)) as service:
        assert set((await addresses(service, host)).values()) == {LISTENER}


async def test_a_host_in_the_settings_counts(drive_settings: DriveSettings) -> None:
    async with running(drive_settings.model_copy(update={"public_hosts": "drive.lan"})) as service:
        assert set((await addresses(service, "drive.lan:9000")).values()) == {"http://drive.lan:9000"}


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ({"public_url": "https://drive.example.com"}, "https://drive.example.com"),
        # Tokens are meant for one address: another name of this service is another resource to their issuer.
        ({"jwt_issuer": "https://login.example.com"}, LISTENER),
    ],
)
async def test_where_one_address_is_meant_no_request_names_another(
    drive_settings: DriveSettings, update: dict[str, str], expected: str
) -> None:
    async with running(drive_settings.listening_at(LISTENER).model_copy(update=update)) as service:
        assert set((await addresses(service, "localhost")).values()) == {expected}


async def test_what_an_mcp_host_is_told_leads_to_where_it_asked(service: Service) -> None:
    async with remote(service, service.token) as host:
        file = await host.call("create_file", name="plan.md", content="The plan is ready.")
        read = await host.call("read_file", file_id=file["id"])
        download = await host.call("get_download_url", file_id=file["id"])
        citation = {"file_id": file["id"], "quote": "The plan is ready"}
        cited = await host.call("check_citations", citations=[citation])

    told = [read["address"], download["url"], cited["citations"][0]["address"]]
    assert all(address.startswith(f"{service.url}/") for address in told), told
