"""No page of another site changes anything by a browser: each route that changes something is asked by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.http.test_scopes import body_of, key_of, operations, value_of

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

EVIL = ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"})
FORMS = ("/authorize", "/login", "/login/x", "/connect/x", "/password/x", "/s/x", "/f/x")
"""Pages with forms."""
HARMLESS = {"POST /auth/login/passkey/options"}
"""It gives a challenge, which another site's page can't read."""


async def other_site_asks(
    browser: httpx.AsyncClient, method: str, url: str, headers: dict[str, str], body: object = None
) -> tuple[int, str]:
    answer = await browser.request(method, url, json=body, headers=headers)
    is_json = "json" in answer.headers.get("content-type", "")
    return answer.status_code, (answer.json() or {}).get("code", "") if is_json else ""


@pytest.mark.parametrize("headers", EVIL, ids=str)
async def test_no_route_that_changes_something_is_open_to_another_site(
    service: Service, headers: dict[str, str]
) -> None:
    async with service.client("") as browser:
        await browser.post("/api/auth/login", json={"token": service.token})
        document = (await browser.get("/openapi.json")).json()
        schemas, session = document["components"]["schemas"], browser.cookies["drive_session"]
        open_to_all: set[str] = set()
        for method, path, operation in operations(document):
            if method == "get":
                continue
            url = path
            for parameter in operation.get("parameters", ()):
                url = url.replace(f"{{{parameter['name']}}}", value_of(parameter, "root"))
            browser.cookies.set("drive_link", "x")
            status, code = await other_site_asks(browser, method, url, headers, body_of(operation, schemas))
            if (status, code) != (403, "forbidden"):
                open_to_all.add(key_of(method, path))
        assert open_to_all == HARMLESS
        assert browser.cookies["drive_session"] == session, "nobody was logged out or in"
        assert (await browser.get("/api/auth/me")).status_code == 200


@pytest.mark.parametrize("headers", EVIL, ids=str)
@pytest.mark.parametrize("path", FORMS)
async def test_no_form_of_a_page_is_sent_by_another_site(service: Service, path: str, headers: dict[str, str]) -> None:
    async with service.client("") as browser:
        answer = await browser.post(path, data={"email": "a@b.c", "password": "x", "token": "x"}, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


async def test_a_form_of_another_site_logs_nobody_out_or_in(service: Service) -> None:
    form = {"Origin": "https://evil.example", "Content-Type": "text/plain"}
    async with service.client("") as browser:
        await browser.post("/api/auth/login", json={"token": service.token})
        for path in ("/api/auth/logout", "/api/auth/logout?everywhere=true", "/api/auth/login"):
            assert (await browser.post(path, content=b"{}", headers=form)).status_code == 403, path
        assert (await browser.get("/api/auth/me")).status_code == 200
        own = await browser.post("/api/auth/logout", headers={"Sec-Fetch-Site": "same-origin"})
        assert own.status_code == 204


async def test_programs_without_a_browser_log_in_and_out_as_ever(service: Service) -> None:
    async with service.client("") as program:
        assert (await program.post("/api/auth/login", json={"token": service.token})).status_code == 200
        assert (await program.post("/api/auth/logout")).status_code == 204
