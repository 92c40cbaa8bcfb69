"""Citations have numbers, open the file at their place, and are marked if they are not verified."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.fakes.chat_model import tool_call
from tests.web.browser.axe import violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel

HANDBOOK = "# Handbook\n\n## Leave\n\nStaff get 25 days of paid leave. Ask in writing.\n"


def ask(page: Page, model: ScriptedChatModel, file_id: str) -> None:
    model.script[:] = [
        tool_call("read_file", file_id=file_id),
        "“Staff get 25 days of paid leave” [1], and “staff get a car” [2].\n\n[1] /handbook.md\n[2] /handbook.md",
    ]
    page.get_by_role("textbox", name="Message").fill("How much leave do staff get?")
    page.keyboard.press("Enter")


def test_a_number_opens_the_file_at_the_place_and_an_invented_one_is_marked(
    page: Page, owner: Person, model: ScriptedChatModel
) -> None:
    item = owner.upload("handbook.md", HANDBOOK)
    ask(page, model, item["id"])
    quoted = page.get_by_role("button", name=re.compile("Citation 1: “Staff get 25 days of paid leave” — handbook.md"))
    # In the text, and in the list of sources below it.
    expect(quoted).to_have_count(2)
    invented = page.get_by_role("button", name=re.compile("Citation 2, not verified: These words do not stand"))
    expect(invented.first).to_have_text("2?")
    assert violations(page) == []
    quoted.first.press("Enter")
    expect(page).to_have_url(re.compile(f"#/file/{item['id']}.*start="))
    expect(page.locator("mark")).to_have_text("Staff get 25 days of paid leave")
    expect(page.locator("mark")).to_be_in_viewport()


def test_quotations_are_still_there_when_the_page_is_loaded_again_and_the_file_has_changed(
    page: Page, owner: Person, model: ScriptedChatModel
) -> None:
    item = owner.upload("rules.md", HANDBOOK)
    ask(page, model, item["id"])
    expect(page.get_by_role("button", name=re.compile("^Citation 1"))).to_have_count(2)
    owner.http.put(f"/api/drive/files/{item['id']}/content", content="All new.").raise_for_status()
    page.reload()
    page.get_by_role("button", name=re.compile("^Citation 1")).first.click()
    expect(page.locator("mark")).to_have_text("Staff get 25 days of paid leave")
    expect(page.get_by_text("the file has changed since, the newest is version 2")).to_be_visible()
