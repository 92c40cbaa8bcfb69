from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from drive_server.http.access import WRONG_KEYS as FAILURES
from drive_server.kernel.rate_limiter import network_of
from drive_server.storage.tables.people import ApiKeyRow
from tests.drive_server.http.wire import Wire

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

ME = "/api/auth/me"
KEYS = "/api/auth/keys"


async def log_in(client: httpx.AsyncClient, token: str) -> None:
    response = await client.post("/api/auth/login", json={"token": token})
    assert response.status_code == 200, response.text


async def test_the_local_token_proves_the_owner(owner_client: httpx.AsyncClient) -> None:
    me = (await owner_client.get(ME)).json()

    assert (me["email"], me["is_admin"], me["method"]) == ("me@localhost", True, "token")
    assert me["scopes"] == ["delete", "read", "share", "write"]


async def test_without_a_key_or_with_a_bad_one_nobody_comes_in(service: Service) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer dak_wrong"},
        {"Authorization": f"Basic {service.token}"},
        {"Authorization": service.token},
        {"Authorization": "Bearer " + "x" * 5000},
        {"Cookie": "drive_session=das_wrong"},
        {"Cookie": "drive_session="},
    ):
        async with service.client("") as client:
            for path in (ME, "/api/drive/items/root", "/api/drive/files/x/content", KEYS, "/api/drive/index"):
                response = await client.get(path, headers=headers)

                assert (response.status_code, response.json()["code"]) == (401, "unauthenticated"), headers
                assert response.headers["www-authenticate"].startswith("Bearer")


async def test_a_browser_logs_in_acts_and_logs_out(service: Service) -> None:
    async with service.client("") as browser:
        answer = await browser.post("/api/auth/login", json={"token": f" {service.token}\n"})
        cookie = answer.headers["set-cookie"].lower()
        me = (await browser.get(ME)).json()
        session = browser.cookies["drive_session"]
        made = await browser.post("/api/drive/items", json={"kind": "folder", "name": "A"})
        gone = await browser.post("/api/auth/logout")
        after = await browser.get(ME, headers={"Cookie": f"drive_session={session}"})

    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert "secure" not in cookie
    assert service.token not in cookie
    assert (me["email"], me["method"]) == ("me@localhost", "session")
    assert (made.status_code, gone.status_code, after.status_code) == (201, 204, 401)
    assert "drive_session" not in browser.cookies


async def test_a_wrong_token_opens_no_session(service: Service) -> None:
    async with service.client("") as browser:
        wrong = await browser.post("/api/auth/login", json={"token": "dak_wrong"})
        malformed = [
            await browser.post("/api/auth/login", json=body) for body in ({}, {"token": 7}, {"token": "x" * 16_385})
        ]

    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers
    assert [response.status_code for response in malformed] == [422, 422, 422]
    assert all("x" * 100 not in response.text for response in malformed)


async def test_after_ten_wrong_tokens_an_address_waits(service: Service) -> None:
    async with service.client("") as browser:
        tried = [await browser.post("/api/auth/login", json={"token": "dak_wrong"}) for _ in range(FAILURES)]
        refused = await browser.post("/api/auth/login", json={"token": "dak_wrong"})
        right = await browser.post("/api/auth/login", json={"token": service.token})

    assert {response.status_code for response in tried} == {401}
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) <= 60
    assert right.status_code == 200


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("192.0.2.1", "192.0.2.1"),
        ("", ""),
        ("not an address", "not an address"),
    ],
)
def test_one_persons_addresses_count_as_one(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_another_sites_page_can_not_act_with_the_cookie(service: Service, headers: dict[str, str]) -> None:
    async with service.client("") as browser:
        await log_in(browser, service.token)
        forged = await browser.post("/api/drive/items", json={"kind": "folder", "name": "A"}, headers=headers)
        reading = await browser.get("/api/drive/items/root/children", headers=headers)

    assert (forged.status_code, forged.json()["code"]) == (403, "forbidden")
    assert reading.json()["items"] == []


@pytest.mark.parametrize("header", ["Origin", "Sec-Fetch-Site"])
async def test_the_services_own_page_can(service: Service, header: str) -> None:
    own = {"Origin": service.url, "Sec-Fetch-Site": "same-origin"}
    async with service.client("") as browser:
        await log_in(browser, service.token)
        made = await browser.post(
            "/api/drive/items", json={"kind": "folder", "name": "A"}, headers={header: own[header]}
        )

    assert made.status_code == 201


async def test_a_bearer_token_goes_before_the_cookie(service: Service) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with service.client("") as browser:
        await log_in(browser, service.token)
        me = await browser.get(ME, headers={"Authorization": f"Bearer {bobs_key}"})
        wrong = await browser.get(ME, headers={"Authorization": "Bearer dak_wrong"})

    assert me.json()["email"] == "bob@example.com"
    assert wrong.status_code == 401


async def test_a_session_that_is_over_is_logged_out_of_as_well(service: Service) -> None:
    async with service.client("") as browser:
        stale = {"Cookie": "drive_session=das_over"}
        gone = await browser.post("/api/auth/logout", headers=stale)
        everywhere = await browser.post("/api/auth/logout", params={"everywhere": "true"}, headers=stale)

    assert (gone.status_code, everywhere.status_code) == (204, 401)
    assert 'drive_session=""' in gone.headers["set-cookie"]


async def test_all_sessions_of_a_person_end_at_once(service: Service) -> None:
    async with service.client("") as laptop, service.client("") as phone:
        await log_in(laptop, service.token)
        await log_in(phone, service.token)
        await laptop.post("/api/auth/logout", params={"everywhere": "true"})

        assert (await phone.get(ME)).status_code == 401
    async with service.client() as key:
        assert (await key.get(ME)).status_code == 200


async def test_a_key_with_fewer_scopes_than_a_session_does_not_sign_everybody_out(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    made = await owner_client.post("/api/auth/keys", json={"name": "reader", "scopes": ["read"]})
    async with service.client("") as laptop, service.client(made.json()["key"]) as reader:
        await log_in(laptop, service.token)
        refused = await reader.post("/api/auth/logout", params={"everywhere": "true"})

        assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")
        assert (await laptop.get(ME)).status_code == 200


async def test_a_session_has_the_scopes_of_its_key_and_ends_with_it(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    made = (await owner_client.post(KEYS, json={"name": "reader", "scopes": ["read"], "days": 1})).json()
    async with service.client("") as browser:
        await log_in(browser, made["key"])
        me = (await browser.get(ME)).json()
        refused = await browser.post("/api/drive/items", json={"kind": "folder", "name": "A"})

    assert (me["scopes"], me["expires_at"]) == (["read"], made["expires_at"])
    assert (refused.status_code, refused.json()["details"]) == (403, {"scope": "write"})


async def test_a_revoked_key_takes_its_sessions_with_it_and_no_others(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    made = (await owner_client.post(KEYS, json={"name": "reader", "scopes": ["read"]})).json()
    async with service.client("") as browser, service.client("") as second, service.client("") as other:
        await log_in(browser, made["key"])
        await log_in(second, browser.cookies["drive_session"])
        await log_in(other, service.token)
        await owner_client.delete(f"{KEYS}/{made['id']}")

        assert [(await client.get(ME)).status_code for client in (browser, second, other)] == [401, 401, 200]


async def test_the_secret_of_a_session_is_not_kept(service: Service) -> None:
    async with service.client("") as browser:
        await log_in(browser, service.token)
        secret = browser.cookies["drive_session"]
    async with service.drive.database.read() as session:
        rows = (await session.scalars(select(ApiKeyRow).where(ApiKeyRow.method == "session"))).all()

    assert len(rows) == 1
    assert all(secret not in str(value) for value in vars(rows[0]).values())


async def test_a_key_is_made_used_listed_and_revoked(service: Service, owner_client: httpx.AsyncClient) -> None:
    made = await owner_client.post(KEYS, json={"name": "laptop 💻", "scopes": ["read", "write"]})
    key = made.json()
    async with service.client(key["key"]) as laptop:
        before = (await laptop.get(ME)).json()
        await owner_client.delete(f"{KEYS}/{key['id']}")
        after = await laptop.get(ME)
    await log_in(owner_client, service.token)
    listed = (await owner_client.get(KEYS)).json()

    assert made.status_code == 201
    assert (before["key_name"], before["scopes"]) == ("laptop 💻", ["read", "write"])
    assert after.status_code == 401
    assert [(entry["name"], entry["revoked_at"] is not None) for entry in listed["items"]] == [
        ("laptop 💻", True),
        ("local access token", False),
    ]
    assert all("key" not in entry for entry in listed["items"])
    assert key["key"].startswith(key["prefix"])


async def test_bad_keys_are_not_made(service: Service, owner_client: httpx.AsyncClient) -> None:
    good = {"name": "k", "scopes": ["read"]}
    for change in (
        {"name": ""},
        {"name": "x" * 101},
        {"name": "a\0b"},
        {"scopes": []},
        {"scopes": ["admin"]},
        {"scopes": "read"},
        {"scopes": ["read"] * 11},
        {"days": True},
        {"days": "5"},
        {"days": 0},
        {"days": 10**9},
        {"days": "many"},
        {"user_id": "somebody"},
    ):
        response = await owner_client.post(KEYS, json={**good, **change})
        assert (response.status_code, response.json()["code"]) == (422, "invalid_argument"), change

    async with service.drive.database.read() as session:
        assert await session.scalar(select(func.count()).select_from(ApiKeyRow)) == 1


async def test_a_key_gives_no_more_than_it_has(service: Service, owner_client: httpx.AsyncClient) -> None:
    reader = (await owner_client.post(KEYS, json={"name": "reader", "scopes": ["read"]})).json()["key"]
    async with service.client(reader) as client:
        refused = await client.post(KEYS, json={"name": "more", "scopes": ["read", "delete"]})

    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")


async def test_somebody_elses_key_is_answered_like_one_that_does_not_exist(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    foreign = (await owner_client.get(KEYS)).json()["items"][0]["id"]

    answers = [await bobs_client.delete(f"{KEYS}/{key_id}") for key_id in (foreign, "0" * 32, "x", "a%00b")]

    assert {response.status_code for response in answers} == {404}
    assert (await owner_client.get(ME)).status_code == 200


async def test_only_an_administrator_adds_people(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    by_bob = await bobs_client.post("/api/users", json={"email": "carol@example.com"})
    again = await owner_client.post("/api/users", json={"email": "BOB@example.com"})
    bad = [await owner_client.post("/api/users", json={"email": email}) for email in ("", "nobody", "a@b\0", "x" * 400)]
    carols = await service.add_person("卡罗尔@example.com")
    async with service.client(carols) as carol:
        me = (await carol.get(ME)).json()

    assert (by_bob.status_code, by_bob.json()["code"]) == (403, "forbidden")
    assert again.status_code == 409
    assert {response.status_code for response in bad} == {422}
    assert (me["email"], me["is_admin"]) == ("卡罗尔@example.com", False)


async def test_scopes_that_are_given_and_taken_act_within_what_is_open(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    made = (await owner_client.post(KEYS, json={"name": "laptop", "scopes": ["read"]})).json()
    path = f"{KEYS}/{made['id']}"
    async with service.client(made["key"]) as laptop, service.client("") as browser:
        await log_in(browser, made["key"])
        wire = Wire(laptop)
        await wire.open()
        before = await wire.post("tools/call", {"name": "whoami", "arguments": {}})
        changed = await owner_client.patch(path, json={"scopes": ["write", "share"]})
        after = await wire.post("tools/call", {"name": "whoami", "arguments": {}})
        in_browser = (await browser.get(ME)).json()
        await owner_client.delete(path)
        ended = await wire.post("tools/call", {"name": "whoami", "arguments": {}})

    assert '"scopes":["read"]' in before.text
    assert (changed.status_code, changed.json()["scopes"]) == (200, ["share", "write"])
    assert "key" not in changed.json()
    assert '"scopes":["share","write"]' in after.text
    assert in_browser["scopes"] == []
    assert ended.status_code == 401


async def test_a_key_gives_and_takes_no_more_than_it_has(service: Service, owner_client: httpx.AsyncClient) -> None:
    reader = (await owner_client.post(KEYS, json={"name": "reader", "scopes": ["read"]})).json()
    strong = (await owner_client.post(KEYS, json={"name": "strong", "scopes": ["read", "write"]})).json()
    async with service.client(reader["key"]) as client:
        more = await client.patch(f"{KEYS}/{reader['id']}", json={"scopes": ["read", "delete"]})
        weaken = await client.patch(f"{KEYS}/{strong['id']}", json={"scopes": ["read"]})

    assert [(answer.status_code, answer.json()["code"]) for answer in (more, weaken)] == [(403, "missing_scope")] * 2


async def test_what_is_no_living_key_of_ones_own_keeps_its_scopes(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    local = (await owner_client.get(KEYS)).json()["items"][0]["id"]
    gone = (await owner_client.post(KEYS, json={"name": "gone", "scopes": ["read"]})).json()["id"]
    await owner_client.delete(f"{KEYS}/{gone}")
    async with service.client("") as browser:
        await log_in(browser, service.token)
    async with service.drive.database.read() as session:
        cookie = await session.scalar(select(ApiKeyRow.id).where(ApiKeyRow.method == "session"))
    body = {"scopes": ["read"]}

    ended = [await owner_client.patch(f"{KEYS}/{key_id}", json=body) for key_id in (local, gone, cookie)]
    foreign = [await bobs_client.patch(f"{KEYS}/{key_id}", json=body) for key_id in (local, "0" * 32, "x", "a%00b")]
    bad = [
        await owner_client.patch(f"{KEYS}/{local}", json=change)
        for change in ({}, {"scopes": []}, {"scopes": ["admin"]}, {"scopes": "read"}, {**body, "name": "x"})
    ]

    assert {(answer.status_code, answer.json()["code"]) for answer in ended} == {(409, "state_conflict")}
    assert {answer.status_code for answer in foreign} == {404}
    assert {answer.status_code for answer in bad} == {422}
    assert (await owner_client.get(ME)).json()["scopes"] == ["delete", "read", "share", "write"]


async def test_only_an_administrator_sees_who_has_an_account(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    listed = (await owner_client.get("/api/users")).json()["items"]
    refused = await bobs_client.get("/api/users")

    assert [(user["email"], user["is_admin"]) for user in listed] == [
        ("bob@example.com", False),
        ("me@localhost", True),
    ]
    assert refused.status_code == 403


async def test_a_cookie_is_for_https_alone_where_a_trusted_proxy_says_so(service: Service) -> None:
    async with service.client("") as browser:
        answers = [
            await browser.post("/api/auth/login", json={"token": service.token}, headers=headers)
            for headers in ({"X-Forwarded-Proto": "https"}, {"X-Forwarded-Proto": "http"}, {})
        ]

    assert ["secure" in answer.headers["set-cookie"].lower() for answer in answers] == [True, False, False]


async def test_no_other_site_may_read_an_answer(service: Service) -> None:
    asking = {"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"}
    async with service.client() as client:
        for path in (ME, "/mcp", "/.well-known/oauth-protected-resource"):
            for answer in (await client.options(path, headers=asking), await client.get(path, headers=asking)):
                assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("origin", ["http://[", "http://]/", "null", ""])
async def test_an_origin_that_is_no_address_is_another_site(service: Service, origin: str) -> None:
    async with service.client("") as browser:
        await log_in(browser, service.token)
        refused = await browser.post(KEYS, json={"name": "x", "scopes": ["read"]}, headers={"Origin": origin})

    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
