"""Questions of a person's own server over the whole service: shown, answered, declined, expired, lost, kept apart."""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams

from graph.settings import AgentSettings
from tests.api.command_model import CommandModel, command
from tests.api.fakes import ManualClock
from tests.api.real_service import RealService
from tests.e2e.person import Event, Person, Turn
from tests.fakes.notes_server import NotesServer

NOTE = "mcp__notes__note"
RECORD = "assistant.toolCall.updated"
FORM = ElicitRequestFormParams(
    message="Which city? See https://evil.example/x",
    requestedSchema={
        "type": "object",
        "properties": {"city": {"type": "string", "minLength": 2}, "apiToken": {"type": "string"}},
        "required": ["city"],
    },
)
URL = ElicitRequestURLParams(message="Sign it.", url="https://example.com/form", elicitationId="e1")


@pytest.fixture(scope="module")
def running() -> Iterator[NotesServer]:
    server = NotesServer().start()
    yield server
    server.stop()


@pytest.fixture
def notes(running: NotesServer) -> NotesServer:
    running.reset()
    running.asks = [FORM]
    return running


@contextmanager
def serving(data_dir: Path, clock: ManualClock) -> Generator[RealService]:
    """Run the service on a data directory until the end of the block."""
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")
    service = RealService(data_dir, CommandModel(), agent=agent, clock=clock).start()
    try:
        yield service
    finally:
        service.stop()


@pytest.fixture(scope="module")
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("questions")


@pytest.fixture(scope="module")
def service(data_dir: Path, clock: ManualClock) -> Iterator[RealService]:
    with serving(data_dir, clock) as service:
        yield service


def with_server(person: Person, notes: NotesServer) -> Person:
    """Let the person's built-in assistant use the server, without asking."""
    body = {"name": "notes", "base_url": f"http://127.0.0.1:{notes.port}/mcp"}
    server_id = person.http.post("/api/mcp-servers", json=body).json()["id"]
    connected = person.http.post(f"/api/mcp-servers/{server_id}/connect")
    assert connected.json()["status"] == "connected", connected.text
    tools = {"tools": [{"name": "note", "isAutoApprove": True}]}
    assert person.http.put(f"/api/mcp-servers/{server_id}/tools", json=tools).is_success
    chosen = person.http.put("/api/assistants/drive_agent/mcp-servers", json={"server_ids": [server_id]})
    assert chosen.is_success, chosen.text
    return person


@pytest.fixture
def person(service: RealService, notes: NotesServer) -> Iterator[Person]:
    owner = service.owner()
    person = with_server(owner.add_new("nora"), notes)
    yield person
    person.close()
    owner.close()


def decide(person: Person, asked: Event, kind: str, **args: Any) -> Any:
    """Answer the one action of an approval."""
    decision: dict[str, Any] = {"tool_call_id": asked["actions"][0]["tool_call_id"], "type": kind}
    if kind == "edit":
        decision["args"] = args
    return person.http.post(f"/api/approvals/{asked['approval_id']}", json={"decisions": [decision]})


def record_of(person: Person, turn: Turn) -> dict[str, Any]:
    """Return the one record of the thread, as it is after a reload."""
    view = person.get(f"/api/threads/{turn.of('run')[0]['thread_id']}")
    (records,) = [message["toolCalls"] for message in view["messages"] if message["toolCalls"]]
    return records[0]


def heard(notes: NotesServer) -> list[tuple[str, Any]]:
    """(action, content) of each answer that the server got."""
    return [(one.action, one.content) for one in notes.heard]


def test_a_form_is_refused_field_by_field_then_answered_and_its_values_are_stored_nowhere(
    person: Person, notes: NotesServer, data_dir: Path
) -> None:
    with person.chat(command(NOTE, text="hello")) as turn:
        asked = turn.until("approval_needed")
        question = asked["actions"][0]["question"]
        assert question["message"] == "Which city? See `https://evil.example/x`"
        assert "apiToken" in question["warning"]
        assert [one["approval_id"] for one in person.get("/api/approvals")["items"]] == [asked["approval_id"]]

        wrong = decide(person, asked, "edit", city="O", street="x")
        assert wrong.status_code == 422
        assert set(wrong.json()["details"]["fields"]) == {"city", "street"}
        assert wrong.json()["details"]["fields"]["city"]["zh"] == "至少需要 2 个字符。"
        assert decide(person, asked, "approve").status_code == 422
        assert decide(person, asked, "respond").status_code == 422
        everything = person.http.post(f"/api/approvals/{asked['approval_id']}", json={"approve_all": True})
        assert everything.status_code == 422
        thread_id = turn.of("run")[0]["thread_id"]
        said = person.http.post("/api/chat", json={"message": "Kingfisher", "thread_id": thread_id})
        assert said.status_code == 409
        assert notes.heard == []

        assert decide(person, asked, "edit", city="Kingfisher").json()["decisions"][0]["fields"] == ["city"]
        assert not files_with(data_dir, "Kingfisher")
        turn.finish()
    assert heard(notes) == [("accept", {"city": "Kingfisher"})]
    assert len(notes.calls) == 1
    assert record_of(person, turn) == turn.of(RECORD)[-1]["toolCall"]
    assert record_of(person, turn)["status"] == "done"
    assert [event["status"] for event in turn.of("approval_resolved")] == ["resolved"]

    audit = person.get(f"/api/runs/{turn.of('run')[0]['run_id']}/audit")
    (answered,) = audit["calls"][0]["asked"]
    assert (answered["question"], answered["fields"]) == (question["message"], ["city"])
    shown = person.get(f"/api/approvals/{asked['approval_id']}")
    assert "Kingfisher" not in str([audit, shown, turn.seen])
    stored = person.get(f"/api/runs/{turn.of('run')[0]['run_id']}/context")
    assert "Kingfisher" not in str(stored)
    assert not rows_with(data_dir, "Kingfisher")
    assert not files_with(data_dir, "Kingfisher")


def files_with(data_dir: Path, text: str) -> list[str]:
    """Return the files that have a text somewhere, also in free pages and in logs of databases."""
    files = (path for path in data_dir.rglob("*") if path.is_file())
    return [path.name for path in files if text.encode() in path.read_bytes()]


def rows_with(data_dir: Path, text: str) -> list[str]:
    """Return the tables in which a text is stored."""
    found: list[str] = []
    for path in data_dir.glob("*.db"):
        with sqlite3.connect(path) as database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                rows = database.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608 - the names are the schema's
                cells = [cell for row in rows for cell in row]
                if any(text.encode() in (cell if isinstance(cell, bytes) else str(cell).encode()) for cell in cells):
                    found.append(f"{path.name}: {table}")
    return found


def test_a_question_is_declined_by_the_message_that_has_the_record_of_its_call(
    person: Person, notes: NotesServer
) -> None:
    with person.chat(command(NOTE, text="hello")) as turn:
        turn.until("approval_needed")
        event = turn.of(RECORD)[-1]
        path = f"/api/messages/{event['messageId']}/tool-confirm"
        body = {"toolCallId": event["toolCall"]["id"], "approved": True}
        assert person.http.post(path, json=body).status_code == 422
        assert person.http.post(path, json={**body, "approved": False}).is_success
        turn.finish()
    assert heard(notes) == [("decline", None)]
    assert "declined to answer" in record_of(person, turn)["response"]


def test_an_address_is_confirmed_once_the_person_has_been_there(person: Person, notes: NotesServer) -> None:
    notes.asks = [URL]
    with person.chat(command(NOTE, text="hello")) as turn:
        asked = turn.until("approval_needed")
        question = asked["actions"][0]["question"]
        assert (question["mode"], question["url"], question["host"]) == ("url", URL.url, "example.com")
        assert decide(person, asked, "edit", city="Oslo").status_code == 422
        everything = person.http.post(f"/api/approvals/{asked['approval_id']}", json={"approve_all": True})
        assert everything.status_code == 422
        assert decide(person, asked, "approve").is_success
        turn.finish()
    assert heard(notes) == [("accept", None)]


def test_a_question_that_nobody_answered_in_time_is_cancelled_and_the_record_says_so(
    person: Person, notes: NotesServer, clock: ManualClock
) -> None:
    with person.chat(command(NOTE, text="hello")) as turn:
        turn.until("approval_needed")
        clock.advance(301)
        turn.finish()
    assert heard(notes) == [("cancel", None)]
    assert "Nobody answered in time" in record_of(person, turn)["response"]
    assert [event["status"] for event in turn.of("approval_resolved")] == ["expired"]


def test_a_cancelled_run_cancels_the_question_and_the_call(person: Person, notes: NotesServer) -> None:
    with person.chat(command(NOTE, text="hello")) as turn:
        asked = turn.until("approval_needed")
        run = turn.of("run")[0]
        person.http.post(f"/api/runs/{run['run_id']}/cancel")
        turn.until("done")
    assert decide(person, asked, "edit", city="Oslo").status_code == 409
    assert record_of(person, turn)["status"] == "cancelled"
    assert "unknown" in record_of(person, turn)["response"]
    assert len(notes.calls) == 1
    assert not [one for one in notes.heard if one.action == "accept"]


def test_two_people_with_the_same_server_answer_each_their_own_question(
    person: Person, notes: NotesServer, service: RealService
) -> None:
    owner = service.owner()
    other = with_server(owner.add_new("omar"), notes)
    with person.chat(command(NOTE, text="nora")) as hers, other.chat(command(NOTE, text="omar")) as his:
        asked, asked_him = hers.until("approval_needed"), his.until("approval_needed")
        assert decide(other, asked, "edit", city="Cairo").status_code == 404
        assert decide(other, asked_him, "edit", city="Cairo").is_success
        his.finish()
        assert decide(person, asked, "edit", city="Oslo").is_success
        hers.finish()
    assert heard(notes) == [("accept", {"city": "Cairo"}), ("accept", {"city": "Oslo"})]
    other.close()
    owner.close()


def test_a_question_whose_process_was_stopped_ends_as_unknown_and_the_call_is_not_made_again(
    tmp_path: Path, notes: NotesServer
) -> None:
    clock = ManualClock()
    with serving(tmp_path, clock) as service:
        owner = with_server(service.owner(), notes)
        with owner.chat(command(NOTE, text="hello")) as turn:
            asked = turn.until("approval_needed")
        owner.close()
    with serving(tmp_path, clock) as service:
        owner = service.owner()
        assert decide(owner, asked, "edit", city="Oslo").is_success
        run_id = turn.of("run")[0]["run_id"]
        with owner.http.stream("GET", f"/api/runs/{run_id}/events") as answer:
            assert '"type":"done"' in "".join(answer.iter_text())
        assert record_of(owner, turn)["status"] == "error"
        assert "was not sent again" in record_of(owner, turn)["response"]
        owner.close()
    assert len(notes.calls) == 1
    assert not [one for one in notes.heard if one.action == "accept"]
