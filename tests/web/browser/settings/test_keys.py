"""API keys and how other programs use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.e2e.person import Person
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from tests.web.browser.visits import Visits


def test_a_key_is_made_shown_once_given_other_rights_and_revoked(visits: Visits, owner: Person) -> None:
    page = visits.open("#/settings/keys")
    page.get_by_role("textbox", name="Name").fill("backup script")
    page.get_by_role("button", name="Create key").click()
    secret = page.get_by_role("region", name="The key backup script").inner_text()
    key = Person(str(owner.http.base_url), secret, owner.email)
    assert key.http.get("/api/drive/items/root").is_success
    assert key.http.post("/api/drive/files", params={"name": "a.txt"}, content="a").status_code == 403
    assert violations(page) == []
    page.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_text(secret)).to_have_count(0)
    page.get_by_role("button", name="Change rights of backup script").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("checkbox", name="Write").check()
    assert violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Read · Write")).to_be_visible()
    assert key.http.post("/api/drive/files", params={"name": "a.txt"}, content="a").is_success
    page.get_by_role("button", name="Revoke the key backup script").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("1 key that has ended")).to_be_visible()
    assert key.http.get("/api/drive/items/root").status_code == 401
    key.close()


def test_what_was_typed_stays_when_a_key_is_refused(visits: Visits) -> None:
    page = visits.open("#/settings/keys", language="zh", size=NARROWEST, dark=True)
    page.get_by_label("名称").fill("备" * 300)
    page.get_by_role("button", name="创建密钥").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("名称")).to_have_value("备" * 300)
    expect(page.get_by_label("名称")).to_have_attribute("aria-invalid", "true")
    assert violations(page) == []


def test_a_program_is_connected_with_a_key_made_in_place(visits: Visits, owner: Person) -> None:
    page = visits.open("#/settings/connect")
    page.get_by_role("button", name="Make a key for Claude Code").click()
    snippet = page.get_by_role("region", name="What Claude Code wants")
    expect(snippet).to_contain_text("Bearer dak_")
    key = snippet.inner_text().split("Bearer ")[1].strip('"\n ')
    host = Person(str(owner.http.base_url), key, owner.email)
    assert not host.mcp("whoami").get("isError")
    host.close()
    page.get_by_role("button", name="rclone").click()
    expect(page.get_by_role("region", name="What rclone wants")).to_contain_text("/dav")
    assert violations(page) == []
