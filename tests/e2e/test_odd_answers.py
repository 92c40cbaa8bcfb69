"""Answers of a person's own model that are odd, or don't become whole: with both clients, over real HTTP.

The service behind is one that servers without parsers for a model's thoughts and calls are, or one that fails.
tests/graph/models/test_answer_text.py has all forms of such answers, whatever the pieces they come in.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.test_faults import LONG, SHORT, World, say, serving
from tests.fakes.broken_service import Reply, call, calls, delta, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Event, Person, Turn


@pytest.fixture(scope="module", params=["lean", "openai"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with serving(request.param, tmp_path_factory.mktemp(f"odd-{request.param}"), LONG) as world:
        yield world


@pytest.fixture(params=["lean", "openai"])
def unknowing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A service that has not heard its model think yet."""
    with serving(request.param, tmp_path, LONG) as world:
        yield world


@pytest.fixture
def alice(request: pytest.FixtureRequest) -> Iterator[Person]:
    """Someone new, in the world of the test."""
    world = request.getfixturevalue("unknowing" if "unknowing" in request.fixturenames else "world")
    person = world.owner.add_new("person")
    yield person
    person.close()


def thoughts(turn: Turn) -> str:
    return "".join(event["text"] for event in turn.of("reasoning"))


def stored(person: Person, turn: Turn) -> list[Event]:
    """Return the messages of the turn's thread, as a page that is loaded anew gets them."""
    return person.get(f"/api/threads/{turn.seen[0]['thread_id']}")["messages"]


def sent_last(world: World) -> list[tuple[str, str]]:
    """Return the roles and texts that the model was asked with last."""
    return [(message["role"], str(message["content"])) for message in world.model.requests[-1]["messages"]]


def test_thoughts_that_end_without_having_begun_are_no_part_of_the_answer(unknowing: World, alice: Person) -> None:
    unknowing.model.plays(says("secret pl", "an here\n</thi", "nk>", "\n\nThe ans", "wer is 5."))
    turn, last = say(alice, "find the sum of 2 and 3")
    assert last["type"] == "done", last
    assert turn.text == "The answer is 5."
    assert "secret plan here" in thoughts(turn)
    assert [message["text"] for message in stored(alice, turn)] == ["find the sum of 2 and 3", "The answer is 5."]

    again, _ = say(alice, "find it once more", turn.seen[0]["thread_id"])
    assert "".join(event["text"] for event in again.of("content")) == "The answer is 5."
    assert "secret plan here" in thoughts(again)
    assert not any("think>" in text or "secret" in text for _, text in sent_last(unknowing))


@pytest.mark.parametrize("is_known", [False, True])
def test_an_answer_that_speaks_of_the_tag_keeps_it(unknowing: World, alice: Person, *, is_known: bool) -> None:
    if is_known:
        unknowing.model.plays(says("plan\n</think>\n\n", "5"))
        assert say(alice, "find the sum of 2 and 3")[0].text == "5"
    text = "They are called <think> and </think>:\n\n```\n</think>\n```\n\nand then the answer."
    unknowing.model.plays(says(*(text[at : at + 4] for at in range(0, len(text), 4))))
    turn, _ = say(alice, "what ends the thoughts of a model?")
    # The link filter shows tags of HTML as code.
    assert turn.text.strip().replace("`", "") == text.replace("`", "")
    assert stored(alice, turn)[-1]["text"] == turn.text


HERMES = '<tool_call>\n{"name": "list_folder", "arguments": {"folder_id": "root"}}\n</tool_call>'


def test_a_tool_call_as_text_is_made_and_its_markup_shown_nowhere(world: World, alice: Person) -> None:
    alice.upload("a.txt", "30 days")
    markup = f"I will look.\n{HERMES.replace('list_folder', 'functions.list_folder')}"
    world.model.plays(says(*(markup[at : at + 5] for at in range(0, len(markup), 5))), says("There is a.txt."))
    turn, last = say(alice, "find out what is in my drive")
    assert last["type"] == "done", last
    assert turn.tools == [("list_folder", "done")]
    assert turn.text.replace("I will look.", "").strip() == "There is a.txt."
    assert not any(sign in json.dumps(turn.of("content")) for sign in ("tool_call", "TOOL_CALLS", "function=", "▁"))
    roles = [message["role"] for message in world.model.requests[-1]["messages"]]
    assert roles[-2:] == ["assistant", "tool"]


def test_a_tool_call_as_text_asks_as_every_other_one(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "30 days")
    markup = f'<tool_call>{{"name": "trash_item", "arguments": {{"item_id": "{item["id"]}"}}}}</tool_call>'
    world.model.plays(says(markup), says("I left it."))
    with alice.chat("tidy up") as turn:
        event = turn.until("approval_needed", "done", "error")
        assert event["type"] == "approval_needed", event
        alice.answer(event, "reject")
        turn.until("done", "error")
    assert alice.content(item["id"]) == "30 days"


@pytest.mark.parametrize(
    ("message", "words", "markup"),
    [
        ("find my files", "tool calls don't arrive", '<tool_call>\n{"name": "no_such", "arguments": {}}\n</tool_call>'),
        ("查找我的文件", "工具调用没有送达", '<tool_call>\n{"name": "list_fol'),
    ],
)
def test_a_tool_call_as_text_that_can_not_be_made_is_a_sentence(
    world: World, alice: Person, message: str, words: str, markup: str
) -> None:
    world.model.plays(says(markup))
    turn, last = say(alice, message)
    assert last["type"] == "done", last
    assert words in turn.text
    assert "<" not in turn.text
    assert stored(alice, turn)[-1]["text"] == turn.text


def test_markup_that_a_person_asks_about_stays_in_the_answer(world: World, alice: Person) -> None:
    text = f"Qwen writes its calls so:\n\n```\n{HERMES}\n```\n\nThe server turns that into a call."
    world.model.plays(says(*(text[at : at + 7] for at in range(0, len(text), 7))))
    turn, _ = say(alice, "how does Qwen write a call of a tool?")
    assert turn.text == text
    assert turn.tools == []


def test_a_prefix_before_the_name_of_a_tool_is_left_out(world: World, alice: Person) -> None:
    world.model.plays(
        calls(call("default_api.list_folder", '{"folder_id": "root", "limit": null}')), says("Nothing there.")
    )
    turn, last = say(alice, "find out what is in my drive")
    assert last["type"] == "done", last
    assert turn.tools == [("list_folder", "done")]


def test_null_for_optional_arguments_is_their_absence_for_the_model_and_in_approvals(
    world: World, alice: Person
) -> None:
    item = alice.upload("a.txt", "30 days")
    arguments = {"item_id": item["id"], "if_match": None}
    world.model.plays(
        calls(call("list_folder", '{"folder_id": "root", "limit": null, "cursor": null}')),
        calls(call("trash_item", json.dumps(arguments), "call_2")),
        says("It is in the trash."),
    )
    with alice.chat("tidy up") as turn:
        event = turn.until("approval_needed", "done", "error")
        assert event["type"] == "approval_needed", event
        assert turn.tools == [("list_folder", "done")]
        assert event["actions"][0]["args"] == {"item_id": item["id"]}
        alice.answer(event, "approve")
        assert turn.until("done", "error")["type"] == "done"
    assert alice.names() == []


def test_half_an_emoji_in_an_answer_to_an_approval_is_no_failure_of_the_service(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "30 days")
    arguments = json.dumps({"item_id": item["id"], "email": "bob@example.com", "role": "viewer"})
    world.model.plays(calls(call("share_item", arguments)), says("Done."))
    with alice.chat("share a.txt with bob@example.com") as turn:
        event = turn.until("approval_needed", "done", "error")
        args = {"item_id": item["id"], "email": "\ud83d", "role": "viewer"}
        decision = {"tool_call_id": event["actions"][0]["tool_call_id"], "type": "edit", "args": args}
        body = json.dumps({"decisions": [decision]}).encode()
        headers = {"content-type": "application/json"}
        answered = alice.http.post(f"/api/approvals/{event['approval_id']}", content=body, headers=headers)
        assert answered.status_code < 500, answered.text
        if answered.status_code >= 400:
            alice.answer(event, "reject")
        assert turn.until("done", "error")["type"] == "done"


WORDS = [f"word{number} " for number in range(15)]
STALLED = Reply(tuple(delta({"content": word}) for word in WORDS), then="wait")
OVERLOADED = b'data: {"error": {"message": "overloaded", "code": 529}}\n\n'
BROKEN = {
    "error": Reply((*(delta({"content": word}) for word in WORDS), OVERLOADED)),
    "error in the same piece": Reply((b"".join(delta({"content": word}) for word in WORDS) + OVERLOADED,)),
    "cut": Reply(tuple(delta({"content": word}) for word in WORDS), then="cut"),
}
SHOWN = "".join(WORDS).strip()


def goes_on_knowing(world: World, person: Person, turn: Turn, said: str) -> None:
    """The next message has the words before it, and is answered."""
    world.model.plays(says("All is well."))
    after, last = say(person, "find it once more", turn.seen[0]["thread_id"])
    assert (last["type"], after.text) == ("done", "All is well.")
    before = next(text for role, text in reversed(sent_last(world)) if role == "assistant")
    assert before.startswith(SHOWN)
    assert said in before
    assert world.model.complaints == []
    exported = person.http.get(f"/api/threads/{turn.seen[0]['thread_id']}/export", params={"format": "markdown"}).text
    assert SHOWN in exported


def test_the_words_of_an_answer_that_was_stopped_stay_in_its_thread(world: World, alice: Person) -> None:
    world.model.plays(STALLED)
    with alice.chat("find the notice period") as turn:
        while "word14" not in turn.text:
            turn.until("content")
        assert alice.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel").status_code == 200
        assert turn.until("done", "error")["status"] == "cancelled"
    world.model.over.set()
    answer = stored(alice, turn)[-1]
    assert (answer["role"], answer["text"], answer["incomplete"]) == ("assistant", SHOWN, "stopped")
    goes_on_knowing(world, alice, turn, "The person stopped this answer here.")
    assert [message["incomplete"] for message in stored(alice, turn)] == [None, "stopped", None, None]


@pytest.mark.parametrize("fault", BROKEN)
def test_the_words_of_an_answer_that_breaks_off_stay_in_its_thread(world: World, alice: Person, fault: str) -> None:
    world.model.plays(BROKEN[fault])
    turn, last = say(alice, "find the notice period")
    assert (last["type"], last["code"]) == ("error", "model_unavailable")
    assert turn.text.strip() == SHOWN
    answer = stored(alice, turn)[-1]
    assert (answer["role"], answer["text"], answer["incomplete"]) == ("assistant", SHOWN, "broken_off")
    goes_on_knowing(world, alice, turn, "broke off here")


def test_a_call_that_breaks_off_is_made_by_nobody_and_what_was_said_before_stays(world: World, alice: Person) -> None:
    item = alice.upload("a.txt", "30 days")
    half: dict[str, Any] = {"tool_calls": [call("trash_item", f'{{"item_id": "{item["id"]}"')]}
    world.model.plays(Reply((*(delta({"content": word}) for word in WORDS), delta(half)), then="cut"))
    turn, last = say(alice, "find the notice period")
    assert last["type"] == "error"
    assert turn.tools == []
    assert (stored(alice, turn)[-1]["text"], stored(alice, turn)[-1]["tool_calls"]) == (SHOWN, [])
    assert alice.content(item["id"]) == "30 days"


def test_words_before_silence_stay_as_broken_off(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serving("lean", tmp_path_factory.mktemp("silent"), SHORT) as world:
        person = world.owner.add_new("person")
        world.model.plays(STALLED)
        turn, last = say(person, "find the notice period")
        assert (last["type"], last["code"]) == ("error", "model_timeout")
        assert stored(person, turn)[-1]["incomplete"] == "broken_off"
        person.close()
