"""A run from an earlier checkpoint: the last message anew, or another one in its place."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langgraph_sdk.errors import ConflictError, NotFoundError

from tests.api.langgraph.talking import AGENT, new_thread, said, texts


def talked(client: Any, *messages: str) -> str:
    thread_id = new_thread(client)
    for message in messages:
        client.runs.wait(thread_id, AGENT, input=said(message))
    return thread_id


def before(client: Any, thread_id: str, text: str) -> Any:
    """Return the checkpoint before the first state with a message, as agent-chat-ui finds it."""
    states = client.threads.get_history(thread_id, limit=100)
    having = [one for one in states if text in [message["content"] for message in one["values"]["messages"]]]
    return having[-1]["parent_checkpoint"]


def test_an_answer_is_made_anew(client: Any) -> None:
    thread_id = talked(client, "one", "two")
    place = before(client, thread_id, "You said two")
    values = client.runs.wait(thread_id, AGENT, input=None, checkpoint=place)
    assert [content for _, content in texts(values)] == ["one", "You said one", "two", "You said two"]
    found = client.threads.get_state(thread_id)["values"]["messages"]
    assert [message["content"] for message in found].count("two") == 1


def test_the_last_message_is_replaced(client: Any, owner: Any) -> None:
    thread_id = talked(client, "one", "two")
    values = client.runs.wait(thread_id, AGENT, input=said("deux"), checkpoint=before(client, thread_id, "two"))
    assert [content for _, content in texts(values)] == ["one", "You said one", "deux", "You said deux"]
    messages = owner.get(f"/api/threads/{thread_id}")["messages"]
    assert len(messages[2]["versions"]) == 2


def test_a_message_at_the_newest_checkpoint_goes_on(client: Any) -> None:
    thread_id = talked(client, "one")
    newest = client.threads.get_state(thread_id)["checkpoint"]
    values = client.runs.wait(thread_id, AGENT, input=said("two"), checkpoint=newest)
    assert len(values["messages"]) == 4


def test_an_earlier_message_is_replaced_with_all_that_followed(client: Any, owner: Any) -> None:
    thread_id = talked(client, "one", "two", "three")
    values = client.runs.wait(thread_id, AGENT, input=said("deux"), checkpoint=before(client, thread_id, "two"))
    assert [content for _, content in texts(values)] == ["one", "You said one", "deux", "You said deux"]
    messages = owner.get(f"/api/threads/{thread_id}")["messages"]
    assert [len(message["versions"]) for message in messages if message["role"] == "user"] == [0, 2]
    values = client.runs.wait(thread_id, AGENT, input=said("un"), checkpoint=before(client, thread_id, "one"))
    assert [content for _, content in texts(values)] == ["un", "You said un"]


def test_an_earlier_answer_is_made_anew(client: Any) -> None:
    thread_id = talked(client, "one", "two")
    values = client.runs.wait(thread_id, AGENT, input=None, checkpoint=before(client, thread_id, "You said one"))
    assert [content for _, content in texts(values)] == ["one", "You said one"]


def test_a_version_that_was_left_is_not_gone_on_from(client: Any) -> None:
    thread_id = talked(client, "one", "two")
    left = client.threads.get_state(thread_id)["checkpoint"]
    client.runs.wait(thread_id, AGENT, input=said("un"), checkpoint=before(client, thread_id, "one"))
    with pytest.raises(ConflictError, match="checkpoint"):
        client.runs.create(thread_id, AGENT, input=said("three"), checkpoint=left)
    with pytest.raises(NotFoundError):
        client.runs.create(thread_id, AGENT, input=said("un"), checkpoint={"checkpoint_id": str(uuid4())})
