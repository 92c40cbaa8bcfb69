"""What was changed, and taken back: below an answer, and in the list of all changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.fakes.chat_model import tool_call, tool_calls
from tests.web.browser.axe import violations
from tests.web.browser.visits import PHONE
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits


def test_what_a_run_did_is_taken_back_and_done_again(page: Page, owner: Person, model: ScriptedChatModel) -> None:
    empty(owner)
    folders = tool_calls(*(tool_call("create_folder", f"c{name}", name=name, folder_id="root") for name in "AB"))
    model.script[:] = [folders, "Both are there."]
    page.locator("#composer").fill("Make the folders A and B")
    page.keyboard.press("Enter")
    changed = page.get_by_role("region", name="What was changed")
    changed.get_by_role("button", name="Undo all").click()
    dialog = page.get_by_role("dialog", name="Take it back?")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    dialog.get_by_role("button", name="Undo").click()
    expect(changed.get_by_role("button", name="Undo all")).to_have_count(0)
    assert owner.names() == []
    changed.get_by_role("button", name="Redo").click()
    page.get_by_role("dialog", name="Do it again?").get_by_role("button", name="Redo").click()
    expect(changed.get_by_role("button", name="Undo all")).to_be_visible()
    assert sorted(owner.names()) == ["A", "B"]
    changed.get_by_role("button", name="Record of each call").click()
    expect(page.get_by_role("dialog", name="Record of each call").get_by_role("listitem").first).to_contain_text("done")
    assert violations(page) == []


def test_a_change_is_found_in_the_list_and_taken_back(visits: Visits, owner: Person) -> None:
    empty(owner)
    owner.folder("发票 🧾")
    page = visits.open("#/changes", language="zh", size=PHONE, dark=True)
    row = page.get_by_role("listitem").filter(has_text="发票 🧾").first
    row.get_by_role("button", name="撤销").click()
    page.get_by_role("dialog").get_by_role("button", name="撤销", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text="发票 🧾").filter(has_text="已撤销")).to_be_visible()
    assert owner.names() == []
    assert violations(page) == []
