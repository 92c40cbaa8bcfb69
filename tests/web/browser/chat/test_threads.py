"""Conversations: listed, searched, named, saved as files, deleted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits


def talk(person: Person, model: ScriptedChatModel, message: str, said: str) -> str:
    """Have a conversation over HTTP; return its id."""
    model.script[:] = [said]
    with person.chat(message) as turn:
        turn.finish()
    return turn.of("run")[0]["thread_id"]


def listed(page: Page) -> Locator:
    return page.get_by_role("list", name="Conversations").get_by_role("listitem")


def menu(page: Page, title: str, entry: str) -> None:
    page.get_by_role("button", name=f"More for “{title}”").click()
    page.get_by_role("menuitem", name=entry).click()


@pytest.fixture
def threads(owner: Person, model: ScriptedChatModel) -> None:
    """Two conversations of the owner, and none before them."""
    for thread in owner.get("/api/threads")["items"]:
        owner.http.delete(f"/api/threads/{thread['thread_id']}").raise_for_status()
    talk(owner, model, "Where are the oaks?", "In the park, near the **lake**.")
    talk(owner, model, "合同在哪里？", "在合同文件夹里。")


@pytest.mark.usefixtures("threads")
def test_conversations_are_found_by_words_of_questions_and_answers(page: Page) -> None:
    page.get_by_role("button", name="Conversations").click()
    search = page.get_by_role("searchbox", name="Search conversations")
    expect(search).to_be_focused()
    expect(listed(page)).to_have_count(2)
    search.fill("lake")
    expect(listed(page)).to_have_count(1)
    expect(listed(page)).to_contain_text("Where are the oaks?")
    search.fill("合同")
    expect(listed(page)).to_contain_text(re.compile("合同在哪里"))
    search.fill("nothing like it")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    search.fill("")
    expect(listed(page)).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("near the lake")).to_be_visible()


@pytest.mark.usefixtures("threads")
def test_a_conversation_is_given_another_name(page: Page) -> None:
    page.get_by_role("button", name="Conversations").click()
    menu(page, "Where are the oaks?", "Rename")
    title = page.get_by_role("dialog").get_by_role("textbox")
    title.fill("x" * 81)
    title.press("Enter")
    expect(page.get_by_text("A title has 80 characters at most.")).to_be_visible()
    expect(title).to_have_value("x" * 81)
    title.fill("Trees 🌳")
    title.press("Enter")
    expect(listed(page).filter(has_text="Trees 🌳")).to_have_count(1)
    listed(page).get_by_role("button", name="Trees 🌳").first.click()
    expect(page.get_by_role("heading", name="Trees 🌳")).to_be_visible()


@pytest.mark.usefixtures("threads")
def test_a_conversation_is_deleted_after_a_question(page: Page, owner: Person) -> None:
    page.get_by_role("button", name="Conversations").click()
    menu(page, "Where are the oaks?", "Delete")
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("What was changed in the drive stays.")
    question.get_by_role("button", name="Cancel").click()
    expect(listed(page)).to_have_count(2)
    menu(page, "Where are the oaks?", "Delete")
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(listed(page)).to_have_count(1)
    assert len(owner.get("/api/threads")["items"]) == 1


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(("entry", "suffix"), [("Save as Markdown", "md"), ("Save as JSON", "json")])
def test_a_conversation_is_saved_as_a_file(page: Page, entry: str, suffix: str) -> None:
    page.get_by_role("button", name="Conversations").click()
    page.get_by_role("button", name="More for “Where are the oaks?”").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=entry).click()
    assert download.value.suggested_filename == f"Where are the oaks.{suffix}"
    text = Path(download.value.path()).read_text()
    assert "near the **lake**" in text
    if suffix == "json":
        assert orjson.loads(text)["title"] == "Where are the oaks?"


def test_without_conversations_the_list_says_so(visits: Visits, owner: Person) -> None:
    for thread in owner.get("/api/threads")["items"]:
        owner.http.delete(f"/api/threads/{thread['thread_id']}").raise_for_status()
    page = visits.open()
    page.get_by_role("button", name="Conversations").click()
    expect(page.get_by_text("No conversations yet")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="What shall we do with your files?")).to_be_visible()
