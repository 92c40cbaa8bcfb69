"""Calls of a person's own server over the whole service: asked about, made, shown after a reload, cancelled."""

from collections.abc import Iterator
from typing import Any

import pytest

from graph.settings import AgentSettings
from tests.api.command_model import CommandModel, command
from tests.api.real_service import RealService
from tests.e2e.person import Person
from tests.fakes.notes_server import NotesServer

NOTE = "mcp__notes__note"
RECORD = "assistant.toolCall.updated"


@pytest.fixture(scope="module")
def running() -> Iterator[NotesServer]:
    server = NotesServer().start()
    yield server
    server.stop()


@pytest.fixture
def notes(running: NotesServer) -> NotesServer:
    running.reset()
    return running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealService]:
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")
    service = RealService(tmp_path_factory.mktemp("outside"), CommandModel(), agent=agent).start()
    yield service
    service.stop()


@pytest.fixture
def person(service: RealService, notes: NotesServer) -> Iterator[Person]:
    """A person whose built-in assistant uses the server."""
    owner = service.owner()
    person = owner.add_new("nora")
    made = person.http.post(
        "/api/mcp-servers", json={"name": "notes", "base_url": f"http://127.0.0.1:{notes.port}/mcp"}
    )
    assert made.is_success, made.text
    server_id = made.json()["id"]
    connected = person.http.post(f"/api/mcp-servers/{server_id}/connect")
    assert connected.json()["status"] == "connected", connected.text
    chosen = person.http.put("/api/assistants/drive_agent/mcp-servers", json={"server_ids": [server_id]})
    assert chosen.is_success, chosen.text
    yield person
    person.close()
    owner.close()


def records(view: dict[str, Any]) -> list[list[tuple[str, str]]]:
    """(tool, status) of the records of each message that has any."""
    found = [[(one["toolName"], one["status"]) for one in message["toolCalls"]] for message in view["messages"]]
    return [listed for listed in found if listed]


def test_a_call_is_asked_about_approved_with_other_arguments_and_shown_after_a_reload(
    person: Person, notes: NotesServer
) -> None:
    with person.chat(command(NOTE, text="hello")) as turn:
        asked = turn.until("approval_needed")
        thread_id = turn.of("run")[0]["thread_id"]
        waiting = person.get(f"/api/threads/{thread_id}")
        assert records(waiting) == [[("note", "pending")]]
        assert asked["actions"][0]["code"] == "outside"
        key = asked["actions"][0]["tool_call_id"]
        edit = {"decisions": [{"tool_call_id": key, "type": "edit", "args": {"text": "good day"}}]}
        assert person.http.post(f"/api/approvals/{asked['approval_id']}", json=edit).is_success
        turn.finish()

    assert notes.calls == [("note", {"text": "good day"})]
    updates = [(event["toolCall"]["status"], event["messageId"]) for event in turn.of(RECORD)]
    view = person.get(f"/api/threads/{thread_id}")
    message = next(one for one in view["messages"] if one["toolCalls"])
    assert updates == [("pending", message["id"]), ("invoking", message["id"]), ("done", message["id"])]
    assert message["toolCalls"] == [turn.of(RECORD)[-1]["toolCall"]]
    assert message["toolCalls"][0]["arguments"] == {"text": "good day"}
    assert message["toolCalls"][0]["response"] == "noted"


def test_a_call_is_confirmed_by_the_message_that_has_its_record_and_links_in_it_are_inert(
    person: Person, notes: NotesServer
) -> None:
    notes.answer = "see https://evil.example/x?d=1"
    with person.chat(command(NOTE, text="hello")) as turn:
        turn.until("approval_needed")
        event = turn.of(RECORD)[-1]
        body = {"toolCallId": event["toolCall"]["id"], "approved": True}
        confirmed = person.http.post(f"/api/messages/{event['messageId']}/tool-confirm", json=body)
        assert confirmed.is_success, confirmed.text
        turn.finish()
    assert turn.of(RECORD)[-1]["toolCall"]["response"] == "see `https://evil.example/x?d=1`"
    view = person.get(f"/api/threads/{turn.of('run')[0]['thread_id']}")
    shown = next(one for one in view["messages"] if one["toolCalls"])["toolCalls"]
    assert shown == [turn.of(RECORD)[-1]["toolCall"]]


def test_the_list_of_a_run_says_of_each_call_that_it_cannot_be_taken_back(person: Person) -> None:
    run_id = note(person, command("create_folder", name="Reports"), command(NOTE, text="hello"))
    listed = person.get(f"/api/runs/{run_id}/changes")
    assert [one["tool"] for one in listed["items"]] == ["create_folder"]
    assert [(one["toolCall"]["toolName"], one["text"]) for one in listed["outside"]] == [
        ("note", "The actions of notes can't be undone from here.")
    ]
    undone = person.http.post(f"/api/runs/{run_id}/undo", json={}).json()
    assert (len(undone["undone"]), undone["outside"]) == (1, listed["outside"])


def note(person: Person, *commands: str) -> str:
    """Have these calls made, and return the run."""
    with person.chat("\n".join(commands)) as turn:
        asked = turn.until("approval_needed")
        assert person.http.post(f"/api/approvals/{asked['approval_id']}", json={"approve_all": True}).is_success
        turn.finish()
        return str(turn.of("run")[0]["run_id"])


def test_a_call_that_is_cancelled_before_it_was_sent_says_so(person: Person, notes: NotesServer) -> None:
    with person.chat(command(NOTE, text="hello")) as turn:
        turn.until("approval_needed")
        run = turn.of("run")[0]
        person.http.post(f"/api/runs/{run['run_id']}/cancel")
        turn.until("done")
    last = turn.of(RECORD)[-1]["toolCall"]
    assert (last["status"], last["response"]) == ("cancelled", "Cancelled before it was sent.")
    view = person.get(f"/api/threads/{run['thread_id']}")
    assert next(one for one in view["messages"] if one["toolCalls"])["toolCalls"] == [last]
    assert person.get(f"/api/runs/{run['run_id']}/changes")["outside"] == []
    assert notes.calls == []


def test_a_call_that_is_cancelled_while_the_server_works_says_that_nobody_knows(
    person: Person, notes: NotesServer
) -> None:
    notes.gate.clear()
    with person.chat(command(NOTE, text="hello")) as turn:
        asked = turn.until("approval_needed")
        run = turn.of("run")[0]
        person.http.post(f"/api/approvals/{asked['approval_id']}", json={"approve_all": True})
        assert notes.called.wait(30)
        person.http.post(f"/api/runs/{run['run_id']}/cancel")
        turn.until("done")
    notes.gate.set()
    last = turn.of(RECORD)[-1]["toolCall"]
    assert last["status"] == "cancelled"
    assert "unknown" in last["response"]
    view = person.get(f"/api/threads/{run['thread_id']}")
    assert next(one for one in view["messages"] if one["toolCalls"])["toolCalls"] == [last]
    assert len(person.get(f"/api/runs/{run['run_id']}/changes")["outside"]) == 1
