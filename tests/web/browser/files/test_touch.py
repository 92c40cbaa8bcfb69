"""The files with a finger, on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST, PHONE
from tests.web.browser.world import begin_with_bills, row

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(autouse=True)
def drive(owner: Person) -> None:
    """A folder with one file, and two files."""
    begin_with_bills(owner, "alpha.txt", "beta.txt")


@pytest.fixture
def phone(visits: Visits) -> Page:
    return visits.open(size=PHONE, touch=True, is_mobile=True)


def rest_on(page: Page, place: Locator) -> None:
    """Hold a finger on something until the page has noticed."""
    box = place.bounding_box()
    assert box
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session = page.context.new_cdp_session(page)
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    expect(place).to_have_attribute("aria-selected", "true")
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_tap_opens(phone: Page) -> None:
    row(phone, "Bills").tap()
    expect(row(phone, "march.txt")).to_be_visible()


def test_a_long_press_begins_to_choose_and_taps_go_on(phone: Page, owner: Person) -> None:
    rest_on(phone, row(phone, "alpha.txt"))
    expect(row(phone, "alpha.txt")).to_have_attribute("aria-selected", "true")
    row(phone, "beta.txt").tap()
    expect(phone.get_by_text("2 selected").first).to_be_visible()
    row(phone, "beta.txt").tap()
    phone.get_by_role("button", name="Move to the trash").tap()
    expect(phone.get_by_text("“alpha.txt” is in the trash.")).to_be_visible()
    assert owner.names() == ["Bills", "beta.txt"]


def test_each_row_has_a_menu_and_asking_leads_to_the_assistant(phone: Page) -> None:
    phone.get_by_role("button", name="Actions for beta.txt").tap()
    phone.get_by_role("menuitem", name="Ask about this").tap()
    expect(phone.get_by_role("region", name="Assistant")).to_be_visible()
    expect(phone.get_by_role("region", name="Files")).to_be_hidden()


def test_targets_are_large_enough_for_a_finger(phone: Page) -> None:
    row(phone, "alpha.txt").wait_for()
    sizes = phone.evaluate(
        "[...document.querySelectorAll('.files button, .files a')].map((one) => one.getBoundingClientRect())"
        ".filter((box) => box.width).map((box) => [box.width, box.height])"
    )
    assert sizes
    assert min(min(size) for size in sizes) >= 44


def test_the_narrowest_page_fits_and_has_no_barrier(visits: Visits) -> None:
    page = visits.open(size=NARROWEST, touch=True, is_mobile=True)
    row(page, "alpha.txt").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST[0]
    assert violations(page) == []
    rest_on(page, row(page, "alpha.txt"))
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST[0]
    assert violations(page) == []
