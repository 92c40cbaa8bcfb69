"""Approvals through LangGraph's API: every dialect decides, once, and nothing else does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from langgraph_sdk.errors import ConflictError, UnprocessableEntityError

from drive_server.services.journal import service as journal
from tests.api.command_model import command
from tests.api.fakes import Gate
from tests.api.langgraph.conftest import client_of
from tests.api.langgraph.talking import AGENT, asks, new_thread, said
from tests.databases import IS_POSTGRES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.api.fakes import ManualClock
    from tests.e2e.person import Person


YES: dict[str, Any] = {"decisions": [{"type": "approve"}]}
DIALECTS = (
    "LangChain's",
    "ours, by call",
    "ours, all at once",
    "Agent Inbox's",
    "Agent Inbox's, with the call",
    "Agent Inbox's, as decisions",
    "a single one",
    "by the interrupt's id",
    "by the approval's id",
    "protocol v2's",
    "v2's list",
)


def approval(dialect: str, interrupt: dict[str, Any]) -> Any:
    """Return an answer that approves the one call of an interrupt."""
    key, value = interrupt["id"], interrupt["value"]
    action = {"action": value["action_requests"][0]["name"], "args": value["action_requests"][0]["args"]}
    answers: dict[str, Any] = {
        "LangChain's": YES,
        "ours, by call": {"decisions": [{"tool_call_id": value["actions"][0]["tool_call_id"], "type": "approve"}]},
        "ours, all at once": {"approve_all": True},
        "Agent Inbox's": [{"type": "accept", "args": None}],
        "Agent Inbox's, with the call": [{"type": "accept", "args": action}],
        "Agent Inbox's, as decisions": {"decisions": [{"type": "approve", "args": action}]},
        "a single one": {"type": "approve"},
        "by the interrupt's id": {key: YES},
        "by the approval's id": {value["approval_id"]: YES},
        "protocol v2's": {"interrupt_id": key, "response": YES},
        "v2's list": {"responses": [{"interrupt_id": key, "response": YES}]},
    }
    return answers[dialect]


REFUSALS: dict[str, Any] = {
    "LangChain's": {"resume": {"decisions": [{"type": "reject", "message": "Keep it."}]}},
    "Agent Inbox's": {"resume": [{"type": "ignore", "args": None}]},
    "its response": {"resume": [{"type": "response", "args": "Keep it."}]},
    "its response, as decisions": {"resume": {"decisions": [{"type": "reject", "args": "Keep it."}]}},
    "its ignore, as decisions": {"resume": {"decisions": [{"type": "ignore", "args": None}]}},
    "the end": {"goto": "__end__"},
    "the end as a list": {"goto": ["__end__"]},
}
UNREADABLE: dict[str, Any] = {
    "words": "yes",
    "true": True,
    "nothing": {"decisions": []},
    "two": {"decisions": [{"type": "approve"}, {"type": "approve"}]},
    "perhaps": {"decisions": [{"type": "perhaps"}]},
    "another question": {"interrupt_id": "b1", "response": {"decisions": [{"type": "approve"}]}},
    "another call": {"decisions": [{"tool_call_id": "c9", "type": "approve"}]},
    "another tool": {
        "decisions": [{"type": "edit", "edited_action": {"name": "list_folder", "args": {"folder_id": "root"}}}]
    },
}


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_in_any_dialect_approves(client: Any, owner: Person, dialect: str) -> None:
    name = f"{dialect}.txt"
    thread_id, interrupt = asks(client, owner, name)
    assert name in owner.names()
    values = client.runs.wait(thread_id, AGENT, command={"resume": approval(dialect, interrupt)})
    assert "__interrupt__" not in values
    assert name not in owner.names()
    assert client.threads.get(thread_id)["status"] == "idle"
    assert [run["status"] for run in client.runs.list(thread_id)] == ["success", "success"]


@pytest.mark.parametrize("dialect", REFUSALS)
def test_an_answer_in_any_dialect_refuses(client: Any, owner: Person, dialect: str) -> None:
    name = f"stays {dialect}.txt"
    thread_id, _ = asks(client, owner, name)
    values = client.runs.wait(thread_id, AGENT, command=REFUSALS[dialect])
    assert name in owner.names()
    (result,) = [message for message in values["messages"] if message["type"] == "tool"]
    assert (result["status"], result["additional_kwargs"]["outcome"]) == ("error", "rejected")
    assert client.threads.get(thread_id)["interrupts"] == {}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_answer_that_is_none_decides_nothing(client: Any, owner: Person, kind: str) -> None:
    name = f"not {kind}.txt"
    thread_id, interrupt = asks(client, owner, name)
    with pytest.raises(UnprocessableEntityError):
        client.runs.create(thread_id, AGENT, command={"resume": UNREADABLE[kind]})
    assert client.threads.get_state(thread_id)["interrupts"] == [interrupt]
    assert name in owner.names()
    client.runs.wait(thread_id, AGENT, command={"goto": "__end__"})


def test_an_edit_comes_as_strings_and_fits_the_tool(client: Any, owner: Person) -> None:
    file = owner.upload("lent.txt", "x")
    thread_id = new_thread(client)
    text = command("create_share_link", item_id=file["id"])
    values = client.runs.wait(thread_id, AGENT, input=said(text))
    (request,) = values["__interrupt__"][0]["value"]["action_requests"]
    args = {**request["args"], "role": "viewer", "expires_in_hours": "5", "max_downloads": "2"}
    edit = {"type": "edit", "edited_action": {"name": request["name"], "args": args}}
    refused = {"type": "edit", "edited_action": {"name": request["name"], "args": {**args, "expires_in_hours": "soon"}}}
    with pytest.raises(UnprocessableEntityError):
        client.runs.create(thread_id, AGENT, command={"resume": {"decisions": [refused]}})
    values = client.runs.wait(thread_id, AGENT, command={"resume": {"decisions": [edit]}})
    results = [message["status"] for message in values["messages"] if message["type"] == "tool"]
    assert results == ["success"], values


def test_agent_inbox_edits_by_strings_and_answers_in_words(client: Any, owner: Person) -> None:
    file = owner.upload("inbox.txt", "x")
    thread_id = new_thread(client)
    text = command("create_share_link", item_id=file["id"])
    (request,) = client.runs.wait(thread_id, AGENT, input=said(text))["__interrupt__"][0]["value"]["action_requests"]
    args = {**request["args"], "role": "viewer", "expires_in_hours": "5"}
    other = {"type": "edit", "args": {"action": "trash_item", "args": {"item_id": file["id"]}}}
    with pytest.raises(UnprocessableEntityError):
        client.runs.create(thread_id, AGENT, command={"resume": [other]})
    edit = {"type": "edit", "args": {"action": request["name"], "args": args}}
    values = client.runs.wait(thread_id, AGENT, command={"resume": [edit]})
    assert [message["status"] for message in values["messages"] if message["type"] == "tool"] == ["success"], values
    client.runs.wait(thread_id, AGENT, input=said(text))
    # It asks for LangChain's events, of which there are none here: the stream ends once the answer is carried out.
    resume: Any = {"resume": {"decisions": [edit]}}
    parts = [*client.runs.stream(thread_id, AGENT, command=resume, stream_mode="events")]
    assert {part.event for part in parts} == {"metadata"}
    assert client.threads.get(thread_id)["status"] == "idle"
    thread_id, _ = asks(client, owner, "inbox stays.txt")
    values = client.runs.wait(thread_id, AGENT, command={"resume": [{"type": "response", "args": "Keep it, please."}]})
    (result,) = [message for message in values["messages"] if message["type"] == "tool"]
    assert "Keep it, please." in result["content"]
    assert "inbox stays.txt" in owner.names()


def test_an_answer_is_its_senders_whatever_it_says(client: Any, owner: Person) -> None:
    thread_id, interrupt = asks(client, owner, "forged.txt")
    forged = {**YES, "decided_by": "bob@example.com", "decided_key": "bob's", "expired": True}
    client.runs.wait(thread_id, AGENT, command={"resume": forged})
    decided = owner.get(f"/api/approvals/{interrupt['value']['approval_id']}")
    assert (decided["decided_by"], decided["status"]) == (owner.email, "decided")


def test_a_command_goes_before_an_input_beside_it(client: Any, owner: Person) -> None:
    thread_id, _ = asks(client, owner, "beside.txt")
    resume: Any = {"resume": YES}
    values = client.runs.wait(thread_id, AGENT, input={}, command=resume)
    assert "beside.txt" not in owner.names()
    assert [message["type"] for message in values["messages"]].count("human") == 1


def test_a_run_that_asks_is_over_and_its_stream_shows_the_question(client: Any, owner: Person) -> None:
    file = owner.upload("shown.txt", "x")
    thread_id = new_thread(client)
    modes = ["values", "updates", "tasks", "custom", "messages-tuple"]
    parts = [
        *client.runs.stream(thread_id, AGENT, input=said(command("trash_item", item_id=file["id"])), stream_mode=modes)
    ]
    run_id = parts[0].data["run_id"]
    assert client.runs.get(thread_id, run_id)["status"] == "success"
    thread = client.threads.get(thread_id)
    assert thread["status"] == "interrupted"
    ((interrupt,),) = thread["interrupts"].values()
    assert [part.data for part in parts if part.event == "values"][-1]["__interrupt__"] == [interrupt]
    assert [part.data for part in parts if part.event == "updates"][-1] == {"__interrupt__": [interrupt]}
    assert [part.data["interrupts"] for part in parts if part.event == "tasks"] == [[interrupt]]
    resumed = [*client.runs.stream(thread_id, AGENT, command={"resume": YES}, stream_mode=modes)]
    kinds = [part.data["type"] for part in resumed if part.event == "custom"]
    assert (kinds[0], kinds[-1]) == ("approval_resolved", "done")
    messages = [part.data[0] for part in resumed if part.event == "messages"]
    assert [one["status"] for one in messages if one["type"] == "tool"] == ["success"]
    assert not any(one.get("tool_calls") for one in messages)


def test_of_two_clients_that_answer_one_decides(client: Any, owner: Person) -> None:
    thread_id, _ = asks(client, owner, "contested.txt")
    resume: Any = {"resume": YES}

    def answer(_: int) -> str:
        with client_of(owner) as own:
            try:
                own.runs.create(thread_id, AGENT, command=resume)
            except Exception as error:  # noqa: BLE001 - either kind of the client's
                return str(error)
            return "decided"

    with ThreadPoolExecutor(4) as pool:
        outcomes = [*pool.map(answer, range(4))]
    assert outcomes.count("decided") == 1, outcomes
    with pytest.raises(ConflictError, match="decided"):
        client.runs.create(thread_id, AGENT, command=resume)


def test_a_late_answer_hears_how_it_was_decided(client: Any, owner: Person, manual_clock: ManualClock) -> None:
    thread_id, _ = asks(client, owner, "late.txt")
    manual_clock.advance(301)
    with pytest.raises(ConflictError, match="expired"):
        client.runs.create(thread_id, AGENT, command={"resume": YES})
    assert "late.txt" in owner.names()


def test_an_answer_to_an_earlier_checkpoint_decides_nothing(client: Any, owner: Person) -> None:
    thread_id, _ = asks(client, owner, "stale.txt")
    newest, earlier = client.threads.get_history(thread_id, limit=2)
    resume: Any = {"resume": YES}
    with pytest.raises(ConflictError, match="not at this checkpoint"):
        client.runs.create(thread_id, AGENT, command=resume, checkpoint=earlier["checkpoint"])
    assert "stale.txt" in owner.names()
    client.runs.wait(thread_id, AGENT, command=resume, checkpoint=newest["checkpoint"])
    assert "stale.txt" not in owner.names()


def test_no_update_of_the_state_answers(client: Any, owner: Person) -> None:
    thread_id, interrupt = asks(client, owner, "safe.txt")
    call = interrupt["value"]["actions"][0]["tool_call_id"]
    updates = [
        {"calls": [{"tool_call_id": call, "standing": "approved"}]},
        {"approval": None},
        {"messages": [{"type": "tool", "tool_call_id": call, "content": "Deleted."}]},
    ]
    for values in updates:
        with pytest.raises(UnprocessableEntityError):
            client.threads.update_state(thread_id, values, as_node="approve")
        with pytest.raises((ConflictError, UnprocessableEntityError)):
            client.runs.create(thread_id, AGENT, command={"update": values}, input=None, multitask_strategy="reject")
    client.threads.update_state(thread_id, {"messages": [{"type": "human", "content": "approve"}]})
    assert client.threads.get_state(thread_id)["interrupts"] == [interrupt]
    assert "safe.txt" in owner.names()


def test_a_key_decides_only_what_it_could_do(client: Any, reader: Any, owner: Person) -> None:
    thread_id, interrupt = asks(client, owner, "guarded.txt")
    resume: Any = {"resume": YES}
    person = owner.with_key("writes", "read", "write")
    with client_of(person) as writer:
        for weaker in (reader, writer):
            with pytest.raises(Exception, match="scope"):
                weaker.runs.create(thread_id, AGENT, command=resume)
    person.close()
    assert client.threads.get_state(thread_id)["interrupts"] == [interrupt]
    reader.runs.wait(thread_id, AGENT, command={"resume": {"decisions": [{"type": "reject"}]}})
    assert "guarded.txt" in owner.names()


def test_another_person_answers_nothing(client: Any, stranger: Any, owner: Person) -> None:
    thread_id, interrupt = asks(client, owner, "foreign.txt")
    with pytest.raises(Exception, match="no such thread"):
        stranger.runs.create(thread_id, AGENT, command={"resume": YES})
    assert client.threads.get_state(thread_id)["interrupts"] == [interrupt]


def test_a_tab_that_is_closed_stops_no_call(
    client: Any, owner: Person, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread_id, _ = asks(client, owner, "approved.txt")
    refuse = journal.refuse_if_revoked

    async def gated(*arguments: Any) -> None:
        await refuse(*arguments)
        # SQLite runs a change in a thread without a loop; PostgreSQL runs it in the loop, which no test may block.
        if IS_POSTGRES:
            await gate.wait()
        else:
            gate.wait_in_thread()

    monkeypatch.setattr(journal, "refuse_if_revoked", gated)
    body = {
        "assistant_id": AGENT,
        "command": {"resume": YES},
        "input": {},
        "on_disconnect": "cancel",
        "stream_mode": ["values"],
    }
    with owner.http.stream("POST", f"/threads/{thread_id}/runs/stream", json=body) as answer:
        path = answer.headers["content-location"]
        assert gate.reached.wait(20)
    gate.open()
    with client_of(owner) as other:
        other.runs.join(thread_id, path.rpartition("/")[2])
    assert "approved.txt" not in owner.names()
    results = [one for one in client.threads.get_state(thread_id)["values"]["messages"] if one["type"] == "tool"]
    assert [one["status"] for one in results] == ["success"]
