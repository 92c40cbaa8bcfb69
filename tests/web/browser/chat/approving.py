"""Conversations with calls that wait for a decision: the model's script, the drive, and the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.fakes.chat_model import ScriptedChatModel, route_to, tool_call
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person


class Router(ScriptedChatModel):
    """Routes every turn to one agent."""

    agent: str = "drive_agent"

    def _answer(self, messages: Any, offered: Any) -> Any:
        del messages, offered
        return route_to(self.agent)


def drive_with_plan(owner: Person) -> dict[str, Any]:
    """Empty the drive, and return the file that is put into it beside a folder."""
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
