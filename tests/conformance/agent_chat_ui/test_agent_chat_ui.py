"""A person in agent-chat-ui. Its requests are recorded in tests/api/langgraph, for the runs without a built page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.api.command_model import command

if TYPE_CHECKING:
    from tests.api.langgraph.talking import HoldingModel
    from tests.conformance.agent_chat_ui.conftest import Chat
    from tests.e2e.person import Person

pytestmark = pytest.mark.timeout(300)
MOVED: Final = re.compile("^Moved to the trash")
REJECTED: Final = re.compile("^The person rejected this")


def test_an_answer_streams_and_stays_after_a_reload(chat: Chat, model: HoldingModel) -> None:
    chat.open()
    model.hold()
    chat.type("hear the held rest")
    expect(chat.page.get_by_text("You said hear the", exact=True)).to_be_visible(timeout=20_000)
    model.release()
    chat.shows("hear the held rest", "You said hear the held rest")
    chat.type("and on 继续")
    conversation = ("hear the held rest", "You said hear the held rest", "and on 继续", "You said and on 继续")
    chat.shows(*conversation)
    chat.page.reload()
    chat.shows(*conversation)
    chat.press("New thread")
    chat.type("another")
    chat.shows("another", "You said another")
    chat.open(chatHistoryOpen="true")
    chat.press("hear the held rest")
    chat.shows(*conversation)


def test_an_earlier_message_is_edited_and_an_answer_made_anew(chat: Chat) -> None:
    chat.open()
    chat.type("one")
    chat.shows("one", "You said one")
    chat.press("Edit", message := chat.said(0))
    message.locator("textarea").fill("uno 一")
    chat.press("Submit", message)
    chat.shows("uno 一", "You said uno 一")
    message = chat.said(0)
    expect(message.get_by_text("2 / 2")).to_be_visible()
    message.get_by_role("button").first.click()
    chat.shows("one", "You said one")
    chat.said(0).get_by_role("button").nth(1).click()
    chat.shows("uno 一", "You said uno 一")
    chat.type("two")
    chat.shows("uno 一", "You said uno 一", "two", "You said two")
    chat.press("Refresh", chat.answer(1))
    expect(chat.page.get_by_text("2 / 2")).to_have_count(1, timeout=20_000)
    chat.shows("uno 一", "You said uno 一", "two", "You said two")


def test_questions_are_rejected_approved_and_edited(chat: Chat, owner: Person) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        file = owner.upload(name, "x")
    chat.open()
    trash = command("trash_item", item_id="/a.txt")
    chat.type(trash)
    chat.asks("trash_item")
    chat.page.get_by_placeholder("Share feedback").fill("I need it 我要用")
    chat.press("Submit rejection")
    rejected = "The person rejected this. It was not done. They say: I need it 我要用"
    chat.shows(trash, rejected, f"Done: {rejected}")
    assert "a.txt" in owner.names()

    chat.press("New thread")
    chat.type(trash)
    chat.asks("trash_item")
    chat.page.reload()
    chat.asks("trash_item")
    chat.press("Approve")
    chat.shows(trash, MOVED, re.compile("^Done: Moved to the trash: /a.txt"))
    assert owner.names() == ["b.txt", "c.txt"]

    chat.press("New thread")
    lend = command("create_share_link", item_id=file["id"], expires_in_hours=24)
    chat.type(lend)
    chat.asks("create_share_link")
    chat.page.locator("div:has(> p:text-is('Expires In Hours')) > textarea").fill("5")
    chat.press("Submit")
    chat.shows(lend, re.compile("^Made a link"), re.compile("^Done: Made a link"))

    chat.press("New thread")
    both = "\n".join(command("trash_item", item_id=f"/{name}.txt") for name in "bc")
    chat.type(both)
    chat.asks("trash_item (1/2)")
    chat.press("Approve")
    chat.asks("trash_item (2/2)")
    chat.page.get_by_placeholder("Share feedback").fill("keep")
    chat.press("Submit rejection")
    chat.press("Submit all 2 decisions")
    chat.shows(both, REJECTED, MOVED, re.compile("^Done: "))
    assert owner.names() == ["c.txt"]


def test_a_message_while_a_question_waits_moves_on_and_does_nothing(chat: Chat, owner: Person) -> None:
    owner.upload("kept.txt", "x")
    trash = command("trash_item", item_id="/kept.txt")
    chat.open()
    chat.type(trash)
    chat.asks("trash_item")
    chat.type("never mind 算了")
    moved_on = re.compile("^Not executed: the person moved on")
    conversation = (trash, moved_on, "never mind 算了", "You said never mind 算了")
    chat.shows(*conversation)
    chat.page.reload()
    chat.shows(*conversation)
    chat.type(trash)
    chat.asks("trash_item")
    chat.press("Mark as Resolved")
    chat.shows(*conversation, trash, REJECTED, re.compile("^Done: The person rejected this"))
    assert owner.names() == ["kept.txt"]
