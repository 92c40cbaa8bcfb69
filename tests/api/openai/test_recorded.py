"""Requests that programs sent, recorded from the programs themselves.

Open WebUI 0.12.4: its chat and its tasks, over its own API. LibreChat: `@librechat/agents` 3.9.2, with which it asks
models, run for real with a chat and with titles by each of its methods, against a server that kept what came.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.api.openai.asking import orders_of, threads_of

if TYPE_CHECKING:
    from tests.e2e.person import Person

FOLDER: Final = Path(__file__).parent / "recorded"
RECORDED: Final[dict[str, Any]] = json.loads((FOLDER / "open_webui.json").read_text())
LIBRECHAT: Final[dict[str, Any]] = json.loads((FOLDER / "librechat.json").read_text())
TASKS: Final = ("title", "tags", "follow-ups", "queries")


def send(person: Person, name: str, recorded: dict[str, Any] = RECORDED) -> str:
    """Send a recorded request; return what was said."""
    request = recorded[name]
    answer = person.http.post("/v1/chat/completions", json=request["body"], headers=request["headers"])
    assert answer.is_success, answer.text
    if not request["body"].get("stream"):
        return answer.json()["choices"][0]["message"]["content"]
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
    choices = [choice for line in lines for choice in json.loads(line)["choices"]]
    return "".join(choice["delta"].get("content", "") for choice in choices)


def test_a_chat_goes_on_is_edited_and_shows_a_picture(owner: Person) -> None:
    person = owner.add_new("webui")
    assert send(person, "begin") == "You said hello there"
    assert send(person, "go on") == "You said and two 二"
    assert orders_of(person) == ["hello there", "and two 二"]
    assert send(person, "edit") == "You said and three"
    assert orders_of(person) == ["hello there", "and three"]
    assert "look" in send(person, "picture")
    assert len(threads_of(person)) == 1
    assert "Chat attachments" in person.names()
    person.close()


def test_its_tasks_belong_to_no_conversation(owner: Person) -> None:
    before, runs = threads_of(owner), owner.get("/api/runs")["items"]
    for name in TASKS:
        assert RECORDED[name]["body"]["messages"][0]["content"].startswith("### Task:")
        assert send(owner, name)
    assert threads_of(owner) == before
    assert owner.get("/api/runs")["items"] == runs


def test_librechat_begins_and_goes_on(owner: Person) -> None:
    person = owner.add_new("librechat")
    assert send(person, "begin", LIBRECHAT) == "You said one plum"
    assert send(person, "go on", LIBRECHAT) == "You said two plums"
    assert orders_of(person) == ["one plum", "two plums"]
    assert len(threads_of(person)) == 1
    assert LIBRECHAT["stop words"]["body"]["stop"]
    assert send(person, "stop words", LIBRECHAT) == "You said three plums"
    person.close()


def test_a_title_of_librechat_belongs_to_no_conversation(owner: Person) -> None:
    before, runs = threads_of(owner), owner.get("/api/runs")["items"]
    assert send(owner, "title completion", LIBRECHAT)
    assert threads_of(owner) == before
    assert owner.get("/api/runs")["items"] == runs
