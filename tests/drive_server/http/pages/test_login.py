from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Actor
from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import NotFoundError
from drive_server.services.identity.login_links import MAX_OF_ONE_PERSON, LoginLinks

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

LINKS = "/api/auth/login-links"


async def link(service: Service, key: str | None = None) -> str:
    async with service.client(key) as owner:
        made = await owner.post(LINKS)
    assert made.status_code == 201
    return made.json()["url"]


async def email(browser: httpx.AsyncClient) -> str | None:
    return (await browser.get("/api/auth/me")).json().get("email")


async def test_an_address_logs_one_browser_in_once_and_leads_away(service: Service) -> None:
    url = await link(service)
    assert url.startswith(f"{service.url}/login/")
    async with service.client("") as browser, service.client("") as other:
        opened = await browser.get(url)
        again = await other.get(url)

        assert (opened.status_code, opened.headers["location"]) == (303, "/")
        cookie = opened.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert await email(browser) == "me@localhost"
        assert again.status_code == 404
        assert "leads nowhere" in again.text
        assert "drive-agent login-link" in again.text
        assert "set-cookie" not in again.headers
        assert await email(other) is None


async def test_what_the_address_holds_is_no_key_and_is_stored_by_its_digest_alone(service: Service) -> None:
    secret = (await link(service)).rpartition("/")[2]
    async with service.client(secret) as program:
        assert (await program.get("/api/auth/me")).status_code == 401
        assert (await program.post("/api/auth/login", json={"token": secret})).status_code == 401
    async with service.client("") as stranger:
        assert (await stranger.post(LINKS)).status_code == 401
    assert secret not in repr(vars(service.drive.login_links))
    assert service.token not in secret


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Purpose": "prefetch;prerender"}],
)
async def test_another_site_or_a_browser_that_looks_ahead_logs_nobody_in(
    service: Service, headers: dict[str, str]
) -> None:
    url = await link(service)
    async with service.client("") as browser:
        assert (await browser.head(url)).status_code == 405
        asked = await browser.get(url, headers=headers)
        foreign = await browser.post(url, headers={"Sec-Fetch-Site": "cross-site"})
        own = await browser.post(url, headers={"Sec-Fetch-Site": "same-origin"})

    assert (asked.status_code, foreign.status_code, own.status_code) == (200, 403, 303)
    assert "me@localhost" in asked.text
    assert "set-cookie" not in asked.headers


async def test_a_session_has_the_scopes_of_the_key_that_made_the_address_and_ends_with_it(service: Service) -> None:
    async with service.client() as owner:
        body = {"name": "reader", "scopes": ["read"], "days": 1}
        key = (await owner.post("/api/auth/keys", json=body)).json()
        url, late = await link(service, key["key"]), await link(service, key["key"])
        async with service.client("") as browser, service.client("") as other:
            await browser.get(url)
            me = (await browser.get("/api/auth/me")).json()
            await owner.delete(f"/api/auth/keys/{key['id']}")
            assert (await other.get(late)).status_code == 404
            assert await email(browser) is None

    assert (me["scopes"], me["method"]) == (["read"], "session")
    assert me["expires_at"] <= key["expires_at"]


async def test_an_address_ends_after_ten_minutes_and_the_oldest_of_many_gives_way(service: Service) -> None:
    now = utc_now()
    owner = await service.drive.identity.authenticate(service.token)
    links = LoginLinks(service.drive.database, service.drive.identity, service.url, lambda: now)
    secrets: list[str] = []
    for _ in range(MAX_OF_ONE_PERSON + 1):
        now += timedelta(milliseconds=1)
        secrets.append((await links.create(owner)).url.rpartition("/")[2])

    with pytest.raises(NotFoundError):
        await links.find(secrets[0])
    assert (await links.find(secrets[1])).user_id == Actor(owner).user_id
    now += timedelta(minutes=10)
    with pytest.raises(NotFoundError):
        await links.redeem(secrets[1])


async def test_the_page_speaks_chinese(service: Service) -> None:
    async with service.client("") as browser:
        page = await browser.get("/login/nothing", headers={"Accept-Language": "zh-CN"})

    assert "此地址无效" in page.text
