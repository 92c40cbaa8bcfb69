"""The page around the rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def test_both_sides_are_there_for_who_is_signed_in(page: Page) -> None:
    expect(page.get_by_role("region", name="Files")).to_be_visible()
    expect(page.get_by_role("region", name="Assistant")).to_be_visible()


def test_the_language_changes_at_once_and_stays(page: Page) -> None:
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("menuitemradio", name="中文").click()
    expect(page.get_by_role("region", name="文件")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.reload()
    expect(page.get_by_role("region", name="文件")).to_be_visible()
    page.get_by_role("button", name="的帐户").click()
    page.get_by_role("menuitemradio", name="English").click()
    expect(page.get_by_role("region", name="Files")).to_be_visible()


def test_the_theme_is_chosen_with_the_keyboard_alone(page: Page) -> None:
    page.get_by_role("button", name="Account of").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Account of")).to_be_focused()


def test_the_narrowest_page_shows_one_side_and_scrolls_in_no_direction(visits: Visits) -> None:
    page = visits.open(size=NARROWEST)
    expect(page.get_by_role("region", name="Files")).to_be_visible()
    expect(page.get_by_role("region", name="Assistant")).to_be_hidden()
    page.get_by_role("button", name="Assistant").click()
    expect(page.get_by_role("region", name="Assistant")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST[0]


def test_the_empty_field_is_one_line_on_the_narrowest_page(visits: Visits) -> None:
    page = visits.open(size=NARROWEST)
    page.get_by_role("button", name="Assistant").click()
    one_line = "one => one.clientHeight < 2 * parseFloat(getComputedStyle(one).lineHeight)"
    assert page.locator("#composer").evaluate(one_line)


def test_the_divider_moves_by_keys_within_its_bounds(page: Page) -> None:
    divider = page.get_by_role("separator", name="Width of the files")
    divider.focus()
    page.keyboard.press("End")
    expect(divider).to_have_attribute("aria-valuenow", "75")
    page.keyboard.press("ArrowRight")
    expect(divider).to_have_attribute("aria-valuenow", "75")
    page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "73")


def test_a_lost_service_is_said_and_found_again(page: Page, visits: Visits) -> None:
    page.context.set_offline(offline=True)
    expect(page.get_by_text("The service can't be reached.").first).to_be_visible()
    page.context.set_offline(offline=False)
    expect(page.get_by_text("The service can't be reached.")).to_have_count(0)
    visits.complaints.clear()


def test_a_list_that_failed_while_the_service_was_lost_is_loaded_when_it_is_back(page: Page, visits: Visits) -> None:
    page.context.set_offline(offline=True)
    page.evaluate("location.hash = '#/starred'")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.context.set_offline(offline=False)
    expect(page.locator(".files .state.empty")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    visits.complaints.clear()


def test_a_part_that_could_not_be_loaded_says_so_and_what_was_written_is_kept(page: Page, visits: Visits) -> None:
    page.get_by_role("textbox", name="Message").fill("a draft")
    page.context.set_offline(offline=True)
    page.evaluate("location.hash = '#/settings/profile'")
    expect(page.get_by_text("This part of the page could not be loaded.")).to_be_visible()
    page.context.set_offline(offline=False)
    page.get_by_role("button", name="Load the page again").click()
    expect(page.get_by_role("heading", name="Profile")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("a draft")
    visits.complaints.clear()


def test_the_shell_has_no_barrier(page: Page) -> None:
    assert violations(page) == []


def test_the_tab_is_named_after_the_place(visits: Visits, owner: Person) -> None:
    item = owner.upload("lease.md", "# Lease")
    folder = owner.folder("发票")
    page = visits.open(f"#/folder/{folder['id']}")
    expect(page).to_have_title("发票 – Drive Agent")
    for place, title in (
        (f"#/file/{item['id']}", "lease.md – Drive Agent"),
        ("#/trash", "Trash – Drive Agent"),
        ("#/settings/keys", "API keys – Drive Agent"),
        ("#/folder/root", "Drive Agent"),
    ):
        page.evaluate("place => { location.hash = place; }", place)
        expect(page).to_have_title(title)


def test_the_settings_lead_back_to_the_files_that_were_shown(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Bills of May")
    page = visits.open(f"#/folder/{folder['id']}")
    expect(page.get_by_role("heading", name="Bills of May")).to_be_visible()
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("menuitem", name="Settings").click()
    page.get_by_role("link", name="Back to the files").click()
    expect(page.get_by_role("heading", name="Bills of May")).to_be_visible()


def test_a_question_mark_shows_the_keys_and_a_slash_the_palette(visits: Visits) -> None:
    page = visits.open("#/trash")
    expect(page.locator(".items, .state").first).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("?/")
    expect(page.get_by_role("combobox")).to_have_value("?/")
