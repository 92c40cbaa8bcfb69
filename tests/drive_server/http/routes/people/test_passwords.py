from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import httpx
from argon2 import PasswordHasher

from drive_server.http.access import WRONG_KEYS as FAILURES
from drive_server.services.identity import passwords
from drive_server.storage.tables.people import UserRow
from tests.drive_server.http.routes.people.test_notices import MailServer, mailing, mails

if TYPE_CHECKING:
    import pytest

    from tests.drive_server.http.service import Service

__all__ = ["mailing", "mails"]

BOB = "bob@example.com"
ME = "/api/auth/me"
FIRST, SECOND = "tulips in the rain", "郁金香 in the morning sun"


async def log_in(client: httpx.AsyncClient, password: str, email: str = BOB) -> httpx.Response:
    return await client.post("/api/auth/login", json={"email": email, "password": password})


async def set_password(client: httpx.AsyncClient, new: str, old: str | None = None) -> int:
    return (await client.put("/api/auth/password", json={"new": new, "old": old})).status_code


async def test_a_password_logs_in_and_is_changed_with_the_one_before(
    service: Service, bobs_client: httpx.AsyncClient
) -> None:
    assert await set_password(bobs_client, FIRST) == 204
    async with service.client("") as here, service.client("") as there:
        assert (await log_in(there, FIRST)).status_code == 200
        logged_in = await log_in(here, FIRST, " Bob@Example.com")
        me = (await here.get(ME)).json()
        refused = [await set_password(here, SECOND), await set_password(here, SECOND, "something else")]
        assert await set_password(here, SECOND, FIRST) == 204
        still, out = await here.get(ME), await there.get(ME)
        assert ((await log_in(there, FIRST)).status_code, (await log_in(there, SECOND)).status_code) == (401, 200)

    assert (logged_in.status_code, me["email"], len(me["scopes"])) == (200, BOB, 4)
    assert (refused, still.status_code, out.status_code) == ([401, 401], 200, 401)
    async with service.drive.database.read() as session:
        row = await session.get_one(UserRow, me["id"])
    assert (row.password_hash or "").startswith("$argon2id$")


async def test_who_is_wrong_learns_nothing_of_who_has_an_account(
    service: Service, bobs_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_password(bobs_client, FIRST)
    await service.add_person("cara@example.com")
    checked: list[str] = []
    verify = PasswordHasher.verify

    def noted(self: PasswordHasher, stored: str, password: str) -> bool:
        checked.append(stored.rpartition("p=")[0])
        return verify(self, stored, password)

    monkeypatch.setattr(PasswordHasher, "verify", noted)
    async with service.client("") as client:
        people = (BOB, "cara@example.com", "eve@example.com", "x")
        answers = [await log_in(client, "not the password", email) for email in people]
        both = await client.post("/api/auth/login", json={"token": "dak_x", "email": BOB, "password": FIRST})
    assert {(one.status_code, one.text) for one in answers} == {(401, answers[0].text)}
    assert (len(checked), len(set(checked))) == (4, 1)
    assert both.status_code == 422


async def test_after_too_many_wrong_passwords_an_address_and_an_account_wait(
    service: Service, bobs_client: httpx.AsyncClient
) -> None:
    await set_password(bobs_client, FIRST)
    async with service.client("") as client:
        client.timeout = httpx.Timeout(60)  # checking a password is slow on purpose
        tries = await asyncio.gather(*(log_in(client, "not the password") for _ in range(FAILURES)))
        waits = await log_in(client, FIRST)
    assert {one.status_code for one in tries} == {401}
    assert (waits.status_code, "retry-after" in waits.headers) == (429, True)
    check, most = service.drive.passwords.verify, passwords.MAX_WRONG_OF_AN_ACCOUNT
    many = await asyncio.gather(
        *(check(BOB, "not the password", passwords.Source(f"192.0.2.{number}")) for number in range(most)),
        return_exceptions=True,
    )
    assert [type(error).__name__ for error in many].count("RateLimitError") == FAILURES


async def test_a_password_is_long_enough_and_its_first_one_is_set_by_a_whole_key(
    bobs_client: httpx.AsyncClient,
) -> None:
    for bad in ("short", BOB, "x" * 257, ""):
        assert await set_password(bobs_client, bad) == 422
    keys = [{"scopes": ["read", "write"]}, {"scopes": ["read", "write", "share", "delete"], "days": 1}]
    made = [await bobs_client.post("/api/auth/keys", json={"name": "k", **key}) for key in keys]
    for one in made:
        bobs_client.headers["Authorization"] = f"Bearer {one.json()['key']}"
        assert await set_password(bobs_client, FIRST) == 403


async def test_an_administrator_gives_an_address_at_which_a_password_is_set_once(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    await set_password(bobs_client, FIRST)
    assert (await bobs_client.post(f"/api/users/{BOB}/password-reset")).status_code == 403
    assert (await owner_client.post("/api/users/eve@example.com/password-reset")).status_code == 404
    url = (await owner_client.post(f"/api/users/{BOB}/password-reset")).json()["url"]
    async with service.client("") as browser, service.client("") as other:
        await log_in(other, FIRST)
        page = await browser.get(url, params={"lang": "zh"})
        short = await browser.post(url, data={"password": "short"})
        done = await browser.post(url, data={"password": SECOND})
        me, out = await browser.get(ME), await other.get(ME)
        again = [await other.post(url, data={"password": FIRST}), await other.get(url), await other.get(f"{url}x")]
        assert (await log_in(other, SECOND)).status_code == 200
    assert (page.status_code, "设置新密码" in page.text, BOB in page.text) == (200, True, True)
    assert (short.status_code, done.status_code, done.headers["location"]) == (422, 303, "/")
    assert (me.json()["email"], out.status_code) == (BOB, 401)
    assert [one.status_code for one in again] == [404, 404, 404]


async def test_the_page_logs_in_without_scripts(service: Service, bobs_client: httpx.AsyncClient) -> None:
    await set_password(bobs_client, FIRST)
    async with service.client("") as browser:
        form, foreign = {"email": BOB, "password": FIRST}, {"Sec-Fetch-Site": "cross-site"}
        page = await browser.get("/login")
        wrong = await browser.post("/login", data={**form, "password": "not the password"})
        refused = await browser.post("/login", data=form, headers=foreign)
        right = await browser.post("/login", data=form)
        me = await browser.get(ME)
    assert "<script" not in page.text
    assert (page.status_code, wrong.status_code, refused.status_code) == (200, 401, 403)
    assert (right.status_code, me.json()["email"]) == (303, BOB)


async def test_who_forgot_gets_a_mail_and_the_answer_is_the_same_for_strangers(
    mailing: Service, mails: tuple[MailServer, str]
) -> None:
    await mailing.add_person(BOB)
    forgot = "/api/auth/password/forgot"
    async with mailing.client("") as browser:
        people = (BOB, BOB, "eve@example.com", "no address")
        answers = [await browser.post(forgot, json={"email": email}) for email in people]
        await mailing.drive.passwords.mail_reset(BOB)  # comes after what the answers left to do
        await mailing.drive.outbox.send_due()
        await asyncio.wait_for(mails[0].came.wait(), 20)
        (mail,) = mails[0].mails
        (url,) = re.findall(r"http\S+(/password/\S+)", mail.get_content())
        done = await browser.post(url, data={"password": SECOND})
    assert {(one.status_code, one.text) for one in answers} == {(202, "null")}
    assert (mail["To"], done.status_code) == (BOB, 303)
