from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drive_server.services.identity.sessions import READ_CHARACTERS, device_of

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

ME = "/api/auth/me"
SESSIONS = "/api/auth/sessions"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605 Version/18.5 Mobile Safari/604.1"


async def log_in(client: httpx.AsyncClient, token: str, browser: str = FIREFOX) -> None:
    answer = await client.post("/api/auth/login", json={"token": token}, headers={"User-Agent": browser})
    assert answer.status_code == 200, answer.text


async def listed(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await client.get(SESSIONS)).json()["items"]


async def test_a_person_sees_their_browsers_newest_first_and_which_one_asks(service: Service) -> None:
    async with service.client("") as first, service.client("") as second, service.client() as key:
        await log_in(first, service.token)
        await log_in(second, service.token, SAFARI)
        seen, by_key = await listed(first), await listed(key)

    assert [(one["device"], one["is_current"]) for one in seen] == [("Safari, iPhone", False), ("Firefox, Linux", True)]
    assert [one["is_current"] for one in by_key] == [False, False]
    assert seen[0].keys() == {"id", "device", "created_at", "expires_at", "last_used_at", "is_current"}


async def test_one_browser_is_logged_out_and_all_others_are(service: Service) -> None:
    async with service.client("") as first, service.client("") as second, service.client("") as third:
        for client in (first, second, third):
            await log_in(client, service.token)
        oldest = (await listed(third))[-1]["id"]
        ended = [(await third.delete(f"{SESSIONS}/{oldest}")).status_code for _ in range(2)]
        after_one = [(await client.get(ME)).status_code for client in (first, second, third)]
        others = (await third.delete(SESSIONS)).status_code
        after_all = [(await client.get(ME)).status_code for client in (second, third)]
        (left,) = await listed(third)

    assert (ended, after_one) == ([204, 404], [401, 200, 200])
    assert (others, after_all, left["is_current"]) == (204, [401, 200], True)


async def test_the_browsers_of_others_are_not_there(service: Service, bobs_client: httpx.AsyncClient) -> None:
    async with service.client("") as browser:
        await log_in(browser, service.token)
        (mine,) = await listed(browser)
        keys = (await browser.get("/api/auth/keys")).json()["items"]
        for wanted in (mine["id"], "0" * 32, "x", keys[0]["id"]):
            refused = await bobs_client.delete(f"{SESSIONS}/{wanted}")
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
        assert (await browser.delete(f"{SESSIONS}/{keys[0]['id']}")).status_code == 404
        await bobs_client.delete(SESSIONS)
        assert await listed(bobs_client) == []
        assert (await browser.get(ME)).status_code == 200


async def test_a_weak_key_ends_no_stronger_session(service: Service, owner_client: httpx.AsyncClient) -> None:
    weak = (await owner_client.post("/api/auth/keys", json={"name": "weak", "scopes": ["read"]})).json()["key"]
    async with service.client("") as browser, service.client(weak) as reader:
        await log_in(browser, service.token)
        (session,) = await listed(reader)
        refused = [await reader.delete(f"{SESSIONS}/{session['id']}"), await reader.delete(SESSIONS)]
        assert [(one.status_code, one.json()["code"]) for one in refused] == [(403, "missing_scope")] * 2
        assert (await browser.get(ME)).status_code == 200


@pytest.mark.parametrize(
    ("words", "device"),
    [
        ("", ""),
        ("<script>alert(1)</script>", ""),
        ("Firefox/1 " * 10_000, "Firefox"),
        ("x" * READ_CHARACTERS + FIREFOX, ""),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140.0 Safari/537 Edg/140.0", "Edge, Windows"),
        ("Mozilla/5.0 (Linux; Android 16) AppleWebKit/537 Chrome/140.0 Mobile Safari/537", "Chrome, Android"),
        ("curl/8.14", "curl"),
    ],
)
def test_of_a_browsers_own_words_only_known_names_are_stored(words: str, device: str) -> None:
    assert device_of(words) == device
