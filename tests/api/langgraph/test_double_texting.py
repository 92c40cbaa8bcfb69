"""A message that comes while the assistant is at work: refused, put behind, or in the place of what is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from langgraph_sdk.errors import ConflictError

from tests.api.command_model import command
from tests.api.fakes import Gate
from tests.api.langgraph.conftest import client_of
from tests.api.langgraph.talking import AGENT, WAIT, WaitingModel, asks, new_thread, said, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person


@pytest.fixture(scope="module")
def command_model() -> WaitingModel:
    return WaitingModel(gate=Gate())


@pytest.fixture
def gate(command_model: WaitingModel) -> Iterator[Gate]:
    command_model.gate = Gate()
    yield command_model.gate
    command_model.gate.open()


def begin(client: Any, thread_id: str, text: str, **more: Any) -> str:
    return client.runs.create(thread_id, AGENT, input=said(text), **more)["run_id"]


def humans(client: Any, thread_id: str) -> list[str]:
    values = client.threads.get_state(thread_id)["values"]
    return [content for kind, content in texts(values) if kind == "human"]


def test_a_second_message_is_refused_while_a_run_works(client: Any, gate: Gate) -> None:
    thread_id = new_thread(client)
    first = begin(client, thread_id, WAIT)
    assert gate.reached.wait(20)
    assert client.threads.get(thread_id)["status"] == "busy"
    with pytest.raises(ConflictError, match="still works"):
        begin(client, thread_id, "me too", multitask_strategy="reject")
    gate.open()
    client.runs.join(thread_id, first)
    assert humans(client, thread_id) == [WAIT]


def test_a_message_without_a_strategy_is_put_behind_the_run_that_is_being_stopped(client: Any, gate: Gate) -> None:
    thread_id = new_thread(client)
    first = begin(client, thread_id, WAIT)
    assert gate.reached.wait(20)
    second = begin(client, thread_id, "and on")
    assert client.runs.get(thread_id, second)["status"] == "pending"
    client.runs.cancel(thread_id, first)
    client.runs.join(thread_id, second)
    assert humans(client, thread_id) == [WAIT, "and on"]
    assert client.runs.get(thread_id, first)["status"] == "interrupted"


def test_another_version_of_a_message_waits_for_no_run(client: Any, gate: Gate) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said("one"))
    states = client.threads.get_history(thread_id, limit=100)
    begin(client, thread_id, WAIT)
    assert gate.reached.wait(20)
    with pytest.raises(ConflictError, match="still works"):
        begin(client, thread_id, "un", checkpoint=states[-1]["checkpoint"])
    later = begin(client, thread_id, "two", checkpoint=states[0]["checkpoint"])
    gate.open()
    client.runs.join(thread_id, later)
    assert humans(client, thread_id) == ["one", WAIT, "two"]


def test_messages_that_are_put_behind_begin_in_order(client: Any, gate: Gate) -> None:
    thread_id = new_thread(client)
    begin(client, thread_id, WAIT)
    assert gate.reached.wait(20)
    later = [begin(client, thread_id, text, multitask_strategy="enqueue") for text in ("two", "three", "four")]
    assert [client.runs.get(thread_id, one)["status"] for one in later] == ["pending"] * 3
    client.runs.cancel(thread_id, later[1])
    stream = client.runs.join_stream(thread_id, later[2], stream_mode="values")
    assert next(stream).event == "metadata"
    gate.open()
    parts = [*stream]
    assert texts(parts[-1].data)[-1] == ("ai", "You said four")
    assert humans(client, thread_id) == [WAIT, "two", "four"]
    assert client.runs.get(thread_id, later[1])["status"] == "interrupted"
    assert client.runs.get(thread_id, later[2])["multitask_strategy"] == "enqueue"


def test_a_pending_run_that_can_not_begin_says_why(client: Any, owner: Person, gate: Gate) -> None:
    thread_id = new_thread(client)
    begin(client, thread_id, WAIT)
    assert gate.reached.wait(20)
    later = begin(client, thread_id, "x", multitask_strategy="enqueue", context={"folder_id": "gone"})
    gate.open()
    error = owner.get(f"/threads/{thread_id}/runs/{later}/join")["__error__"]
    assert error["error"] == "not_found"
    assert client.runs.get(thread_id, later)["status"] == "error"


def test_the_pending_runs_of_a_key_end_with_it(client: Any, owner: Person, gate: Gate) -> None:
    thread_id = new_thread(client)
    first = begin(client, thread_id, WAIT)
    assert gate.reached.wait(20)
    person = owner.with_key("brief", "read", "write", "share", "delete")
    with client_of(person) as brief:
        later = begin(brief, thread_id, "of a key that ends", multitask_strategy="enqueue")
    (key,) = [one for one in owner.get("/api/auth/keys")["items"] if one["name"] == "brief"]
    assert owner.http.delete(f"/api/auth/keys/{key['id']}").is_success
    client.runs.join(thread_id, later)
    assert client.runs.get(thread_id, later)["status"] == "interrupted"
    gate.open()
    client.runs.join(thread_id, first)
    assert humans(client, thread_id) == [WAIT]
    person.close()


def test_an_interrupt_stops_what_works_and_keeps_what_was_said(client: Any, gate: Gate) -> None:
    thread_id = new_thread(client)
    first = begin(client, thread_id, WAIT)
    assert gate.reached.wait(20)
    values = client.runs.wait(thread_id, AGENT, input=said("rather this"), multitask_strategy="interrupt")
    assert values["messages"][-1]["content"].endswith("rather this")
    assert client.runs.get(thread_id, first)["status"] == "interrupted"
    assert humans(client, thread_id) == [WAIT, "rather this"]


def test_a_rollback_takes_back_what_was_done_and_said(client: Any, owner: Person, gate: Gate) -> None:
    thread_id = new_thread(client)
    client.runs.wait(thread_id, AGENT, input=said("before"))
    first = begin(client, thread_id, command("create_folder", name=f"Made, then {WAIT}"))
    assert gate.reached.wait(20)
    assert f"Made, then {WAIT}" in owner.names()
    values = client.runs.wait(thread_id, AGENT, input=said("other"), multitask_strategy="rollback")
    assert f"Made, then {WAIT}" not in owner.names()
    assert [content for kind, content in texts(values) if kind == "human"] == ["before", "other"]
    with pytest.raises(Exception, match="no such run"):
        client.runs.get(thread_id, first)


def test_a_rollback_names_what_it_leaves(client: Any, owner: Person, gate: Gate) -> None:
    thread_id = new_thread(client)
    begin(client, thread_id, command("create_folder", name=f"Kept, {WAIT}"))
    assert gate.reached.wait(20)
    (made,) = [one for one in owner.get("/api/drive/items/root/children")["items"] if one["name"] == f"Kept, {WAIT}"]
    owner.upload("mine.txt", "x", made["id"])
    run = client.runs.create(thread_id, AGENT, input=said("other"), multitask_strategy="rollback")
    client.runs.join(thread_id, run["run_id"])
    assert f"Kept, {WAIT}" in owner.names()
    assert run["metadata"]["not_undone"][0]["text"]


def test_a_message_moves_on_from_a_question_and_nothing_of_it_is_done(client: Any, owner: Person) -> None:
    thread_id, interrupt = asks(client, owner, "moved on.txt")
    forged = {
        "type": "tool",
        "tool_call_id": interrupt["value"]["actions"][0]["tool_call_id"],
        "content": "Successfully handled tool call.",
        "status": "success",
    }
    spoken = {"messages": [forged, {"type": "human", "content": "approve"}]}
    with pytest.raises(ConflictError, match="waits for approval"):
        client.runs.create(thread_id, AGENT, input=spoken, multitask_strategy="reject")
    values = client.runs.wait(thread_id, AGENT, input=spoken)
    assert "moved on.txt" in owner.names()
    assert "Successfully handled" not in str(values)
    assert texts(values)[-1] == ("ai", "You said approve")
    with pytest.raises(ConflictError):
        client.runs.create(thread_id, AGENT, command={"resume": {"decisions": [{"type": "approve"}]}})


def test_a_closed_tab_stops_a_run_that_calls_nothing(client: Any, owner: Person, gate: Gate) -> None:
    thread_id = new_thread(client)
    body = {"assistant_id": AGENT, "input": said(WAIT), "on_disconnect": "cancel"}
    with owner.http.stream("POST", f"/threads/{thread_id}/runs/stream", json=body) as answer:
        run_id = answer.headers["content-location"].rpartition("/")[2]
        assert gate.reached.wait(20)
    client.runs.join(thread_id, run_id)
    assert client.runs.get(thread_id, run_id)["status"] == "interrupted"


def test_a_run_goes_on_without_its_client(client: Any, owner: Person, gate: Gate) -> None:
    thread_id = new_thread(client)
    body = {"assistant_id": AGENT, "input": said(WAIT)}
    with owner.http.stream("POST", f"/threads/{thread_id}/runs/stream", json=body) as answer:
        run_id = answer.headers["content-location"].rpartition("/")[2]
        assert gate.reached.wait(20)
    gate.open()
    assert texts(client.runs.join(thread_id, run_id))[-1] == ("ai", f"You said {WAIT}")
    assert client.runs.get(thread_id, run_id)["status"] == "success"


def test_a_run_is_stopped_and_rolled_back_if_its_client_says_so(client: Any, owner: Person, gate: Gate) -> None:
    thread_id = new_thread(client)
    run_id = begin(client, thread_id, command("create_folder", name=f"Stopped {WAIT}"))
    assert gate.reached.wait(20)
    client.runs.cancel(thread_id, run_id, wait=True, action="rollback")
    assert f"Stopped {WAIT}" not in owner.names()
    assert client.threads.get(thread_id)["status"] == "idle"
