"""What is known of an item, and what was done with it, taken back there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import open_file

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def test_facts_and_activity_are_shown_and_a_change_is_taken_back(visits: Visits, owner: Person) -> None:
    item = owner.upload("ledger.txt", "one\n")
    owner.http.patch(f"/api/drive/items/{item['id']}", json={"name": "book.txt"}).raise_for_status()
    page = visits.open(f"#/file/{item['id']}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Details").first.click()
    dialog = page.get_by_role("dialog", name="Details of book.txt")
    expect(dialog.get_by_text("/book.txt", exact=True)).to_be_visible()
    expect(dialog.get_by_text("Only the owner.")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Undo").first.click()
    expect(dialog.get_by_text("undone").first).to_be_visible()
    assert owner.http.get(f"/api/drive/items/{item['id']}").json()["name"] == "ledger.txt"


OPEN = {"en": ("More actions", "Details"), "zh": ("更多操作", "详细信息")}
DATES = {
    "en": ("Changed", "Jan 1, 1999", "Changed in the drive"),
    "zh": ("修改时间", "1999年1月1日", "云盘中的更改时间"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_date_of_a_file_and_that_of_the_drive_stand_there_where_they_differ(
    visits: Visits, owner: Person, language: str
) -> None:
    menu, entry = OPEN[language]
    changed, date, changed_here = DATES[language]
    old = owner.upload("letter.txt", "Dear")
    sent = {"X-OC-Mtime": "915192000"}
    address = f"/api/drive/files/{old['id']}/content"
    owner.http.put(address, content="Dear all", headers=sent).raise_for_status()
    new = owner.upload("memo.txt", "Now")
    for item, count in ((old, 1), (new, 0)):
        page = open_file(visits, item, language=language, size=NARROWEST)
        page.get_by_role("button", name=menu, exact=True).click()
        page.get_by_role("menuitem", name=entry).first.click()
        facts = page.get_by_role("dialog").locator("dl > div")
        expect(facts.filter(has=page.get_by_text(changed, exact=True))).to_be_visible()
        expect(facts.filter(has=page.get_by_text(changed_here, exact=True))).to_have_count(count)
        expect(facts.filter(has_text=date)).to_have_count(count)
    for item in (old, new):
        owner.http.post(f"/api/drive/items/{item['id']}/trash").raise_for_status()
