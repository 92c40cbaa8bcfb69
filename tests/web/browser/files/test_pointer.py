"""The files with the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.world import begin_with_bills, row

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(autouse=True)
def drive(owner: Person) -> None:
    """A folder with one file, and three files."""
    begin_with_bills(owner, "alpha.txt", "beta.txt", "gamma.txt")


def rows(page: Page) -> Locator:
    return page.get_by_role("grid").locator("[data-index]")


def names(owner: Person, folder: str) -> list[str]:
    return owner.names(next(item["id"] for item in owner.children() if item["name"] == folder))


def test_clicks_choose_with_ctrl_and_shift(page: Page) -> None:
    row(page, "alpha.txt").click()
    row(page, "gamma.txt").click(modifiers=["Shift"])
    expect(page.get_by_role("row", selected=True)).to_have_count(3)
    row(page, "beta.txt").click(modifiers=["Control"])
    expect(page.get_by_role("row", selected=True)).to_have_count(2)
    page.get_by_role("button", name="Clear the selection").click()
    expect(page.get_by_role("row", selected=True)).to_have_count(0)


def test_a_name_opens_and_the_way_leads_back(page: Page) -> None:
    page.get_by_text("Bills", exact=True).click()
    expect(row(page, "march.txt")).to_be_visible()
    expect(page.get_by_role("heading", name="Bills")).to_be_visible()
    way = page.get_by_role("navigation", name="The way to this folder")
    way.get_by_role("link", name="My drive").click()
    expect(row(page, "alpha.txt")).to_be_visible()
    row(page, "Bills").dblclick()
    expect(row(page, "march.txt")).to_be_visible()


def test_columns_sort_and_the_page_keeps_it(page: Page) -> None:
    name = page.get_by_role("columnheader", name="Name")
    expect(name).to_have_attribute("aria-sort", "ascending")
    name.get_by_role("button").click()
    expect(page.locator(".name")).to_have_text(["Bills", "gamma.txt", "beta.txt", "alpha.txt"])
    page.reload()
    expect(page.locator(".name")).to_have_text(["Bills", "gamma.txt", "beta.txt", "alpha.txt"])
    page.get_by_role("columnheader", name="Name").get_by_role("button").click()
    expect(page.locator(".name")).to_have_text(["Bills", "alpha.txt", "beta.txt", "gamma.txt"])


def test_several_are_dragged_onto_a_folder_and_the_notice_takes_it_back(page: Page, owner: Person) -> None:
    row(page, "alpha.txt").click()
    row(page, "beta.txt").click(modifiers=["Control"])
    row(page, "alpha.txt").drag_to(row(page, "Bills"))
    expect(page.get_by_text("2 items were moved.")).to_be_visible()
    assert sorted(names(owner, "Bills")) == ["alpha.txt", "beta.txt", "march.txt"]
    page.get_by_role("button", name="Undo").click()
    expect(rows(page)).to_have_count(4)
    assert names(owner, "Bills") == ["march.txt"]


def test_the_way_and_the_places_take_what_is_dropped(page: Page, owner: Person) -> None:
    page.get_by_text("Bills", exact=True).click()
    way = page.get_by_role("navigation", name="The way to this folder")
    row(page, "march.txt").drag_to(way.get_by_role("link", name="My drive"))
    expect(page.get_by_text("“march.txt” was moved.")).to_be_visible()
    assert "march.txt" in owner.names()
    way.get_by_role("link", name="My drive").click()
    row(page, "alpha.txt").drag_to(page.get_by_role("link", name="Trash"))
    expect(page.get_by_text("“alpha.txt” is in the trash.")).to_be_visible()
    row(page, "beta.txt").drag_to(page.get_by_role("link", name="Starred"))
    expect(row(page, "beta.txt").get_by_role("img", name="Starred")).to_be_visible()


def test_a_taken_name_is_asked_about_and_the_old_one_goes_to_the_trash(page: Page, owner: Person) -> None:
    owner.upload("march.txt", "other")
    expect(row(page, "march.txt")).to_be_visible()
    row(page, "march.txt").drag_to(row(page, "Bills"))
    page.get_by_role("alertdialog", name="“march.txt” is there already").get_by_role("button", name="Replace").click()
    expect(page.get_by_text("“march.txt” was moved.")).to_be_visible()
    assert names(owner, "Bills") == ["march.txt"]
    assert [item["name"] for item in owner.get("/api/drive/trash")["items"]] == ["march.txt"]


def test_one_file_and_several_as_a_zip_are_downloaded(page: Page) -> None:
    row(page, "alpha.txt").click()
    with page.expect_download() as one:
        page.get_by_role("button", name="Download").click()
    assert one.value.path().read_text() == "alpha.txt"
    row(page, "Bills").click(modifiers=["Control"])
    with page.expect_download() as several:
        page.get_by_role("button", name="Download").click()
    with ZipFile(several.value.path()) as archive:
        assert {"alpha.txt", "Bills/march.txt"} <= set(archive.namelist())


def test_the_menu_of_an_item_restores_and_deletes_in_the_trash(page: Page, owner: Person) -> None:
    for name in ("alpha.txt", "beta.txt"):
        row(page, name).hover()
        page.get_by_role("button", name=f"Actions for {name}").click()
        page.get_by_role("menuitem", name="Move to the trash").click()
    page.get_by_role("link", name="Trash").click()
    row(page, "alpha.txt").click(button="right")
    page.get_by_role("menuitem", name="Restore").click()
    expect(rows(page)).to_have_count(1)
    assert "alpha.txt" in owner.names()
    page.get_by_role("button", name="Empty the trash").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Empty the trash").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    assert owner.get("/api/drive/trash")["items"] == []


def test_folders_and_text_files_are_made_from_the_menu(page: Page, owner: Person) -> None:
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("menuitem", name="New folder").click()
    page.get_by_role("textbox", name="Name").fill("Bills")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("There is something of this name here already.")).to_be_visible()
    page.get_by_role("textbox", name="Name").fill("Plans")
    page.get_by_role("button", name="Create").click()
    expect(row(page, "Plans")).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Clear the selection").click()
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("menuitem", name="New text file").click()
    page.get_by_role("button", name="Create").click()
    expect(row(page, "Notes.md")).to_be_visible()
    assert {"Plans", "Notes.md"} <= set(owner.names())


def test_the_list_and_its_pictures_have_no_barrier(visits: Visits) -> None:
    page = visits.open(language="zh", dark=True)
    row(page, "alpha.txt").click()
    row(page, "beta.txt").click(modifiers=["Control"])
    assert violations(page) == []
    page.get_by_role("button", name="取消选择").click()
    page.get_by_role("button", name="视图与排序").click()
    page.get_by_role("menuitemradio", name="以缩略图显示").click()
    expect(rows(page)).to_have_count(4)
    assert violations(page) == []
