from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import httpx
import pytest

from drive_server.http.app import create_app
from tests.drive_server.http.dav.client import dav_of

if TYPE_CHECKING:
    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

ZERO = {"Depth": "0"}


async def test_a_key_is_the_password_of_any_name_and_a_bearer_token(service: Service) -> None:
    for key in (service.token, await service.add_person("bob@example.com")):
        async with dav_of(service, key) as dav:
            assert (await dav.send("PROPFIND", "/", Depth="0")).status_code == 207
        async with service.client(key) as client:
            assert (await client.request("PROPFIND", "/dav/", headers=ZERO)).status_code == 207


async def test_who_does_not_sign_in_is_asked_to(service: Service) -> None:
    async with dav_of(service, "") as dav:
        for method in ("PROPFIND", "GET", "PUT", "OPTIONS"):
            response = await dav.send(method, "/", Depth="0")
            assert response.status_code == 401
            assert response.headers.get_list("www-authenticate")[0].startswith("Basic ")
    async with dav_of(service, "dak_wrong") as dav:
        assert (await dav.send("PROPFIND", "/", Depth="0")).status_code == 401


async def test_a_browser_s_session_opens_nothing_here(service: Service) -> None:
    async with service.client("") as client:
        await client.post("/api/auth/login", json={"token": service.token})
        secret = client.cookies["drive_session"]
        assert (await client.get("/api/auth/me")).status_code == 200
        assert (await client.request("PROPFIND", "/dav/", headers=ZERO)).status_code == 401
        assert (await client.request("PROPFIND", "/dav/", headers=ZERO, auth=("x", secret))).status_code == 401


async def test_ten_wrong_keys_are_enough_for_a_minute(service: Service) -> None:
    async with dav_of(service, "dak_wrong") as dav:
        for _ in range(10):
            assert (await dav.send("OPTIONS", "/")).status_code == 401
        response = await dav.send("OPTIONS", "/")
        assert (response.status_code, int(response.headers["retry-after"]) > 0) == (429, True)
    async with dav_of(service, service.token) as dav, service.client("") as client:
        assert (await dav.send("PROPFIND", "/", Depth="0")).status_code == 207, "a right key gets in"
        tried = [await client.post("/api/auth/login", json={"token": f"dak_{number}"}) for number in range(10)]
        assert tried[-1].status_code == 429, "the same count as that of other sign-ins"


@pytest.mark.parametrize(
    ("base", "peer", "status"),
    [
        ("http://127.0.0.1", "127.0.0.1", 207),
        ("http://drive.example", "203.0.113.9", 403),
        ("https://drive.example", "203.0.113.9", 207),
    ],
)
async def test_a_password_comes_by_tls_or_from_this_machine(
    drive_settings: DriveSettings, base: str, peer: str, status: int
) -> None:
    app = create_app(drive_settings)
    async with app.router.lifespan_context(app):
        _, token = await app.state.drive.identity.ensure_local_user()
        transport = httpx.ASGITransport(app, client=(peer, 4711))
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            response = await client.request("PROPFIND", "/dav/", headers=ZERO, auth=("x", token))
            assert response.status_code == status
            asked = await client.request("PROPFIND", "/dav/", headers=ZERO)
            offers = asked.headers.get_list("www-authenticate")
            assert any(offer.startswith("Basic") for offer in offers) == (status == 207)
            by_token = {**ZERO, "Authorization": f"Bearer {token}"}
            assert (await client.request("PROPFIND", "/dav/", headers=by_token)).status_code == 207


async def test_credentials_that_can_t_be_read_are_none(service: Service) -> None:
    async with service.client("") as client:
        for credentials in ("%%%", b64encode(b"no colon").decode(), b64encode(b"\xff:\xff").decode(), "x" * 40_000):
            headers = {**ZERO, "Authorization": f"Basic {credentials}"}
            assert (await client.request("PROPFIND", "/dav/", headers=headers)).status_code == 401


async def test_the_server_says_at_its_root_that_there_is_webdav(service: Service) -> None:
    async with service.client("") as client:
        response = await client.options("/")
        assert (response.headers["dav"], response.headers["ms-author-via"]) == ("1, 2, 3", "DAV")
