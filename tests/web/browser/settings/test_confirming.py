"""A browser that was signed in a while ago confirms who is there before it makes something that lasts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from tests.api.real_service import RealService
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

LONG_AGO = "2020-01-01 00:00:00.000000"
PASSWORD = "a long enough password"


def let_time_pass(service: RealService) -> None:
    """Have all browsers be signed in long ago."""
    with closing(sqlite3.connect(service.data_dir / "drive.db")) as database:
        database.execute("UPDATE api_keys SET proved_at = ? WHERE method = 'session'", (LONG_AGO,))
        database.commit()


def test_a_key_is_made_after_the_person_has_confirmed_who_they_are(
    visits: Visits, owner: Person, service: RealService
) -> None:
    page = visits.open("#/settings/keys")
    page.get_by_role("textbox", name="Name").fill("late key")
    let_time_pass(service)
    page.get_by_role("button", name="Create key").click()
    dialog = page.get_by_role("dialog", name="Confirm that it is you")
    expect(dialog).to_be_visible()
    assert violations(page) == []
    dialog.get_by_label("Access token or API key").fill("dak_wrong")
    dialog.get_by_role("button", name="Confirm", exact=True).click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    dialog.get_by_label("Access token or API key").fill(owner.token)
    dialog.get_by_role("button", name="Confirm", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("region", name="The key late key")).to_be_visible()


def test_who_does_not_confirm_keeps_what_they_typed(visits: Visits, service: RealService) -> None:
    page = visits.open("#/settings/keys", language="zh", size=NARROWEST, dark=True)
    page.get_by_label("名称").fill("备份")
    let_time_pass(service)
    page.get_by_role("button", name="创建密钥").click()
    dialog = page.get_by_role("dialog", name="请确认是您本人")
    expect(dialog).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_label("名称")).to_have_value("备份")
    expect(page.get_by_role("alert")).to_contain_text("请确认是您本人")
