from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from drive_server.kernel.clock import utc_now
from drive_server.storage.tables.people import ApiKeyRow
from drive_server.storage.tables.programs import ProgramGrantRow, ProgramRow
from tests.drive_server.http.oauth.program import REDIRECT, VERIFIER, form_token, register, registered

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service

ELSEWHERE = [
    "https://evil.example/callback",
    "https://claude.example/callback/../other",
    "https://claude.example/callback?next=https://evil.example",
    "https://claude.example/callback/",
    "https://claude.example:8443/callback",
    "https://claude.example.evil.example/callback",
    "https://claude.example@evil.example/callback",
    "https://evil.example\\@claude.example/callback",
    "http://claude.example/callback",
    "//evil.example",
    "javascript:alert(1)",
    "",
]
UNUSABLE = [
    "http://claude.example/callback",
    "https://claude.example/callback#part",
    "https://user:word@claude.example/",
    "https://claude.example/?code=mine",
    "https://claude.example/?state=mine",
    "javascript:alert(1)",
    "JavaScript://claude.example/%0aalert(1)",
    "data:text/html,hello",
    "file:///etc/passwd",
    "vbscript:x",
    "https://claude.example/" + "a" * 2000,
]


async def aged(service: Service, **columns: Any) -> None:
    """Change all grants, as time would."""
    async with service.drive.database.write() as session:
        await session.execute(update(ProgramGrantRow).values(**columns))


@pytest.mark.parametrize("redirect", ELSEWHERE)
async def test_nobody_is_led_to_an_address_that_the_program_did_not_register(service: Service, redirect: str) -> None:
    async with registered(service) as program:
        shown = await program.browser.get(program.address(redirect_uri=redirect))
        form = {"action": "allow", "form": "x", "scope": "read", "days": "7"}
        answered = await program.browser.post(program.address(redirect_uri=redirect), data=form)

    for answer in (shown, answered):
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert "evil.example" not in answer.text
        assert "<form" not in answer.text


@pytest.mark.parametrize("redirect", UNUSABLE)
async def test_a_program_can_not_register_an_address_that_leads_to_no_program(service: Service, redirect: str) -> None:
    answer = await register(service, redirect_uris=[redirect])

    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_redirect_uri", "invalid_client_metadata"}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": "http://127.0.0.1/"}, "invalid_target"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"state": "x" * 5000}, "invalid_request"),
    ],
)
async def test_a_request_that_is_not_taken_leads_nowhere_by_itself(
    service: Service, changes: dict[str, str | None], error: str
) -> None:
    async with registered(service) as program:
        answer = await program.browser.get(program.address(**changes))

    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert "refresh" not in answer.headers
    assert f"{REDIRECT}?error={error}" in answer.text
    assert f"iss={service.url}".replace(":", "%3A").replace("/", "%2F") in answer.text


async def test_a_repeated_parameter_is_refused(service: Service) -> None:
    async with registered(service) as program:
        answer = await program.browser.get(program.address() + "&scope=delete")

    assert (answer.status_code, "<form" in answer.text) == (400, False)


async def test_an_answer_says_whose_it_is(service: Service) -> None:
    async with registered(service) as program:
        told = await program.decide()
        described = (await program.outside.get("/.well-known/oauth-authorization-server")).json()

    assert told["iss"] == described["issuer"] == service.url
    assert described["authorization_response_iss_parameter_supported"] is True
    assert told["state"] == "the state"


async def test_a_code_that_comes_twice_ends_the_tokens_that_came_of_it(service: Service) -> None:
    async with registered(service) as program:
        code = (await program.decide())["code"]
        tokens = (await program.redeem(code)).json()
        before = await program.mcp(tokens["access_token"])
        replayed = await program.redeem(code)
        after = await program.mcp(tokens["access_token"])
        refreshed = await program.refresh(tokens["refresh_token"])

    assert (before.status_code, after.status_code) == (200, 401)
    assert (replayed.status_code, replayed.json()["error"]) == (400, "invalid_grant")
    assert refreshed.json()["error"] == "invalid_grant"


async def test_of_two_who_come_with_a_code_at_once_none_keeps_a_token(service: Service) -> None:
    async with registered(service) as program:
        code = (await program.decide())["code"]
        answers = await asyncio.gather(program.redeem(code), program.redeem(code))
        tokens = [answer.json()["access_token"] for answer in answers if answer.status_code == 200]
        opened = [(await program.mcp(token)).status_code for token in tokens]

    assert len(tokens) <= 1
    assert all(status == 401 for status in opened)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "another-verifier-that-is-as-long-as-it-should-be"}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"redirect_uri": "https://evil.example/callback"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"grant_type": "password"}, "invalid_request"),
    ],
)
async def test_a_code_is_worth_nothing_without_what_belongs_to_it(
    service: Service, changes: dict[str, str], error: str
) -> None:
    async with registered(service) as program:
        answer = await program.redeem((await program.decide())["code"], **changes)

    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert answer.headers["cache-control"] == "no-store"


async def test_a_code_without_a_verifier_is_refused(service: Service) -> None:
    async with registered(service) as program:
        code = (await program.decide())["code"]
        answer = await program.token(grant_type="authorization_code", code=code, redirect_uri=REDIRECT)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


async def test_another_program_gets_nothing_for_a_code_or_a_refresh_token(service: Service) -> None:
    async with registered(service) as program, registered(service, client_name="Another") as other:
        code = (await program.decide())["code"]
        stolen = await other.redeem(code)
        confused = await other.redeem(code, client_id=program.client["client_id"] + "x")
        tokens = (await program.redeem(code)).json()
        refreshed = await other.refresh(tokens["refresh_token"])
        await other.outside.post(
            "/revoke", data={"token": tokens["refresh_token"], "client_id": other.client["client_id"]}
        )
        opened = await program.mcp(tokens["access_token"])

    assert stolen.json()["error"] == "invalid_grant"
    assert (confused.status_code, confused.json()["error"]) == (401, "invalid_client")
    assert refreshed.json()["error"] == "invalid_grant"
    assert opened.status_code == 200


async def test_a_program_with_a_secret_needs_its_own(service: Service) -> None:
    secretive: dict[str, Any] = {"token_endpoint_auth_method": "client_secret_post"}
    async with registered(service, **secretive) as program, registered(service, **secretive) as other:
        code = (await program.decide())["code"]
        without = await program.redeem(code, client_secret="")
        foreign = await program.redeem(code, client_secret=other.client["client_secret"])
        right = await program.redeem(code)

    assert (without.status_code, foreign.status_code, right.status_code) == (401, 401, 200)
    assert without.json()["error"] == foreign.json()["error"] == "invalid_client"
    assert program.client["client_secret"] != other.client["client_secret"]
    assert program.client["client_secret_expires_at"] == 0


async def test_a_refresh_token_that_comes_twice_ends_its_family(service: Service) -> None:
    async with registered(service) as program:
        first = await program.signed_in()
        second = (await program.refresh(first["refresh_token"])).json()
        both = [(await program.mcp(one["access_token"])).status_code for one in (first, second)]
        reused = await program.refresh(first["refresh_token"])
        after = [(await program.mcp(one["access_token"])).status_code for one in (first, second)]
        last = await program.refresh(second["refresh_token"])
        [key] = await program.keys()

    assert both == [200, 200]
    assert (reused.status_code, reused.json()["error"]) == (400, "invalid_grant")
    assert after == [401, 401]
    assert last.json()["error"] == "invalid_grant"
    assert key["revoked_at"] is not None


async def test_a_refresh_gives_no_scope_that_was_not_granted(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in(scope=("read",))
        more = await program.refresh(tokens["refresh_token"], scope="read write")
        same = await program.refresh(tokens["refresh_token"], scope="read")

    assert (more.status_code, more.json()["error"]) == (400, "invalid_scope")
    assert same.json()["scope"] == "read"


async def test_what_has_expired_counts_no_more(service: Service) -> None:
    past = utc_now() - timedelta(seconds=1)
    async with registered(service) as program:
        code = (await program.decide())["code"]
        await aged(service, code_expires_at=past)
        late = await program.redeem(code)
        tokens = await program.signed_in()
        await aged(service, ends_at=past)
        async with service.drive.database.write() as session:
            await session.execute(update(ApiKeyRow).where(ApiKeyRow.method != "session").values(expires_at=past))
        opened = await program.mcp(tokens["access_token"])
        refreshed = await program.refresh(tokens["refresh_token"])

    assert late.json()["error"] == "invalid_grant"
    assert opened.status_code == 401
    assert 'error="invalid_token"' in opened.headers["www-authenticate"]
    assert refreshed.json()["error"] == "invalid_grant"


@pytest.mark.parametrize("path", ["/api/auth/me", "/api/auth/keys", "/api/drive/changes", "/dav/"])
async def test_an_access_token_opens_no_other_door(service: Service, path: str) -> None:
    async with registered(service) as program:
        access = (await program.signed_in())["access_token"]
        by_header = await program.outside.get(path, headers={"Authorization": f"Bearer {access}"})
        by_cookie = await program.outside.get(path, headers={"Cookie": f"drive_session={access}"})
        logged_in = await program.outside.post("/api/auth/login", json={"token": access})

    assert (by_header.status_code, by_cookie.status_code, logged_in.status_code) == (401, 401, 401)


async def test_keys_and_other_secrets_are_no_tokens_of_a_program(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in()
        opened = [await program.mcp(text) for text in (tokens["refresh_token"], "dat_wrong", "dac_x")]
        refreshed = [
            await program.refresh(text) for text in (service.token, tokens["access_token"], "dar_AAAA", "dar_é")
        ]

    assert [answer.status_code for answer in opened] == [401, 401, 401]
    assert {answer.json()["error"] for answer in refreshed} == {"invalid_grant"}


async def test_another_site_can_not_answer_for_the_person(service: Service) -> None:
    async with registered(service) as program:
        token = form_token(await program.browser.get(program.address()))
        form = {"action": "allow", "form": token, "scope": "read", "days": "7"}
        foreign = [
            await program.browser.post(program.address(), data=form, headers=headers)
            for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"})
        ]
        forged = await program.browser.post(program.address(), data={**form, "form": "forged"})
        other_request = await program.browser.post(program.address(scope="read write delete"), data=form)
        keys = await program.keys()

    assert [answer.status_code for answer in (*foreign, forged, other_request)] == [403] * 5
    assert keys == []


async def test_the_form_of_one_browser_is_none_of_another(service: Service) -> None:
    async with registered(service) as program, registered(service) as other:
        token = form_token(await other.browser.get(program.address()))
        form = {"action": "allow", "form": token, "scope": "read", "days": "7"}
        answer = await program.browser.post(program.address(), data=form)

    assert answer.status_code == 403


async def test_no_site_shows_the_page_in_a_frame(service: Service) -> None:
    async with registered(service) as program:
        shown = await program.browser.get(program.address())

    assert shown.headers["x-frame-options"] == "DENY"
    policy = shown.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "form-action 'self' https://claude.example;" in policy
    assert shown.headers["cache-control"] == "no-store"
    assert shown.headers["cross-origin-opener-policy"] == "unsafe-none", "hosts open it as a window of theirs"


async def test_a_person_can_not_grant_what_was_not_asked_for(service: Service) -> None:
    async with registered(service) as program:
        address = program.address(scope="read")
        token = form_token(await program.browser.get(address))
        form = {"action": "allow", "form": token, "days": "7"}
        more = await program.browser.post(address, data={**form, "scope": ["read", "delete"]})
        none = await program.browser.post(address, data=form)
        longer = await program.browser.post(address, data={**form, "scope": "read", "days": "100000"})

    assert (more.status_code, none.status_code, longer.status_code) == (422, 422, 422)


async def test_an_old_login_is_not_enough(service: Service) -> None:
    async with registered(service) as program:
        token = form_token(await program.browser.get(program.address()))
        async with service.drive.database.write() as session:
            await session.execute(update(ApiKeyRow).values(proved_at=utc_now() - timedelta(hours=1)))
        form = {"action": "allow", "form": token, "scope": "read", "days": "7"}
        answered = await program.browser.post(program.address(), data=form)

    assert (answered.status_code, "name='password'" in answered.text) == (403, True)


async def test_a_key_is_no_person_in_front_of_the_page(service: Service) -> None:
    async with registered(service, logs_in=False) as program:
        by_cookie = await program.browser.get(program.address(), headers={"Cookie": f"drive_session={service.token}"})
        by_header = await program.browser.get(program.address(), headers={"Authorization": f"Bearer {service.token}"})

    assert all("name='password'" in shown.text for shown in (by_cookie, by_header))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("Claude\u202egnp.exe", "Claude gnp.exe"),
        ("Cl\u200baude", "Cl aude"),
        ("two\nlines", "two lines"),
        ("' onclick='x", "&#x27; onclick=&#x27;x"),
        ("", "MCP host"),
    ],
)
async def test_a_programs_name_is_a_text_of_one_line(service: Service, name: str, shown: str) -> None:
    async with registered(service, client_name=name) as program:
        page = await program.browser.get(program.address())
        await program.signed_in()
        [key] = await program.keys()

    assert f"<bdi>{shown}</bdi>" in page.text
    assert key["name"].isprintable()


async def test_a_flood_of_registrations_ends(service: Service) -> None:
    statuses = [(await register(service)).status_code for _ in range(102)]
    refused = await register(service)

    assert statuses[:100] == [201] * 100
    assert statuses[100:] == [429, 429]
    assert refused.json()["error"] == "temporarily_unavailable"
    assert 0 < int(refused.headers["retry-after"]) <= 86_400


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'"text"', b'{"redirect_uris": []}', b'{"redirect_uris": "x"}', b"{" + b" " * 40_000 + b"}"],
)
async def test_a_registration_that_is_none_is_refused(service: Service, body: bytes) -> None:
    async with service.client("") as client:
        answer = await client.post("/register", content=body, headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


@pytest.mark.parametrize("path", ["/token", "/revoke"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("{}", "application/json"),
        ("a=" + "x" * 40_000, "application/x-www-form-urlencoded"),
        ("client_id=a&client_id=b", "application/x-www-form-urlencoded"),
    ],
)
async def test_a_body_that_is_no_form_is_refused(service: Service, path: str, body: str, kind: str) -> None:
    async with service.client("") as client:
        answer = await client.post(path, content=body, headers={"Content-Type": kind})

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


async def test_programs_that_nobody_uses_are_forgotten(service: Service) -> None:
    async with registered(service) as used, registered(service, client_name="Unused") as unused:
        await used.signed_in()
        async with service.drive.database.write() as session:
            await session.execute(update(ProgramRow).values(created_at=utc_now() - timedelta(days=2)))
        await service.drive.clients.remove_unused()
        shown = await unused.browser.get(unused.address())
        still = await used.browser.get(used.address())
        answer = await unused.redeem("dac_x", code_verifier=VERIFIER)

    assert (shown.status_code, still.status_code) == (400, 200)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


async def test_a_code_that_nobody_fetched_leaves_no_key(service: Service) -> None:
    async with registered(service) as program:
        await program.decide()
        waiting = await program.keys()
        await aged(service, code_expires_at=utc_now() - timedelta(minutes=5))
        await service.drive.grants.remove_old()
        after = await program.keys()

    assert (len(waiting), after) == (1, [])
