from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from drive_server.kernel.clock import utc_now
from drive_server.storage.tables.people import ApiKeyRow

if TYPE_CHECKING:
    import httpx

    from drive_server.services.identity.sign_ins import SignIn
    from tests.drive_server.http.service import Service

ME = "/api/auth/me"
KEYS = "/api/auth/keys"


async def ask(service: Service, name: str = "Claude Desktop") -> tuple[SignIn, str]:
    """Return a host's request to sign in, and the path of its page."""
    asked = await service.drive.sign_ins.ask(name)
    return asked, urlsplit(asked.url).path


async def log_in(browser: httpx.AsyncClient, path: str, token: str) -> httpx.Response:
    return await browser.post(path, data={"action": "log_in", "token": token}, follow_redirects=True)


def form_token(response: httpx.Response) -> str:
    found = re.search(r"name='form' value='([^']+)'", response.text)
    assert found is not None, response.text
    return found[1]


async def key_of(service: Service, asked: SignIn) -> str | None:
    answered = await service.drive.sign_ins.state(asked.id)
    return answered.key_id if answered else None


async def test_a_person_logs_in_and_lets_the_host_in(service: Service) -> None:
    asked, path = await ask(service)
    async with service.client("") as browser:
        first = await browser.get(path)
        second = await log_in(browser, path, service.token)
        choice = {"action": "allow", "form": form_token(second), "scope": ["read", "share"], "days": "30"}
        done = await browser.post(path, data=choice)
        again = await browser.post(path, data=choice)
        keys = (await browser.get(KEYS)).json()["items"]

    assert (first.status_code, second.status_code, done.status_code, again.status_code) == (200, 200, 200, 404)
    assert asked.code in first.text
    assert asked.code in second.text
    assert "Claude Desktop" in first.text
    assert "me@localhost" not in first.text
    assert "me@localhost" in second.text
    key_id = await key_of(service, asked)
    assert key_id is not None
    principal = await service.drive.identity.authenticate_key(key_id)
    assert (principal.email, sorted(principal.scopes)) == ("me@localhost", ["read", "share"])
    assert [key["name"] for key in keys if key["id"] == key_id] == ["Claude Desktop"]
    assert all("dak_" not in page.text for page in (first, second, done))
    assert service.token not in second.text


async def test_a_browser_that_is_logged_in_is_asked_at_once(service: Service) -> None:
    _, path = await ask(service)
    async with service.client("") as browser:
        await browser.post("/api/auth/login", json={"token": service.token})

        assert "me@localhost" in (await browser.get(path)).text


async def test_a_person_sends_the_host_away(service: Service) -> None:
    asked, path = await ask(service)
    async with service.client("") as browser:
        form = form_token(await log_in(browser, path, service.token))
        declined = await browser.post(path, data={"action": "decline", "form": form})
        after = await browser.get(path)

    answered = await service.drive.sign_ins.state(asked.id)
    assert answered is not None
    assert answered.is_declined
    assert (declined.status_code, after.status_code) == (200, 404)


async def test_who_logged_in_long_ago_proves_anew_to_let_a_host_in_and_may_send_it_away_at_once(
    service: Service,
) -> None:
    asked, path = await ask(service)
    async with service.client("") as browser:
        form = form_token(await log_in(browser, path, service.token))
        async with service.drive.database.write() as session:
            long_ago = {"proved_at": utc_now() - timedelta(hours=1)}
            await session.execute(update(ApiKeyRow).where(ApiKeyRow.method == "session").values(long_ago))
        choice = {"form": form, "scope": "read", "days": "1"}
        allowed = await browser.post(path, data={**choice, "action": "allow"})
        assert await key_of(service, asked) is None
        declined = await browser.post(path, data={**choice, "action": "decline"})

    answered = await service.drive.sign_ins.state(asked.id)
    assert (allowed.status_code, "Confirm that it is you" in allowed.text) == (403, True)
    assert declined.status_code == 200
    assert answered is not None
    assert answered.is_declined


async def test_a_person_takes_another_account(service: Service) -> None:
    bobs_key = await service.add_person("bob@example.com")
    asked, path = await ask(service)
    async with service.client("") as browser:
        form = form_token(await log_in(browser, path, service.token))
        switched = await browser.post(path, data={"action": "switch", "form": form}, follow_redirects=True)
        stale = await browser.post(path, data={"action": "allow", "form": form, "scope": "read", "days": "1"})
        bobs = await log_in(browser, path, bobs_key)
        await browser.post(path, data={"action": "allow", "form": form_token(bobs), "scope": "read", "days": "1"})

    assert "type='password'" in switched.text
    assert stale.status_code == 403
    key_id = await key_of(service, asked)
    assert key_id is not None
    assert (await service.drive.identity.authenticate_key(key_id)).email == "bob@example.com"


async def test_nobody_lets_a_host_in_without_being_logged_in(service: Service) -> None:
    asked, path = await ask(service)
    async with service.client("") as browser, service.client() as program:
        for client in (browser, program):
            for form in ("", "x", asked.id):
                choice = {"action": "allow", "form": form, "scope": "read", "days": "1"}
                assert (await client.post(path, data=choice)).status_code == 403
            assert "type='password'" in (await client.get(path)).text

    assert await key_of(service, asked) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_another_sites_page_lets_nobody_in(service: Service, headers: dict[str, str]) -> None:
    asked, path = await ask(service)
    async with service.client("") as browser:
        form = form_token(await log_in(browser, path, service.token))
        choice = {"action": "allow", "form": form, "scope": "read", "days": "1"}
        forged = await browser.post(path, data=choice, headers=headers)
        pressed = await browser.post(path, data={"action": "log_in", "token": service.token}, headers=headers)

    assert (forged.status_code, pressed.status_code) == (403, 403)
    assert "set-cookie" not in pressed.headers
    assert await key_of(service, asked) is None


async def test_a_form_counts_for_its_own_request_and_session_alone(service: Service) -> None:
    mine, my_path = await ask(service)
    other, other_path = await ask(service)
    async with service.client("") as browser, service.client("") as elsewhere:
        form = form_token(await log_in(browser, my_path, service.token))
        await log_in(elsewhere, my_path, service.token)
        choice = {"action": "allow", "form": form, "scope": "read", "days": "1"}
        for client, path in ((browser, other_path), (elsewhere, my_path)):
            assert (await client.post(path, data=choice)).status_code == 403

    assert await key_of(service, mine) is None
    assert await key_of(service, other) is None


async def test_a_person_gives_no_more_than_their_key_has(service: Service) -> None:
    async with service.client() as owner:
        body = {"name": "reader", "scopes": ["read"], "days": 1}
        reader = (await owner.post(KEYS, json=body)).json()
    asked, path = await ask(service)
    async with service.client("") as browser:
        page = await log_in(browser, path, reader["key"])
        choice = {"action": "allow", "form": form_token(page), "scope": ["read", "delete"], "days": "90"}
        more = await browser.post(path, data=choice)
        none = await browser.post(path, data={**choice, "scope": []})
        unknown = await browser.post(path, data={**choice, "scope": ["admin"]})
        done = await browser.post(path, data={**choice, "scope": ["read"]})

    assert "value='delete'" not in page.text
    assert [answer.status_code for answer in (more, none, unknown, done)] == [403, 422, 422, 200]
    assert form_token(more)
    key_id = await key_of(service, asked)
    assert key_id is not None
    ends = (await service.drive.identity.authenticate_key(key_id)).expires_at
    assert ends is not None
    assert ends.isoformat().replace("+00:00", "Z") == reader["expires_at"]


@pytest.mark.parametrize(
    "change", [{"days": "3651"}, {"days": ""}, {"days": ["1", "7"]}, {"action": "grant"}, {"action": []}]
)
async def test_a_form_that_no_page_of_ours_sends_is_asked_again(
    service: Service, change: dict[str, str | list[str]]
) -> None:
    asked, path = await ask(service)
    async with service.client("") as browser:
        form = form_token(await log_in(browser, path, service.token))
        choice: dict[str, str | list[str]] = {"action": "allow", "form": form, "scope": "read", "days": "1"}
        answer = await browser.post(path, data={**choice, **change})

    assert answer.status_code == 422
    assert form_token(answer)
    assert await key_of(service, asked) is None


async def test_bodies_that_are_no_form_are_refused(service: Service) -> None:
    _, path = await ask(service)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    async with service.client("") as browser:
        answers = [
            await browser.post(path, json={"action": "log_in"}),
            await browser.post(path, content=b"action=log_in&token=\xff", headers=form),
            await browser.post(path, content="&".join(f"a{number}=1" for number in range(50)), headers=form),
            await browser.post(path, content="x" * 40_000, headers=form),
            await browser.post(path, files={"action": b"log_in"}),
        ]

    assert [answer.status_code for answer in answers] == [403, 403, 403, 413, 403]


@pytest.mark.parametrize("token", ["", "dak_wrong", "x" * 16_385, "卡" * 10, "a\0b", "a.b.c"])
async def test_a_wrong_token_is_not_let_in_nor_repeated(service: Service, token: str) -> None:
    _, path = await ask(service)
    async with service.client("") as browser:
        answer = await log_in(browser, path, token)

    assert answer.status_code == 401
    assert "That token is not valid." in answer.text
    assert "set-cookie" not in answer.headers
    assert not token or token not in answer.text


async def test_wrong_tokens_have_to_wait_after_a_while(service: Service) -> None:
    _, path = await ask(service)
    async with service.client("") as browser:
        answers = [await log_in(browser, path, f"dak_{number}") for number in range(12)]
        right = await log_in(browser, path, service.token)
        api = await browser.post("/api/auth/login", json={"token": service.token})
    async with service.client() as program:
        bearer = await program.get(ME)

    assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60
    assert (right.status_code, api.status_code) == (200, 200), "a known key gets in"
    assert bearer.status_code == 200


@pytest.mark.parametrize("path", ["/connect/x", "/connect/" + "A" * 5000, "/connect/%00", "/connect/%F0%9F%8C%8D"])
async def test_an_address_that_nobody_was_given_leads_nowhere(service: Service, path: str) -> None:
    async with service.client("") as browser:
        shown, sent = await browser.get(path), await browser.post(path, data={"action": "allow"})

    assert (shown.status_code, sent.status_code) == (404, 404)
    assert "This request is over" in shown.text


async def test_what_a_host_calls_itself_is_shown_as_text(service: Service) -> None:
    _, path = await ask(service, "<img src=x>'\"&\u202eסוכן")
    async with service.client("") as browser:
        page = await browser.get(path)

    assert "<img" not in page.text
    assert "&lt;img src=x&gt;&#x27;&quot;&amp; סוכן" in page.text
    assert "\u202e" not in unescape(page.text)


async def test_a_page_takes_nothing_from_elsewhere_and_is_kept_nowhere(service: Service) -> None:
    _, path = await ask(service)
    async with service.client("") as browser:
        pages = [await browser.get(path), await browser.get("/connect/x"), await log_in(browser, path, service.token)]

    for page in pages:
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert "<script" not in page.text
        assert "http" not in re.sub(r"http-equiv", "", page.text)


@pytest.mark.parametrize(
    ("query", "accepted", "words"),
    [
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "允许程序访问您的云盘吗"),
        ("", "en-GB,en;q=0.9,zh;q=0.8", "Let a program into your drive"),
        ("", "de, zh;q=0.1", "允许程序访问您的云盘吗"),
        ("", "zh;q=0, en;q=0.1", "Let a program into your drive"),
        ("", "zh;q=x,;;;,", "Let a program into your drive"),
        ("", "", "Let a program into your drive"),
        ("?lang=zh", "en", "允许程序访问您的云盘吗"),
        ("?lang=en", "zh", "Let a program into your drive"),
        ("?lang=xx", "zh", "允许程序访问您的云盘吗"),
    ],
)
async def test_the_page_speaks_english_and_chinese(service: Service, query: str, accepted: str, words: str) -> None:
    _, path = await ask(service)
    async with service.client("") as browser:
        page = await browser.get(path + query, headers={"Accept-Language": accepted})
        after = await browser.post(
            path + query,
            data={"action": "log_in", "token": service.token},
            headers={"Accept-Language": accepted},
            follow_redirects=True,
        )

    assert words in page.text
    assert words in after.text
    assert ("zh-CN" if "您" in words else 'lang="en"') in page.text
