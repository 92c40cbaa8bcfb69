"""Requests that agent-chat-ui (fdc87e6) sent from Chromium, recorded while a person used it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx

from tests.api.langgraph.talking import new_thread, texts

if TYPE_CHECKING:
    from tests.e2e.person import Person

RECORDED: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "recorded" / "agent_chat_ui.json").read_text())


class Page:
    """Send the recorded requests again, each with a checkpoint of this thread in place of the recorded one."""

    def __init__(self, client: Any, owner: Person) -> None:
        self._client = client
        self._http = owner.http
        self.thread_id = new_thread(client)

    def send(self, name: str, *, at: Any = None) -> list[tuple[str, str]]:
        """Send a recorded request at the newest checkpoint, or at another one; return the thread as it is then."""
        body = RECORDED[name]
        if "checkpoint" in body:
            body = {**body, "checkpoint": at or self._client.threads.get_state(self.thread_id)["checkpoint"]}
        answer = self._http.post(f"/threads/{self.thread_id}/runs/stream", json=body, timeout=httpx.Timeout(30))
        assert answer.is_success, answer.text
        assert "event: error" not in answer.text
        return self.shown()

    def shown(self) -> list[tuple[str, str]]:
        return texts(self._client.threads.get_state(self.thread_id)["values"])

    def before(self, text: str) -> Any:
        """Return the checkpoint before the first state with a message, as the page finds it."""
        states = self._client.threads.get_history(self.thread_id, limit=100)
        having = [one for one in states if text in [content for _, content in texts(one["values"])]]
        return having[-1]["parent_checkpoint"]

    @property
    def asks(self) -> bool:
        return self._client.threads.get(self.thread_id)["status"] == "interrupted"


def test_a_chat_is_edited_from_its_first_message_and_made_anew(client: Any, owner: Person) -> None:
    page = Page(client, owner)
    assert page.send("begin")[-1] == ("ai", "You said Good morning 你好")
    assert page.send("go on")[-1] == ("ai", "You said two")
    edited = [("human", "Good evening 晚上好"), ("ai", "You said Good evening 晚上好")]
    assert page.send("edit", at=page.before("Good morning 你好")) == edited
    assert page.send("regenerate", at=page.before("You said Good evening 晚上好")) == edited


def test_questions_are_rejected_approved_edited_and_left(client: Any, owner: Person) -> None:
    page = Page(client, owner)
    page.send("create")
    page.send("ask")
    assert page.asks
    assert page.send("reject")[-1][1].endswith("They say: I need it 我要用")
    assert "Made in chat ui" in owner.names()
    page.send("ask again")
    assert page.send("approve")[-1][1].startswith("Done: Moved to the trash")
    page.send("create another")
    page.send("lend")
    assert page.send("edit the call")[-1][1].startswith("Done: Made a link")
    page.send("ask while")
    shown = page.send("move on")
    assert shown[-1] == ("ai", "You said never mind 算了")
    assert "Successfully handled tool call." not in [content for _, content in shown]
    assert [kind for kind, _ in shown[-4:]] == ["ai", "tool", "human", "ai"]
    page.send("ask while")
    page.send("mark as resolved")
    assert not page.asks
    assert "Second" in owner.names()
