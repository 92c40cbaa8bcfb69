from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api.command_model import command
from tests.api.killable import KillableService
from tests.api.serving import execute, forget_checkpoints
from tests.e2e.person import Turn, read_events

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.api.serving import RunningService
    from tests.e2e.person import Person


def say(person: Person, message: str, **body: Any) -> Turn:
    with person.chat(message, **body) as turn:
        turn.finish()
    return turn


def change(person: Person, thread_id: str, message_id: str, action: str, **body: Any) -> Turn:
    """Edit a message, or have it answered anew, and read to the end."""
    path = f"/api/threads/{thread_id}/messages/{message_id}/{action}"
    with person.http.stream("POST", path, json=body) as response:
        assert response.is_success, response.read()
        turn = Turn(read_events(response.iter_lines()))
        turn.finish()
    return turn


def ids(turn: Turn) -> tuple[str, str]:
    return turn.seen[0]["thread_id"], turn.seen[0]["run_id"]


def texts(person: Person, thread_id: str, **query: str) -> list[str]:
    return [message["text"] for message in person.get(f"/api/threads/{thread_id}", **query)["messages"]]


def test_an_edited_message_takes_the_place_of_the_one_before(alice: Person) -> None:
    thread_id, _ = ids(say(alice, "say first"))
    _, second = ids(say(alice, "say second", thread_id=thread_id))
    edited = change(alice, thread_id, second, "edit", message="say another")
    assert edited.text == "another"
    assert texts(alice, thread_id) == ["say first", "first", "say another", "another"]
    say(alice, "say third", thread_id=thread_id)
    assert texts(alice, thread_id) == ["say first", "first", "say another", "another", "say third", "third"]


def test_the_first_message_of_a_thread_can_be_edited_and_names_the_thread(alice: Person) -> None:
    thread_id, first = ids(say(alice, "say helo"))
    change(alice, thread_id, first, "edit", message="say hello")
    thread = alice.get(f"/api/threads/{thread_id}")
    assert [message["text"] for message in thread["messages"]] == ["say hello", "hello"]
    assert thread["title"] == "say hello"


def test_an_answer_is_given_anew_by_the_id_of_the_message_or_of_the_answer(alice: Person) -> None:
    thread_id, run_id = ids(say(alice, "say first"))
    again = change(alice, thread_id, run_id, "regenerate")
    assert texts(alice, thread_id) == ["say first", "first"]
    answer = alice.get(f"/api/threads/{thread_id}")["messages"][-1]
    thrice = change(alice, thread_id, answer["id"], "regenerate")
    assert texts(alice, thread_id) == ["say first", "first"]
    assert thrice.seen[0]["replaces"]["run_id"] == ids(again)[1]


def test_every_version_of_a_message_stays_readable_with_its_answer(alice: Person) -> None:
    thread_id, _ = ids(say(alice, "say before"))
    _, first = ids(say(alice, "say one", thread_id=thread_id))
    _, second = ids(change(alice, thread_id, first, "edit", message="say two"))
    _, third = ids(change(alice, thread_id, second, "edit", message="say three"))
    say(alice, "say after", thread_id=thread_id)
    for message_id in (first, second, third):
        found = alice.get(f"/api/threads/{thread_id}/messages/{message_id}/versions")["items"]
        shown = [(one["message_id"], one["text"], one["is_current"]) for one in found]
        assert shown == [(first, "say one", False), (second, "say two", False), (third, "say three", True)]
    assert texts(alice, thread_id, version=first) == ["say before", "before", "say one", "one"]
    assert texts(alice, thread_id, version=second) == ["say before", "before", "say two", "two"]
    whole = ["say before", "before", "say three", "three", "say after", "after"]
    assert texts(alice, thread_id, version=third) == texts(alice, thread_id) == whole
    messages = alice.get(f"/api/threads/{thread_id}")["messages"]
    assert [message["versions"] for message in messages] == [[], [], [first, second, third], [], [], []]


def test_only_the_last_message_is_edited(alice: Person, bob: Person) -> None:
    thread_id, first = ids(say(alice, "say one"))
    _, second = ids(say(alice, "say two", thread_id=thread_id))
    other, _ = ids(say(alice, "say elsewhere"))
    refused = [
        (alice, thread_id, first, 409, "not_last_message"),
        (alice, thread_id, "nothing", 404, "not_found"),
        (alice, other, second, 404, "not_found"),
        (bob, thread_id, second, 404, "not_found"),
    ]
    for person, thread, message, status, code in refused:
        for action in ("edit", "regenerate"):
            body = {"message": "say three"} if action == "edit" else {}
            answer = person.http.post(f"/api/threads/{thread}/messages/{message}/{action}", json=body)
            assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert texts(alice, thread_id) == ["say one", "one", "say two", "two"]
    assert bob.http.get(f"/api/threads/{thread_id}/messages/{second}/versions").status_code == 404


def test_nothing_is_edited_while_a_run_works_or_waits(service: RunningService, alice: Person) -> None:
    with alice.chat("slow a b") as turn:
        thread_id, run_id = turn.until("run")["thread_id"], turn.seen[0]["run_id"]
        path = f"/api/threads/{thread_id}/messages/{run_id}"
        refused = alice.http.post(f"{path}/edit", json={"message": "say c"})
        assert (refused.status_code, refused.json()["code"]) == (409, "thread_busy")
        service.parts.graph.gate.open()
        turn.finish()
    with alice.chat("share it", thread_id=thread_id) as turn:
        approval = turn.until("approval_needed")
        path = f"/api/threads/{thread_id}/messages/{turn.seen[0]['run_id']}"
        refused = alice.http.post(f"{path}/regenerate")
        assert (refused.status_code, refused.json()["code"]) == (409, "approval_pending")
        alice.answer(approval, "approve")
        turn.finish()


def test_a_message_whose_answer_failed_or_was_cancelled_is_edited_too(service: RunningService, alice: Person) -> None:
    with alice.chat("fail now") as turn:
        turn.until("error")
    thread_id, run_id = ids(turn)
    change(alice, thread_id, run_id, "edit", message="say fine")
    assert texts(alice, thread_id) == ["say fine", "fine"]
    with alice.chat("slow a b", thread_id=thread_id) as turn:
        turn.until("content")
        assert alice.http.post(f"/api/runs/{ids(turn)[1]}/cancel").is_success
        turn.until("done")
    service.parts.graph.gate.open()
    change(alice, thread_id, ids(turn)[1], "edit", message="say quick")
    assert texts(alice, thread_id) == ["say fine", "fine", "say quick", "quick"]


def test_two_edits_at_once_are_one_edit(alice: Person, service: RunningService) -> None:
    thread_id, run_id = ids(say(alice, "say one"))
    path = f"/api/threads/{thread_id}/messages/{run_id}/edit"

    def stream(message: str) -> AbstractContextManager[Any]:
        return alice.http.stream("POST", path, json={"message": message})

    with stream("slow a b") as first:
        turn = Turn(read_events(first.iter_lines()))
        turn.until("run")
        with stream("say late") as second:
            assert second.status_code == 409
        service.parts.graph.gate.open()
        turn.finish()
    assert texts(alice, thread_id) == ["slow a b", "a b"]


@pytest.mark.parametrize("has_begun", [False, True])
@pytest.mark.parametrize("earlier", [[], ["say before"]])
@pytest.mark.story
def test_a_version_that_a_kill_interrupts_is_answered_in_its_own_branch(
    tmp_path: Path, earlier: list[str], has_begun: bool
) -> None:
    service = KillableService(tmp_path)
    alice = service.person()
    thread_id, run_id = None, ""
    for message in [*earlier, "say one"]:
        thread_id, run_id = ids(say(alice, message, **({"thread_id": thread_id} if thread_id else {})))
    with alice.http.stream(
        "POST", f"/api/threads/{thread_id}/messages/{run_id}/edit", json={"message": "slow two three"}
    ) as response:
        turn = Turn(read_events(response.iter_lines()))
        turn.until("content")
        service.kill()
    alice.close()
    if not has_begun:
        [(head,)] = execute(tmp_path, "SELECT head_checkpoint FROM runs WHERE id = ?", run_id)
        forget_checkpoints(tmp_path, head)
    service = KillableService(tmp_path, gate_open=True)
    alice = service.person()
    try:
        with alice.follow(ids(turn)[1]) as rest:
            rest.finish()
        assert texts(alice, str(thread_id)) == [
            *(["say before", "before"] if earlier else []),
            "slow two three",
            "two three",
        ]
        assert texts(alice, str(thread_id), version=run_id)[-2:] == ["say one", "one"]
    finally:
        alice.close()
        service.kill()


def test_what_the_first_answer_did_is_named_and_taken_back_only_when_asked(
    owner: Person,
) -> None:
    thread_id, run_id = ids(say(owner, command("create_folder", name="Plans", folder_id="root")))
    edited = change(owner, thread_id, run_id, "edit", message="hello")
    replaced = edited.seen[0]["replaces"]
    assert replaced["run_id"] == run_id
    assert [one["tool"] for one in replaced["changes"]] == ["create_folder"]
    assert replaced["groups"][0]["count"] == 1
    assert "Plans" in owner.names()
    assert texts(owner, thread_id) == ["hello", "You said hello"]
    assert len(owner.get(f"/api/runs/{run_id}/changes")["items"]) == 1
    assert owner.http.post(replaced["undo"]).is_success
    assert "Plans" not in owner.names()
    again = change(owner, thread_id, ids(edited)[1], "regenerate")
    assert again.seen[0]["replaces"] == {"run_id": ids(edited)[1], "changes": [], "groups": [], "undo": None}


def test_the_model_of_a_new_version_sees_nothing_of_the_version_before(owner: Person) -> None:
    thread_id, _ = ids(say(owner, "the word is Xylophon"))
    _, second = ids(say(owner, "and Quitte", thread_id=thread_id))
    edited = change(owner, thread_id, second, "edit", message="and Birne")
    calls = owner.get(f"/api/runs/{ids(edited)[1]}/context")["calls"]
    seen = str(calls)
    assert "Xylophon" in seen
    assert "Birne" in seen
    assert "Quitte" not in seen
    assert "Quitte" in str(owner.get(f"/api/runs/{second}/context")["calls"])
