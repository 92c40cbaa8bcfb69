"""Signing in: by token, by password, again in the middle of work, by passkey."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import give_token

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

PASSWORD = "a long enough password"


def test_a_token_signs_in_and_a_wrong_one_is_told_beside_the_field(visits: Visits, owner: Person) -> None:
    page = visits.open(signed_in=False, size=NARROWEST, dark=True)
    expect(page.get_by_role("heading", name="Sign in to Drive Agent")).to_be_visible()
    assert violations(page) == []
    give_token(page, "wrong")
    expect(page.get_by_role("alert")).not_to_be_empty()
    page.get_by_label("Access token or API key").fill(owner.token)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Drive Agent")).to_be_visible()


def test_a_password_signs_in_in_chinese(visits: Visits, owner: Person) -> None:
    owner.http.put("/api/auth/password", json={"new": PASSWORD}).raise_for_status()
    email = owner.http.get("/api/auth/me").json()["email"]
    page = visits.open(signed_in=False)
    page.get_by_role("button", name="中文").click()
    page.get_by_label("电子邮件").fill(email)
    page.get_by_label("密码", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="登录", exact=True).click()
    expect(page.locator("header.top")).to_be_visible()


def test_a_session_that_ends_in_the_middle_of_work_loses_nothing(visits: Visits, owner: Person) -> None:
    owner.folder("Kept")
    page = visits.open()
    expect(page.get_by_role("heading", name="Drive Agent")).to_be_visible()
    page.context.clear_cookies()
    page.evaluate("location.hash = '#/search?q=Kept'")
    dialog = page.get_by_role("dialog", name="Your session is over. Sign in again to go on.")
    expect(dialog).to_be_visible()
    assert violations(page) == []
    give_token(dialog, owner.token)
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("searchbox", name="Search files")).to_have_value("Kept")
    expect(page.locator(".hits").get_by_role("link").first).to_be_visible()


def test_who_signs_out_leaves_nothing_of_theirs_in_the_browser_and_in_no_tab(visits: Visits) -> None:
    page = visits.open()
    page.evaluate("localStorage.setItem('recent-searches', '[\"salary\"]')")
    page.get_by_role("textbox", name="Message").fill("a secret draft")
    other = page.context.new_page()
    other.goto("/#/settings/security")
    other.get_by_role("button", name="Sign out here").click()
    for tab in (page, other):
        expect(tab.get_by_role("heading", name="Sign in to Drive Agent")).to_be_visible()
    kept = page.evaluate("JSON.stringify(localStorage)")
    assert "secret" not in kept
    assert "salary" not in kept
    assert "settings" not in other.url


def test_somebody_else_who_signs_in_finds_nothing_of_who_was_there(visits: Visits, owner: Person) -> None:
    page = visits.open()
    page.get_by_role("textbox", name="Message").fill("a secret draft")
    page.wait_for_function("() => JSON.stringify(localStorage).includes('secret')")
    page.context.clear_cookies()
    with closing(owner.add_new("else")) as other:
        assert page.context.request.post("/api/auth/login", data={"token": other.token}).ok
    page.reload()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    assert "secret" not in page.evaluate("JSON.stringify(localStorage)")
