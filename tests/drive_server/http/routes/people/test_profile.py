from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from drive_server.services.people.service import MAX_NAME_CHARACTERS
from tests.drive_server.http.streamable_http.test_endpoint import remote

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service

BOB = "bob@example.com"
ME = "/api/auth/me"
PROFILE = {"name": "Bob Stone", "time_zone": "Asia/Tokyo", "language": "zh"}


async def test_a_person_says_who_they_are_and_takes_it_back(bobs_client: httpx.AsyncClient) -> None:
    changed = await bobs_client.patch(ME, json={**PROFILE, "name": "  Bob   Stone "})
    part = await bobs_client.patch(ME, json={"time_zone": "Europe/Paris"})
    none = await bobs_client.patch(ME, json=dict.fromkeys(PROFILE, ""))

    assert changed.status_code == 200
    assert {name: changed.json()[name] for name in PROFILE} == PROFILE
    assert {name: part.json()[name] for name in PROFILE} == {**PROFILE, "time_zone": "Europe/Paris"}
    assert {none.json()[name] for name in PROFILE} == {""}
    assert (await bobs_client.get(ME)).json() == none.json()


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "x" * (MAX_NAME_CHARACTERS + 1)},
        {"name": "Bob\u202eenots"},
        {"time_zone": "Mars/Base"},
        {"time_zone": "../../etc/passwd"},
        {"language": "fr"},
        {"email": "eve@example.com"},
        {"is_admin": True},
    ],
)
async def test_a_bad_profile_changes_nothing(bobs_client: httpx.AsyncClient, bad: dict[str, object]) -> None:
    before = (await bobs_client.get(ME)).json()
    refused = await bobs_client.patch(ME, json={"name": "Bob", **bad})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_argument")
    assert (await bobs_client.get(ME)).json() == before


async def test_a_key_that_only_reads_changes_no_profile(service: Service, bobs_client: httpx.AsyncClient) -> None:
    made = (await bobs_client.post("/api/auth/keys", json={"name": "r", "scopes": ["read"]})).json()
    async with service.client(made["key"]) as reader:
        refused = await reader.patch(ME, json=PROFILE)
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")


async def test_tools_tell_the_name_and_the_moment_of_the_profile_in_sessions_that_are_open(service: Service) -> None:
    key = await service.add_person(BOB)
    async with remote(service, key) as host, service.client(key) as bob:
        before = await host.call("whoami")
        await bob.patch(ME, json=PROFILE)
        after = await host.call("whoami")
    assert ("name" in before, before["email"]) == (False, BOB)
    assert (after["name"], after["time_zone"], after["time"][-5:]) == ("Bob Stone", "Asia/Tokyo", "+0900")


async def test_errors_and_pages_are_in_the_language_of_the_profile(
    service: Service, bobs_client: httpx.AsyncClient
) -> None:
    spoken = {"Accept-Language": "en-GB,en;q=0.9"}
    wrong = "/api/drive/items/nothing"
    english = await bobs_client.get(wrong, headers=spoken)
    await bobs_client.patch(ME, json={"language": "zh"})
    answers = [
        await bobs_client.get(wrong, headers=spoken),
        await bobs_client.post("/api/drive/items", json={"kind": "x"}, headers=spoken),
    ]
    chosen = await bobs_client.get(wrong, params={"lang": "en"}, headers=spoken)
    async with httpx.AsyncClient(base_url=service.url, headers={**bobs_client.headers, **spoken}) as browser:
        page = await browser.get("/f/nothing/document")

    assert [one.headers["content-language"] for one in (english, chosen)] == ["en", "en"]
    assert [one.headers["content-language"] for one in answers] == ["zh-CN", "zh-CN"]
    assert 'lang="zh-CN"' in page.text
