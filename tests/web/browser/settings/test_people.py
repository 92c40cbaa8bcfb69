"""Accounts and groups, for administrators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.e2e.person import Person
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from tests.web.browser.visits import Visits


def test_a_person_is_added_limited_disabled_and_removed_with_the_address_typed(visits: Visits, owner: Person) -> None:
    email = "mia@example.com"
    page = visits.open("#/settings/people")
    page.get_by_label("Email").fill(email)
    page.get_by_role("button", name="Add person").click()
    key = page.get_by_role("region", name=f"Key of {email}").inner_text()
    expect(page.get_by_role("region", name=f"Address for {email}")).to_contain_text("/password/")
    mia = Person(str(owner.http.base_url), key, email)
    mia.upload("diary.txt", "words")
    assert violations(page) == []

    manage = page.get_by_role("button", name=f"Manage {email}")
    manage.click()
    page.get_by_role("menuitem", name="Storage limit").click()
    page.get_by_role("dialog").get_by_label("Gigabytes").fill("2")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("of 2 GB used")).to_be_visible()
    assert mia.get("/api/auth/me")["quota_bytes"] == 2_000_000_000

    manage.click()
    page.get_by_role("menuitem", name="Disable").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Disable").click()
    expect(page.get_by_text("Disabled", exact=True)).to_be_visible()
    assert mia.http.get("/api/auth/me").status_code == 401

    manage.click()
    page.get_by_role("menuitem", name="Remove for good").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Who gets them").select_option("me@localhost")
    dialog.get_by_label("to confirm").fill("somebody else")
    dialog.get_by_role("button", name="Remove for good").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Nothing was removed.")
    assert violations(page) == []
    dialog.get_by_label("to confirm").fill(email)
    dialog.get_by_role("button", name="Remove for good").click()
    expect(manage).to_have_count(0)
    assert any(name.startswith("Handed over") for name in owner.names())
    mia.close()


def test_a_person_whose_password_address_fails_is_there_with_the_key_and_the_failure_is_said(visits: Visits) -> None:
    page = visits.open("#/settings/people")
    page.route("**/password-reset", lambda route: route.fulfill(status=503, json={"detail": "Not now."}))
    page.get_by_label("Email").fill("una@example.com")
    page.get_by_role("button", name="Add person").click()
    expect(page.get_by_text("Not now.")).to_be_visible()
    expect(page.get_by_role("region", name="Key of una@example.com")).not_to_be_empty()
    expect(page.get_by_role("region", name="Address for una@example.com")).to_have_count(0)


def test_people_are_put_into_a_group_and_taken_out(visits: Visits, owner: Person) -> None:
    leo = owner.add_new("leo")
    page = visits.open("#/settings/groups", language="zh", size=NARROWEST, dark=True)
    page.get_by_label("群组名称").fill("销售")
    page.get_by_role("button", name="添加群组").click()
    form = page.get_by_role("form", name="添加到 销售")
    form.get_by_label("电子邮件").fill("nobody@example.com")
    form.get_by_role("button", name="添加到 销售").click()
    expect(form.get_by_role("alert")).to_be_visible()
    form.get_by_label("电子邮件").fill(leo.email)
    form.get_by_role("button", name="添加到 销售").click()
    taken_out = page.get_by_role("button", name=f"将 {leo.email} 移出 销售")
    expect(taken_out).to_be_visible()
    assert violations(page) == []
    taken_out.click()
    expect(page.get_by_text("组内还没有人。")).to_be_visible()
    page.get_by_role("button", name="删除 销售").click()
    page.get_by_role("alertdialog").get_by_role("button", name="删除").click()
    expect(page.get_by_text("还没有群组。")).to_be_visible()
    leo.close()


def test_accounts_are_shown_to_administrators_alone(visits: Visits, owner: Person) -> None:
    zoe = owner.add_new("zoe")
    page = visits.open("#/settings/people", zoe)
    expect(page.get_by_role("heading", name="Profile")).to_be_visible()
    expect(page.get_by_role("link", name="People")).to_have_count(0)
    zoe.close()
