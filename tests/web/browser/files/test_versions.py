"""The versions of a file: listed, compared, shown, restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture
def item(owner: Person) -> dict[str, Any]:
    """A file with three versions."""
    made = owner.http.post(
        "/api/drive/files", params={"name": "plan.txt", "on_conflict": "rename"}, content="one\nred\n"
    )
    for text in ("one\ngreen\n", "one\nblue\n"):
        owner.http.put(f"/api/drive/files/{made.json()['id']}/content", content=text).raise_for_status()
    return made.json()


def versions(page: Page, item: dict[str, Any]) -> Locator:
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Versions").first.click()
    return page.get_by_role("dialog", name=f"Versions of {item['name']}")


def test_any_two_versions_are_compared(visits: Visits, item: dict[str, Any]) -> None:
    page = visits.open(f"#/file/{item['id']}")
    dialog = versions(page, item)
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    expect(dialog.get_by_text("me@localhost").first).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Compare version 1 with the newest").click()
    expect(dialog.get_by_role("row", name="Removed: red")).to_be_visible()
    expect(dialog.get_by_role("row", name="Added: blue")).to_be_visible()
    dialog.get_by_role("combobox", name="To").select_option("Version 2")
    expect(dialog.get_by_role("row", name="Added: green")).to_be_visible()
    assert violations(page) == []


def test_an_earlier_version_is_shown_and_restored_and_that_is_undone(
    visits: Visits, item: dict[str, Any], owner: Person
) -> None:
    page = visits.open(f"#/file/{item['id']}", size=NARROWEST, dark=True)
    versions(page, item).get_by_role("button", name="Show version 1").click()
    expect(page.locator(".written")).to_have_text("one\nred")
    expect(page.get_by_text("the newest is version 3")).to_be_visible()
    dialog = versions(page, item)
    dialog.get_by_role("button", name="Restore version 1").click()
    expect(dialog.get_by_role("listitem")).to_have_count(4)
    assert owner.content(item["id"]) == "one\nred\n"
    assert violations(page) == []
    dialog.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Version 3 is the newest again.")).to_be_visible()
    assert owner.content(item["id"]) == "one\nblue\n"
