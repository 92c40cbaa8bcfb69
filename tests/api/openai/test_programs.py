"""Requests as programs send them that people have.

Written from their public source. Open WebUI 0.12: `backend/open_webui/routers/openai.py` and `utils/headers.py` (chat
ids), `config.py` (the prompts of its housekeeping). LibreChat: `packages/api/src/utils/env.ts` (headers); it sends
by LangChain's client.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.command_model import command
from tests.api.openai.asking import assistant, messages_of, orders_of, system, threads_of, user

if TYPE_CHECKING:
    import httpx

    from tests.e2e.person import Person

TITLE = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Guidelines:
- The title should clearly represent the main theme or subject of the conversation.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: %s
ASSISTANT: Done.
</chat_history>"""
TAGS = "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n%s"
FOLLOW_UPS = "### Task:\nSuggest 3-5 relevant follow-up questions or prompts.\n%s"
QUERIES = "### Task:\nAnalyze the chat history to determine the necessity of generating search queries.\n%s"
COMPLETION = "### Task:\nYou are an autocompletion system. Continue the text in `<text>`.\n%s"


def from_open_webui(person: Person, *messages: Any, chat: str = "", stream: bool = True) -> httpx.Response:
    body: dict[str, Any] = {"model": "drive_agent", "messages": [*messages], "stream": stream}
    if stream:
        body |= {"stream_options": {"include_usage": True}, "temperature": 0.8, "reasoning_effort": None}
    else:
        body |= {"max_completion_tokens": 1000}
    named = {"X-OpenWebUI-Chat-Id": chat, "X-OpenWebUI-User-Id": "4f1c", "X-OpenWebUI-User-Name": "Ann"} if chat else {}
    return person.http.post("/v1/chat/completions", json=body, headers=named)


def said_in(answer: httpx.Response) -> str:
    assert answer.is_success, answer.text
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    choices = [choice for line in lines[:-1] for choice in json.loads(line)["choices"]]
    return "".join(choice["delta"].get("content", "") for choice in choices)


def test_open_webui_goes_on_in_the_chat_that_it_names_whatever_it_tells_of_it(owner: Person) -> None:
    said_in(from_open_webui(owner, system("Today is Monday."), user("one grape"), chat="c-1"))
    changed = [user("one grape"), assistant("an answer that somebody edited"), user("two grapes")]
    said_in(from_open_webui(owner, *changed, chat="c-1"))
    changed += [assistant("edited, too"), user("three grapes")]
    said_in(from_open_webui(owner, *changed, chat="c-1"))
    assert orders_of(owner) == ["one grape", "two grapes", "three grapes"]
    assert ("assistant", "an answer that somebody edited") not in messages_of(owner, threads_of(owner)[0]["thread_id"])


def test_open_webui_edits_the_first_message_of_the_chat_that_it_names(owner: Person) -> None:
    said_in(from_open_webui(owner, user("one melon"), chat="c-2"))
    said_in(from_open_webui(owner, user("two melons"), chat="c-2"))
    assert orders_of(owner) == ["two melons"]


def test_a_chat_of_that_name_is_each_persons_own(owner: Person) -> None:
    said_in(from_open_webui(owner, user("my lemon"), chat="c-3"))
    other = owner.add_new("other")
    said_in(from_open_webui(other, user("their lemon"), chat="c-3"))
    assert orders_of(other) == ["their lemon"]
    assert len(threads_of(other)) == 1
    other.close()


@pytest.mark.parametrize("prompt", [TITLE, TAGS, FOLLOW_UPS, QUERIES, COMPLETION])
def test_housekeeping_has_no_thread_no_tool_and_no_effect(owner: Person, prompt: str) -> None:
    before, runs, names = threads_of(owner), owner.get("/api/runs")["items"], owner.names()
    order = command("create_folder", name="Made by a title", folder_id="root")
    answer = from_open_webui(owner, system("User local date and time: 2026-05-16"), user(prompt % order), stream=False)
    body = answer.json()
    assert body["object"] == "chat.completion"
    assert body["choices"][0]["finish_reason"] == "stop"
    assert threads_of(owner) == before
    assert owner.get("/api/runs")["items"] == runs
    assert owner.names() == names


def test_a_person_who_writes_so_into_a_stream_talks_with_the_assistant(owner: Person) -> None:
    said_in(from_open_webui(owner, user("### Task: sort my files")))
    assert orders_of(owner) == ["### Task: sort my files"]


def test_librechat_goes_on_in_its_conversation(owner: Person) -> None:
    def send(conversation: str, *messages: Any) -> str:
        body = {
            "model": "drive_agent",
            "messages": [*messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "user": "65f0",
            "n": 1,
        }
        headers = {"X-Conversation-Id": conversation, "x-stainless-lang": "js", "x-stainless-retry-count": "0"}
        return said_in(owner.http.post("/v1/chat/completions", json=body, headers=headers))

    first = send("new", user("one cherry"))
    send("b7e0c5", user("one cherry"), assistant(first), user("two cherries"))
    send("b7e0c5", user("one cherry"), assistant("cut"), user("two cherries"), assistant("cut"), user("three cherries"))
    assert orders_of(owner) == ["one cherry", "two cherries", "three cherries"]
    before = len(threads_of(owner))
    send("new", user("another"))
    send("{{LIBRECHAT_BODY_CONVERSATIONID}}", user("another"))
    assert len(threads_of(owner)) == before + 2


def test_titles_of_librechat_are_asked_of_the_model_without_tools(owner: Person) -> None:
    before = threads_of(owner)
    order = command("create_folder", name="Made by a title", folder_id="root")
    body = {"model": "drive_agent:text", "messages": [user(f"Provide a concise title.\n{order}")], "stream": True}
    said_in(owner.http.post("/v1/chat/completions", json=body))
    assert threads_of(owner) == before
    assert "Made by a title" not in owner.names()
