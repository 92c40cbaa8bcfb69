"""Approvals: shown as what they will do, decided one by one and together, changed, granted, and decided elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import expect

from tests.fakes.chat_model import ScriptedChatModel, route_to, tool_call, tool_calls
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


class Router(ScriptedChatModel):
    """Routes every turn to one agent."""

    agent: str = "drive_agent"

    def _answer(self, messages: Any, offered: Any) -> Any:
        del messages, offered
        return route_to(self.agent)


@pytest.fixture(scope="module")
def router() -> Router:
    return Router()


@pytest.fixture
def document_agent(router: Router) -> Generator[None]:
    """Route to the Document agent."""
    router.agent = "document_agent"
    yield
    router.agent = "drive_agent"


@pytest.fixture(autouse=True)
def plan(owner: Person) -> dict[str, Any]:
    """A drive with one file and one folder."""
    empty(owner)
    owner.folder("Archive")
    return owner.upload("plan.md", "# Plan\n\nOne line\n")


def ask(page: Page, words: str = "Please do it") -> Locator:
    """Say something that the model answers with calls that wait; return the card."""
    page.locator("#composer").fill(words)
    page.keyboard.press("Enter")
    card = page.locator("section.approval")
    expect(card).to_be_visible()
    return card


def trash(item: dict[str, Any], call: str = "t") -> Any:
    return tool_call("trash_item", call, item_id=item["id"])


def share(item: dict[str, Any], call: str = "s") -> Any:
    return tool_call("share_item", call, item_id=item["id"], email="bea@example.com", role="viewer")


def test_a_call_is_shown_as_what_it_will_do_and_approved(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    model.script[:] = [trash(plan), "It is in the trash."]
    card = ask(page)
    expect(card).to_contain_text("Move 'plan.md' to the trash")
    expect(card.get_by_role("link", name="/plan.md")).to_be_visible()
    expect(card.get_by_text("yours")).to_be_visible()
    expect(card).to_contain_text("Nothing is lost: it can be restored from the trash.")
    expect(card.get_by_role("timer")).to_contain_text("left")
    expect(page.get_by_role("button", name="1 decision waits for you")).to_be_visible()
    expect(page).to_have_title("(1) Drive Agent")
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert owner.names() == ["Archive", "plan.md"]
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("It is in the trash.")).to_be_visible()
    expect(page.get_by_text("Approved:")).to_be_visible()
    expect(page).to_have_title("Drive Agent")
    assert owner.names() == ["Archive"]


@pytest.mark.usefixtures("document_agent")
def test_a_change_is_checked_beside_its_field_and_made_as_it_was_changed(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    model.script[:] = [tool_call("write_file", "w", file_id=plan["id"], content="Other words\n"), "Written."]
    card = ask(page)
    diff = card.get_by_role("region", name="What changes in the text")
    expect(diff).to_contain_text("Other words")
    card.get_by_role("button", name="Change").click()
    content = card.get_by_role("textbox", name="content")
    content.fill("")
    card.get_by_role("button", name="Approve with these changes").click()
    expect(card.get_by_text("It has to be filled in.")).to_be_visible()
    expect(content).to_be_focused()
    assert violations(page) == []
    content.fill("My own words\n")
    card.get_by_role("button", name="Approve with these changes").click()
    expect(page.get_by_text("Approved with changes:")).to_be_visible()
    expect(page.get_by_text("Written.", exact=True)).to_be_visible()
    assert owner.http.get(f"/api/drive/files/{plan['id']}/content").text == "My own words\n"


def test_several_calls_are_decided_one_by_one_and_sent_together(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    owner.http.post("/api/users", json={"email": "bea@example.com"})
    model.script[:] = [tool_calls(trash(plan), share(plan)), "One of both."]
    card = ask(page)
    sharing = card.get_by_role("article", name="Share 'plan.md'")
    expect(sharing).to_contain_text("Gains access: bea@example.com")
    sharing.get_by_role("button", name="Reject").click()
    sharing.get_by_label("Why?").fill("Bea has left.")
    sharing.get_by_role("button", name="Reject it").click()
    expect(sharing).to_contain_text("Rejected: Bea has left.")
    sharing.get_by_role("button", name="Decide again").click()
    sharing.get_by_role("button", name="Reject").click()
    sharing.get_by_role("button", name="Reject it").click()
    assert owner.names() == ["Archive", "plan.md"]
    card.get_by_role("article", name="Move 'plan.md'").get_by_role("button", name="Approve").click()
    card.get_by_role("button", name="Send the 2 decisions").click()
    expect(page.get_by_text("One of both.")).to_be_visible()
    assert owner.names() == ["Archive"]


def test_all_are_rejected_at_once(page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]) -> None:
    owner.http.post(f"/api/drive/items/{owner.upload('old.txt', 'x')['id']}/trash")
    model.script[:] = [tool_calls(trash(plan), tool_call("empty_trash", "e")), "Nothing was done."]
    card = ask(page)
    final = card.get_by_role("article").last
    expect(final).to_contain_text("can't be undone")
    assert page.evaluate("document.activeElement.closest('.approval')") is None
    card.get_by_role("button", name="Reject all 2").click()
    expect(page.get_by_text("Nothing was done.")).to_be_visible()
    assert owner.names() == ["Archive", "plan.md"]


FOCUSED_WHEN_DRAWN: Final = """async button => {
  button.click();
  const opened = () => button.closest("article").querySelector("form");
  while (!opened()) await null;
  return opened().contains(document.activeElement);
}"""


@pytest.mark.parametrize("way", ["Reject", "Allow for a while"])
def test_what_opens_takes_the_keys_from_the_first_on(
    page: Page, model: ScriptedChatModel, plan: dict[str, Any], way: str
) -> None:
    model.script[:] = [trash(plan), "In the trash."]
    card = ask(page)
    assert card.get_by_role("button", name=way).evaluate(FOCUSED_WHEN_DRAWN)
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("In the trash.")).to_be_visible()


def test_an_answer_is_given_in_place_of_a_decision(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    model.script[:] = [trash(plan), "I keep it."]
    card = ask(page)
    card.get_by_role("button", name="Answer").click()
    card.get_by_role("button", name="Send, and don't do this").click()
    expect(card.get_by_text("It has to be filled in.")).to_be_visible()
    card.get_by_label("What shall the assistant do instead?").fill("Keep it")
    page.keyboard.press("Escape")
    expect(card.get_by_label("What shall the assistant do instead?")).to_have_count(0)
    card.get_by_role("button", name="Answer").click()
    card.get_by_label("What shall the assistant do instead?").fill("Keep it")
    card.get_by_role("button", name="Send, and don't do this").click()
    expect(page.get_by_text("I keep it.")).to_be_visible()
    assert owner.names() == ["Archive", "plan.md"]


def test_a_kind_of_change_is_allowed_for_a_while_and_asked_about_no_more(
    page: Page, owner: Person, model: ScriptedChatModel
) -> None:
    bills = owner.folder("Bills")
    first, second = (owner.upload(name, name, bills["id"]) for name in ("a.txt", "b.txt"))
    model.script[:] = [trash(first, "1"), "Done.", trash(second, "2"), "Done without a question."]
    card = ask(page)
    card.get_by_role("button", name="Allow for a while").click()
    expect(card.get_by_label("Inside the folder")).to_have_value("/Bills")
    card.get_by_label("For so many items at most").fill("5")
    card.get_by_role("button", name="Approve and allow").click()
    expect(page.get_by_text("Approved, and allowed for a while:")).to_be_visible()
    expect(page.get_by_text("Done.", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="What was changed")).to_be_visible()
    page.locator("#composer").fill("And the other one")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Done without a question.")).to_be_visible()
    assert owner.names(bills["id"]) == []


def test_what_is_decided_elsewhere_is_shown_so_in_every_tab(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    model.script[:] = [trash(plan), "Kept."]
    card = ask(page)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("section.approval")).to_be_visible()
    [waiting] = owner.get("/api/approvals")["items"]
    decisions = [{"tool_call_id": "t", "type": "reject", "message": "No"}]
    owner.http.post(f"/api/approvals/{waiting['approval_id']}", json={"decisions": decisions})
    expect(page.get_by_text("Decided in another window or program.")).to_be_visible()
    expect(card).to_have_count(0)
    expect(other.get_by_text("Rejected:")).to_be_visible()
    expect(page.get_by_text("Kept.")).to_be_visible()


@pytest.mark.usefixtures("document_agent")
def test_what_changed_meanwhile_is_asked_about_again(
    page: Page, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    model.script[:] = [tool_call("write_file", "w", file_id=plan["id"], content="Other words\n"), "Written."]
    card = ask(page)
    owner.http.put(f"/api/drive/files/{plan['id']}/content", content="Changed by somebody")
    card.get_by_role("button", name="Approve").click()
    expect(card.get_by_text("It has changed since you were asked; please look again.")).to_be_visible()
    expect(card).to_contain_text("Changed by somebody")
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Written.", exact=True)).to_be_visible()


def test_the_list_leads_from_another_conversation_to_what_waits(
    visits: Visits, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    page = visits.open("", language="zh", size=NARROWEST, dark=True, touch=True)
    model.script[:] = [trash(plan), "好了。"]
    conversation = page.locator(".side-tabs").get_by_role("button").last
    conversation.click()
    card = ask(page, "请删除 plan.md")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    conversation.click()
    expect(card).to_be_visible()
    page.goto("/#/folder/root")
    page.get_by_role("button", name="有 1 项等待您决定").click()
    page.get_by_role("menuitem", name="plan.md").click()
    expect(card).to_be_visible()
    card.get_by_role("button", name="拒绝").click()
    expect(card.get_by_label("原因？")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("好了。")).to_be_visible()
    expect(page.get_by_text("已拒绝：")).to_be_visible()
    assert owner.names() == ["Archive", "plan.md"]


HIDDEN: Final = """() => {
    window.shown = [];
    window.Notification = class {
        static permission = 'default';
        static requestPermission = async () => (Notification.permission = 'granted');
        constructor(title, options) { window.shown.push([title, options.body]); }
        close() {}
    };
}"""
"""A system that shows notifications, and keeps what it showed."""


def test_who_wants_notifications_is_told_while_the_page_is_hidden(
    visits: Visits, owner: Person, model: ScriptedChatModel, plan: dict[str, Any]
) -> None:
    page = visits.open()
    page.evaluate(HIDDEN)
    model.script[:] = [trash(plan), "Kept."]
    card = ask(page)
    page.get_by_role("button", name="1 decision waits for you").click()
    page.get_by_role("menuitemcheckbox", name="Notify me").click()
    assert page.evaluate("window.shown") == []
    card.get_by_role("button", name="Reject").click()
    expect(card.get_by_role("textbox")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Kept.")).to_be_visible()
    model.script[:] = [trash(plan, "again"), "Done."]
    with owner.chat("Once more") as turn:
        turn.until("approval_needed")
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_function("() => window.shown.length === 1")
    (told,) = page.evaluate("window.shown")
    assert "plan.md" in told[1]
    expect(page).to_have_title(re.compile(r"^\(1\)"))


def test_a_hostile_name_is_only_a_name(page: Page, owner: Person, model: ScriptedChatModel) -> None:
    name = "<img src=x onerror=alert(1)>.txt"
    item = owner.upload(name, "x")
    model.script[:] = [tool_call("trash_item", "t", item_id=item["id"]), "Kept."]
    card = ask(page)
    expect(card.locator("img, script")).to_have_count(0)
    expect(card.locator("bdi").first).to_contain_text("<img src=x")
    card.get_by_role("button", name="Reject").click()
    card.get_by_role("button", name="Reject it").click()
    expect(page.get_by_text("Kept.")).to_be_visible()
