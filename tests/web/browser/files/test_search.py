"""A search: as one types, marked, opened at its place, by keyboard, narrowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


def wait_for_index(owner: Person) -> None:
    for _ in range(20):
        if not owner.http.get("/api/drive/index", params={"wait_seconds": 5}).json()["summary"]["pending"]:
            return


def test_what_is_typed_is_found_marked_and_opened_by_keyboard(visits: Visits, owner: Person) -> None:
    owner.upload("heron.txt", "The grey heron stands at the pond.\n")
    owner.upload("other.txt", "Nothing of birds.\n")
    wait_for_index(owner)
    page = visits.open("#/search")
    field = page.get_by_role("searchbox", name="Search files")
    expect(field).to_be_focused()
    page.keyboard.type("heron")
    results = page.get_by_role("list", name="Search results")
    expect(results.locator("mark").filter(has_text="heron").first).to_be_visible()
    expect(results.get_by_text("The grey heron")).to_be_visible()
    expect(field).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    expect(results.get_by_role("link").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="heron.txt")).to_be_visible()


def test_a_search_is_narrowed_and_nothing_found_is_said_with_advice(visits: Visits, owner: Person) -> None:
    owner.upload("kestrel.txt", "A kestrel.\n")
    wait_for_index(owner)
    page = visits.open("#/search?q=kestrel", size=NARROWEST, dark=True)
    expect(page.get_by_role("link", name="kestrel.txt")).to_be_visible()
    page.get_by_role("combobox", name="Type").select_option("PDF")
    expect(page.get_by_text("Nothing was found for")).to_be_visible()
    expect(page.get_by_text("Try fewer or other words")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("link", name="kestrel.txt")).to_be_visible()


def test_a_search_is_narrowed_to_days(visits: Visits, owner: Person) -> None:
    owner.upload("curlew.txt", "A curlew.\n")
    wait_for_index(owner)
    page = visits.open("#/search?q=curlew")
    expect(page.get_by_role("link", name="curlew.txt")).to_be_visible()
    page.get_by_role("combobox", name="Changed").select_option("Own dates")
    page.get_by_label("To", exact=True).fill("2020-01-31")
    expect(page.get_by_text("Nothing was found for")).to_be_visible()
    page.get_by_role("combobox", name="Changed").select_option("Last day")
    expect(page.get_by_role("link", name="curlew.txt")).to_be_visible()


def test_words_of_before_are_offered_again_in_chinese(visits: Visits, owner: Person) -> None:
    owner.upload("仙鹤.txt", "仙鹤在湖边。\n")
    wait_for_index(owner)
    page = visits.open("#/search", language="zh")
    field = page.get_by_role("searchbox", name="搜索文件")
    field.fill("仙鹤")
    expect(page.get_by_role("link", name="仙鹤.txt")).to_be_visible()
    field.press("Enter")
    field.fill("")
    page.get_by_role("button", name="仙鹤", exact=True).click()
    expect(field).to_have_value("仙鹤")
    expect(page.get_by_role("link", name="仙鹤.txt")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Nothing was found for “zzzzqqq”."), ("zh", "没有找到与“zzzzqqq”相关的内容。")]
)
def test_a_search_with_no_answer_says_so(visits: Visits, owner: Person, language: str, said: str) -> None:
    owner.upload(f"dunlin {language}.txt", "A dunlin.\n")
    owner.upload(f"休假 {language}.txt", "员工每年有二十八天带薪年假。\n")
    wait_for_index(owner)
    page = visits.open("#/search?q=zzzzqqq", size=NARROWEST, language=language)
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.locator(".hits")).to_have_count(0)
    assert violations(page) == []
