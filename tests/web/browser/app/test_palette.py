"""The palette: files by name, the search, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web.browser.axe import violations

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def test_a_file_is_opened_by_its_name_and_everything_is_searched(visits: Visits, owner: Person) -> None:
    owner.upload("wagtail.txt", "A wagtail.\n")
    page = visits.open()
    page.locator(".palette-button").click()
    field = page.get_by_role("combobox", name="Search and commands")
    expect(field).to_be_focused()
    page.keyboard.type("wagtail")
    expect(page.get_by_role("option", name="/wagtail.txt")).to_have_attribute("aria-selected", "true")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", name="Search for “wagtail”")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("searchbox", name="Search files")).to_have_value("wagtail")


def test_a_command_that_was_used_comes_first(visits: Visits) -> None:
    page = visits.open(language="zh")
    options = page.get_by_role("option")
    page.locator(".palette-button").click()
    expect(options.first).to_be_visible()
    redo = options.filter(has_text="重做")
    expect(options.first).not_to_contain_text("重做")
    redo.click()
    expect(options).to_have_count(0)
    page.keyboard.press("Control+k")
    expect(options.first).to_contain_text("重做")
    expect(redo).to_have_attribute("aria-selected", "true")


def test_the_palette_leads_to_each_part_of_the_settings(visits: Visits) -> None:
    page = visits.open("#/settings/profile")
    page.keyboard.press("Control+k")
    page.keyboard.type("settings: memo")
    page.get_by_role("option", name="Settings: Memory").click()
    expect(page.get_by_role("heading", name="Memory")).to_be_visible()
