"""What is known of an item, and what was done with it, taken back there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web.browser.axe import violations

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
    expect(dialog.get_by_text("taken back").first).to_be_visible()
    assert owner.http.get(f"/api/drive/items/{item['id']}").json()["name"] == "ledger.txt"
