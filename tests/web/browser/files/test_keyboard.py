"""The files with the keyboard alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser.world import empty

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(autouse=True)
def drive(owner: Person) -> None:
    """Three files and two folders."""
    empty(owner)
    owner.folder("Letters")
    owner.folder("Bills")
    for name in ("alpha.txt", "beta.txt", "gamma.txt"):
        owner.upload(name, name)


def rows(page: Page) -> Locator:
    return page.get_by_role("grid").locator("[data-index]")


def chosen(page: Page) -> Locator:
    return page.get_by_role("row", selected=True)


def into_list(page: Page) -> None:
    expect(rows(page)).to_have_count(5)
    page.get_by_role("grid", name="My drive").focus()


def test_arrows_and_shift_choose_and_escape_lets_go(page: Page) -> None:
    into_list(page)
    page.keyboard.press("Home")
    expect(chosen(page)).to_contain_text("Bills")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    expect(chosen(page)).to_have_count(3)
    expect(page.get_by_text("3 selected").first).to_be_visible()
    page.keyboard.press("Shift+ArrowUp")
    expect(chosen(page)).to_have_count(2)
    page.keyboard.press("Escape")
    expect(chosen(page)).to_have_count(0)
    page.keyboard.press("Control+a")
    expect(chosen(page)).to_have_count(5)


def test_the_active_row_is_named_to_who_listens(page: Page) -> None:
    into_list(page)
    page.keyboard.press("End")
    grid = page.get_by_role("grid")
    active = grid.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_contain_text("gamma.txt")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-rowindex", "6")
    expect(grid).to_have_attribute("aria-rowcount", "6")


def test_typing_finds_a_name(page: Page) -> None:
    into_list(page)
    page.keyboard.type("ga")
    expect(chosen(page)).to_contain_text("gamma.txt")


def test_enter_opens_a_folder_and_backspace_leads_back_to_it(page: Page) -> None:
    into_list(page)
    page.keyboard.type("L")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing in here yet")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(page.get_by_role("grid", name="My drive")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(chosen(page)).to_contain_text("Bills")


def test_f2_renames_in_place_without_the_suffix(page: Page, owner: Person) -> None:
    into_list(page)
    page.keyboard.type("al")
    page.keyboard.press("F2")
    field = page.get_by_role("textbox", name="New name of alpha.txt")
    expect(field).to_be_focused()
    page.keyboard.type("omega")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="omega.txt")).to_be_visible()
    expect(page.get_by_role("grid")).to_be_focused()
    assert "omega.txt" in owner.names()
    page.keyboard.press("F2")
    page.keyboard.type("never")
    page.keyboard.press("Escape")
    expect(page.get_by_role("row", name="omega.txt")).to_be_visible()


def test_delete_is_undone_and_redone_by_keys(page: Page, owner: Person) -> None:
    into_list(page)
    page.keyboard.type("be")
    page.keyboard.press("Delete")
    expect(rows(page)).to_have_count(4)
    expect(page.get_by_text("“beta.txt” is in the trash.")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(rows(page)).to_have_count(5)
    page.keyboard.press("Control+Shift+z")
    expect(rows(page)).to_have_count(4)
    assert "beta.txt" not in owner.names()


def test_cut_and_paste_move_and_copies_keep_both_names(page: Page, owner: Person) -> None:
    into_list(page)
    page.keyboard.type("al")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Control+x")
    page.keyboard.type("Let")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing in here yet")).to_be_visible()
    page.keyboard.press("Control+v")
    expect(rows(page)).to_have_count(2)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    page.keyboard.press("Control+v")
    page.get_by_role("button", name="Keep both").click()
    expect(rows(page)).to_have_count(4)
    folder = next(item for item in owner.children() if item["name"] == "Letters")
    assert "alpha (2).txt" in owner.names(folder["id"])


def test_the_menu_of_an_item_comes_by_keys_and_gives_the_focus_back(page: Page) -> None:
    into_list(page)
    page.keyboard.type("ga")
    page.keyboard.press("Shift+F10")
    expect(page.get_by_role("menu", name="Actions for gamma.txt")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("grid")).to_be_focused()


def test_a_folder_to_move_to_is_chosen_in_a_tree(page: Page, owner: Person) -> None:
    into_list(page)
    page.keyboard.type("ga")
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Move to …").press("Enter")
    expect(page.get_by_role("treeitem", name="My drive")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("treeitem", name="Bills")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(4)
    folder = next(item for item in owner.children() if item["name"] == "Bills")
    assert owner.names(folder["id"]) == ["gamma.txt"]


def test_chinese_names_are_sorted_by_their_sound(visits: Visits, owner: Person) -> None:
    empty(owner)
    for name in ("张三.md", "李四.md", "第10章.md", "第2章.md", "安.md"):
        owner.upload(name, "x")
    page = visits.open(language="zh")
    expect(page.get_by_role("grid", name="我的云盘").locator(".name")).to_have_text(
        ["安.md", "第2章.md", "第10章.md", "李四.md", "张三.md"]
    )
