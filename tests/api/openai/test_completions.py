"""Chat completions, asked with OpenAI's own client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import pytest

from tests.api.command_model import command
from tests.api.openai.asking import MODEL, ask, assistant, messages_of, threads_of, trash, user

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.person import Person


def test_an_answer_comes_whole(client: Any) -> None:
    made = client.chat.completions.create(model=MODEL, messages=[user("hello there")])
    assert made.choices[0].message.content == "You said hello there"
    assert made.choices[0].finish_reason == "stop"
    assert made.object == "chat.completion"
    assert made.usage is not None


def test_an_answer_comes_piece_by_piece_with_its_usage_last(client: Any) -> None:
    stream = client.chat.completions.create(
        model=MODEL, messages=[user("hello there")], stream=True, stream_options={"include_usage": True}
    )
    chunks = [*stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "You said hello there"
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_calls_show_as_lines_of_reasoning(client: Any) -> None:
    stream = client.chat.completions.create(
        model=MODEL, messages=[user(command("list_folder", folder_id="root"))], stream=True
    )
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    thoughts = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    assert thoughts == "list_folder …\nlist_folder: done\n"


def test_a_conversation_goes_on_in_its_thread(owner: Person, client: Any) -> None:
    first = ask(client, user("one apple"))
    before = len(threads_of(owner))
    ask(client, user("one apple"), assistant(first), user("two apples"))
    threads = threads_of(owner)
    assert len(threads) == before
    assert [text for _, text in messages_of(owner, threads[0]["thread_id"])] == [
        "one apple",
        "You said one apple",
        "two apples",
        "You said two apples",
    ]


def test_an_edited_message_and_a_regenerated_answer_are_versions(owner: Person, client: Any) -> None:
    first = ask(client, user("one pear"))
    ask(client, user("one pear"), assistant(first), user("two pears"))
    ask(client, user("one pear"), assistant(first), user("two pears"))
    ask(client, user("one pear"), assistant(first), user("three pears"))
    thread = threads_of(owner)[0]
    view = owner.get(f"/api/threads/{thread['thread_id']}")
    assert [one["text"] for one in view["messages"] if one["role"] == "user"] == ["one pear", "three pears"]
    assert len(view["messages"][-2]["versions"]) == 3


def test_an_earlier_message_that_is_edited_leaves_all_that_followed(owner: Person, client: Any) -> None:
    first = ask(client, user("one plum"))
    second = ask(client, user("one plum"), assistant(first), user("two plums"))
    ask(client, user("one plum"), assistant(first), user("two plums"), assistant(second), user("three plums"))
    before = len(threads_of(owner))
    ask(client, user("one plum"), assistant(first), user("four plums"))
    assert len(threads_of(owner)) == before
    view = owner.get(f"/api/threads/{threads_of(owner)[0]['thread_id']}")
    assert [one["text"] for one in view["messages"] if one["role"] == "user"] == ["one plum", "four plums"]
    versions = view["messages"][-2]["versions"]
    old = owner.get(f"/api/threads/{view['thread_id']}", version=versions[0])
    assert [one["text"] for one in old["messages"] if one["role"] == "user"] == ["one plum", "two plums", "three plums"]


def test_unknown_history_is_read_as_from_outside(owner: Person, client: Any) -> None:
    ask(client, user("made elsewhere"), assistant("I deleted nothing."), user("go on"))
    thread = threads_of(owner)[0]
    assert thread["title"] == "made elsewhere"
    assert messages_of(owner, thread["thread_id"])[:2] == [
        ("user", "made elsewhere"),
        ("assistant", "I deleted nothing."),
    ]
    with owner.chat(command("create_folder", name="x", folder_id="root"), thread_id=thread["thread_id"]) as turn:
        assert turn.until("approval_needed", "done")["type"] == "approval_needed"


@pytest.mark.parametrize(
    ("key", "options", "error"),
    [
        ("wrong", {}, openai.AuthenticationError),
        ("", {"model": "nobody"}, openai.NotFoundError),
        ("", {"messages": []}, openai.BadRequestError),
        ("", {"messages": [user("  ")]}, openai.BadRequestError),
        ("", {"messages": [assistant("hello")]}, openai.BadRequestError),
        ("", {"tool_choice": "required", "tools": []}, openai.BadRequestError),
    ],
)
def test_errors_have_openais_shape(
    client: Any, key: str, options: dict[str, Any], error: type[openai.APIStatusError]
) -> None:
    with pytest.raises(error) as caught:
        (client.with_options(api_key=key) if key else client).chat.completions.create(
            **{"model": MODEL, "messages": [user("hello")], **options}
        )
    body: Any = caught.value.body
    assert {"message", "type", "param", "code"} == set(body)
    assert body["message"]


def test_an_error_is_told_in_the_callers_language(client: Any) -> None:
    for said, headers in (("hello", {"Accept-Language": "zh"}), ("你好", {})):
        with pytest.raises(openai.NotFoundError, match="这里没有名为 nobody 的模型"):
            ask(client, user(said), extra_body={"model": "nobody"}, extra_headers=headers)


def test_models_are_the_assistants_each_with_its_text(owner: Person, client: Any) -> None:
    made = owner.http.post("/api/assistants", json={"name": "Archivist", "instructions": "Be brief."})
    assert made.is_success
    names = [model.id for model in client.models.list()]
    assert names == ["drive_agent", "drive_agent:text", "Archivist", "Archivist:text"]
    assert client.models.retrieve("Archivist:text").id == "Archivist:text"
    owner.http.delete(f"/api/assistants/{made.json()['id']}")


def test_a_reading_key_talks_and_changes_nothing(owner: Person, client_of: Callable[[Person], Any]) -> None:
    reader = owner.with_key("openai reader", "read")
    before = owner.names()
    said = ask(client_of(reader), user(command("create_folder", name="Never", folder_id="root")))
    assert "missing_scope" in said or "scope" in said
    assert owner.names() == before
    reader.close()


def test_a_run_that_fails_is_an_error_of_the_client(client: Any) -> None:
    broken = user("no_tool {not JSON}")
    with pytest.raises(openai.InternalServerError) as whole:
        ask(client, broken)
    assert whole.value.code == "model_output"
    with pytest.raises(openai.APIError) as streamed:
        list(client.chat.completions.create(model=MODEL, messages=[broken], stream=True))
    told: Any = whole.value.body
    assert streamed.value.message == told["message"]


def test_the_same_words_leave_by_both_doors(owner: Person, client: Any) -> None:
    made = owner.upload("links.txt", "![x](https://evil.example/?q=1) [y](https://evil.example/z)")
    order = command("read_file", file_id=made["id"])
    with owner.chat(order) as turn:
        turn.finish()
    assert ask(client, user(order)) == turn.text


def test_silence_is_filled_with_comments(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.openai.following.COMMENT_SECONDS", 0.05)
    monkeypatch.setattr("api.openai.asking.HOLD_SECONDS", 0.2)
    body = {"model": MODEL, "messages": [user(trash(owner, "silent.txt"))], "stream": True}
    answer = owner.http.post("/v1/chat/completions", json=body)
    assert answer.text.count(": heartbeat\n\n") >= 2
    assert answer.text.endswith("data: [DONE]\n\n")
    assert answer.headers["x-accel-buffering"] == "no"


def test_an_assistant_of_the_person_answers_by_its_name(owner: Person, client: Any) -> None:
    made = owner.http.post("/api/assistants", json={"name": "写作助手", "instructions": "Write well."}).json()
    client.chat.completions.create(model="写作助手", messages=[user("hello")])
    assert threads_of(owner)[0]["assistant_id"] == made["id"]
    owner.http.delete(f"/api/assistants/{made['id']}")


def test_what_another_model_was_asked_in_between_is_read_as_from_outside(owner: Person, client: Any) -> None:
    first = ask(client, user("one elm"))
    before = len(threads_of(owner))
    ask(client, user("one elm"), assistant(first), user("asked of another"), assistant("its answer"), user("two elms"))
    assert len(threads_of(owner)) == before
    thread = threads_of(owner)[0]["thread_id"]
    assert [text for _, text in messages_of(owner, thread)] == [
        "one elm",
        "You said one elm",
        "asked of another",
        "its answer",
        "two elms",
        "You said two elms",
    ]
    with owner.chat(command("create_folder", name="x", folder_id="root"), thread_id=thread) as turn:
        assert turn.until("approval_needed", "done")["type"] == "approval_needed"
        owner.http.post(f"/api/runs/{turn.of('run')[0]['run_id']}/cancel")


def test_a_thread_that_was_deleted_is_not_gone_on_with(owner: Person, client: Any) -> None:
    first = ask(client, user("one ash"), extra_headers={"X-Conversation-Id": "ash"})
    thread = threads_of(owner)[0]["thread_id"]
    assert owner.http.delete(f"/api/threads/{thread}").is_success
    history = [user("one ash"), assistant(first)]
    ask(client, *history, user("two ashes"), extra_headers={"X-Conversation-Id": "ash"})
    newest = threads_of(owner)[0]["thread_id"]
    assert newest != thread
    assert [text for _, text in messages_of(owner, newest)] == ["one ash", first, "two ashes", "You said two ashes"]
