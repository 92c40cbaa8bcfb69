"""The list as the drive is: what the assistant and others change appears by itself, and is marked for a moment."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.fakes.chat_model import tool_call
from tests.web.browser.visits import set_in_view
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits


@pytest.fixture(autouse=True)
def _empty(owner: Person) -> None:
    empty(owner)
    owner.upload("a.txt", "a")


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


def test_what_the_assistant_makes_appears_and_is_marked_as_its_own(
    page: Page, owner: Person, model: ScriptedChatModel
) -> None:
    expect(row(page, "a.txt")).to_be_visible()
    model.script[:] = [tool_call("create_folder", name="From the assistant", folder_id="root"), "Made."]
    page.get_by_role("textbox", name="Message").fill("Make a folder")
    page.keyboard.press("Enter")
    made = row(page, "From the assistant")
    expect(made).to_be_visible()
    expect(made.get_by_title("Just changed by the assistant")).to_be_visible()
    expect(row(page, "a.txt").get_by_title("Just changed by the assistant")).to_have_count(0)
    assert "From the assistant" in owner.names()


def test_what_somebody_else_does_in_a_shared_folder_appears_and_is_marked(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Together")
    with closing(owner.add_new("ines")) as ines:
        share = {"email": ines.email, "role": "editor"}
        owner.http.post(f"/api/drive/items/{folder['id']}/shares", json=share).raise_for_status()
        page = visits.open(f"#/folder/{folder['id']}")
        expect(page.get_by_text("Nothing in here yet")).to_be_visible()
        item = ines.upload("from ines.txt", "hello", folder["id"])
        expect(row(page, "from ines.txt").get_by_title("Just changed by somebody else")).to_be_visible()
        ines.http.patch(f"/api/drive/items/{item['id']}", json={"name": "renamed.txt"}).raise_for_status()
        expect(row(page, "renamed.txt")).to_be_visible()
        expect(row(page, "from ines.txt")).to_have_count(0)
        ines.http.post(f"/api/drive/items/{item['id']}/trash").raise_for_status()
        expect(page.get_by_text("Nothing in here yet")).to_be_visible()


def test_a_name_that_is_being_written_stays_when_the_file_changes(page: Page, owner: Person) -> None:
    row(page, "a.txt").click()
    page.keyboard.press("F2")
    name = page.get_by_role("textbox", name="Name")
    name.fill("half a name")
    (file,) = owner.children()
    owner.http.put(f"/api/drive/files/{file['id']}/content", content="much longer " * 1000).raise_for_status()
    expect(page.get_by_role("grid").get_by_text("12 kB")).to_be_visible()
    expect(name).to_have_value("half a name")


def test_a_browser_has_any_number_of_tabs_and_each_knows_what_changed_when_it_is_looked_at(
    page: Page, owner: Person
) -> None:
    """A browser opens six connections to a service, for all tabs together."""
    tabs = [page]
    for _ in range(8):
        set_in_view(tabs[-1], is_in_view=False)
        tabs.append(page.context.new_page())
        tabs[-1].goto("/")
        expect(row(tabs[-1], "a.txt")).to_be_visible()
    owner.upload("meanwhile.txt", "b")
    expect(row(tabs[-1], "meanwhile.txt")).to_be_visible()
    expect(row(page, "meanwhile.txt")).to_have_count(0)
    set_in_view(page, is_in_view=True)
    expect(row(page, "meanwhile.txt")).to_be_visible()


def test_a_selection_is_summarised_with_its_files_attached(page: Page, owner: Person, model: ScriptedChatModel) -> None:
    owner.upload("b.txt", "b")
    model.script[:] = ["Both are short."]
    row(page, "a.txt").click()
    row(page, "b.txt").click(modifiers=["Shift"])
    page.keyboard.press("Shift+F10")
    with page.expect_request("**/api/chat") as sent:
        page.get_by_role("menuitem", name="Summarise").click()
    asked = sent.value.post_data_json
    assert asked is not None
    ids = {item["name"]: item["id"] for item in owner.children()}
    assert asked["attachments"] == [{"file_id": ids["a.txt"]}, {"file_id": ids["b.txt"]}]
    assert asked["message"] == "Summarise the attached items."
    expect(page.get_by_text("Both are short.")).to_be_visible()


def test_stars_are_given_and_listed_and_taken(page: Page, owner: Person) -> None:
    row(page, "a.txt").click()
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Add a star").click()
    page.get_by_role("link", name="Starred").click()
    expect(row(page, "a.txt")).to_be_visible()
    row(page, "a.txt").click()
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Remove the star").click()
    expect(page.get_by_text("No stars yet")).to_be_visible()
    assert owner.get("/api/drive/starred")["items"] == []


def test_how_full_the_drive_is_stands_below_the_places(visits: Visits, owner: Person) -> None:
    with closing(owner.add_new("tom")) as tom:
        tom.upload("half.bin", bytes(500_000))
        owner.http.patch(f"/api/users/{tom.email}", json={"quota_bytes": 1_000_000}).raise_for_status()
        page = visits.open("", tom)
        meter = page.get_by_role("meter", name="How full your drive is")
        expect(meter).to_have_attribute("value", "0.5")
        expect(page.get_by_text("500 kB of 1 MB").last).to_be_visible()
