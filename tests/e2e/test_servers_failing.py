"""Servers of one's own that fail in the middle of a turn, over the whole service: the turn goes on, and says why."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
from anyio.from_thread import start_blocking_portal
from langchain_core.messages import AIMessage, HumanMessage

from graph.errors import ModelTimeoutError
from graph.servers import intake
from graph.servers import pool as pools
from graph.servers.connections import calls
from graph.servers.connections import stdio as programs
from graph.settings import AgentSettings
from tests.api.command_model import COMMAND, CommandModel, command
from tests.api.fakes import ManualClock
from tests.api.real_service import RealService
from tests.e2e.killed import Victim
from tests.e2e.own_servers import approve_all, chosen_server, everything_over_http, records, say, stored_records
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.fakes.notes_server import NotesServer
from tests.graph.servers import hostile_program
from tests.graph.servers.hostile import EVENTS, hostile_http
from tests.graph.servers.real import allowed, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from langchain_core.messages import BaseMessage

    from graph.servers.definition import ServerType
    from tests.e2e.person import Person

HOSTILE = [sys.executable, "-I", "-S", str(hostile_program.__file__), "shows_all"]
AGAIN = "again and again"
UNTIL_LISTED_ANEW_SECONDS = 400


class PersistentModel(CommandModel):
    """Repeats the call of a message that says so, with a number in it, for as long as it is let."""

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        said = [message.text for message in messages if isinstance(message, HumanMessage)]
        if "RouteDecision" in offered or not said or AGAIN not in said[-1]:
            return super()._answer(messages, offered)
        number = sum(isinstance(message, AIMessage) for message in messages)
        (name, _) = COMMAND.findall(said[-1])[0]
        return tool_call(name, f"call_{number}", text=f"note {number}")


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
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1", stdio_commands=allowed(HOSTILE))
    service = RealService(tmp_path_factory.mktemp("failing"), PersistentModel(), agent=agent, clock=ManualClock())
    yield service.start()
    service.stop()


@pytest.fixture
def person(service: RealService) -> Iterator[Person]:
    owner = service.owner()
    person = owner.add_new("fay")
    yield person
    person.close()
    owner.close()


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_MESSAGES", 500)
    monkeypatch.setattr(pools, "PING_SECONDS", 0.2)
    monkeypatch.setattr(programs, "EXIT_SECONDS", 0.1)


def address(notes: NotesServer) -> str:
    return f"http://127.0.0.1:{notes.port}/mcp"


@pytest.mark.parametrize(
    ("tool", "timeout", "reason"),
    [
        ("die", 30, "The program ended (3)."),
        ("flood", 30, "It sent too many messages at once."),
        ("huge", 30, "Its answer is larger than 1000000 bytes."),
        ("hang", 0.5, "It did not answer within 1 seconds."),
    ],
)
def test_a_server_that_fails_in_a_call_ends_that_call_with_the_reason_and_nothing_else(
    person: Person, tool: str, timeout: float, reason: str
) -> None:
    server = chosen_server(person, "Bad", command=HOSTILE[0], args=HOSTILE[1:], timeout=timeout)
    turn = say(
        person,
        command("create_folder", name="Before"),
        server.command(tool),
        command("create_folder", name="After"),
        asks=True,
    )
    assert sorted(turn.tools) == [("create_folder", "done")] * 2 + [(f"mcp__Bad__{tool}", "error")]
    assert sorted(person.names()) == ["After", "Before"]
    (record,) = records(turn)
    assert (record["status"], record["isError"]) == ("error", True)
    assert f"The server Bad can't be used: {reason}" in record["response"]
    assert "may or may not have been carried out" in record["response"]
    assert stored_records(turn, person) == [record]

    again = say(person, server.command("print_rubbish"), asks=True)
    assert records(again)[0]["response"] == "done"
    assert person.http.delete(f"/api/mcp-servers/{server.id}").is_success


def test_an_answer_over_http_without_end_ends_its_call(person: Person) -> None:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(hostile_http()) as hostile:
        hostile.tools = [{"name": "work", "inputSchema": {"type": "object"}}]
        hostile.behaviours["tools/call"] = lambda _message: EVENTS + b"data: "
        server = chosen_server(person, "Bad", base_url=hostile.url)
        hostile.endless = b"x" * 65_536
        turn = say(person, command("create_folder", name="Beside"), server.command("work"), asks=True)
        hostile.endless = b""
        assert person.http.delete(f"/api/mcp-servers/{server.id}").is_success
    assert sorted(turn.tools) == [("create_folder", "done"), ("mcp__Bad__work", "error")]
    assert "The server Bad can't be used: Its answer is larger than 1000000 bytes." in records(turn)[0]["response"]
    assert len(hostile.calls()) == 1


@pytest.mark.parametrize("kind", ["streamableHttp", "sse"])
@pytest.mark.story
def test_a_server_over_http_that_is_killed_in_a_call_ends_the_call_long_before_its_time(
    person: Person, kind: ServerType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "WATCH_SECONDS", 0.1)
    port = free_port()
    path = "sse" if kind == "sse" else "mcp"
    with ExitStack() as until_killed:
        until_killed.enter_context(everything_over_http(kind, port))
        server = chosen_server(person, "Every", base_url=f"http://127.0.0.1:{port}/{path}", timeout=600)
        with person.chat(server.command("trigger_long_running_operation", duration=600, steps=6000)) as turn:
            approve_all(person, turn.until("approval_needed"))
            while "progress" not in turn.until("tool_progress"):
                pass
            until_killed.close()
            turn.finish()
    (record,) = records(turn)
    assert record["status"] == "error"
    assert "The call may or may not have been carried out" in record["response"]
    assert person.http.delete(f"/api/mcp-servers/{server.id}").is_success


def test_a_turn_has_twenty_rounds_of_calls_of_own_servers(person: Person, notes: NotesServer) -> None:
    server = chosen_server(person, "notes", base_url=address(notes))
    with person.chat(f"{AGAIN}:\n{server.command('note', text='')}") as turn:
        while (event := turn.until("approval_needed", "done", "error"))["type"] == "approval_needed":
            approve_all(person, event)
    assert event["limit"]["code"] == "tool_rounds"
    assert len(notes.calls) == 20
    assert [record["status"] for record in records(turn)] == ["done"] * 20


def test_a_step_of_a_plan_that_needs_a_server_that_is_down_fails_with_the_reason(tmp_path: Path) -> None:
    note, model, clock = "mcp__notes__note", ScriptedChatModel(), ManualClock()
    agent = AgentSettings(model="offline", mcp_private_hosts="127.0.0.1")
    service = RealService(tmp_path, model, agent=agent, clock=clock).start()
    notes = NotesServer().start()
    with closing(service.owner()) as person:
        chosen_server(person, "notes", base_url=address(notes))
        notes.stop()
        clock.advance(UNTIL_LISTED_ANEW_SECONDS)
        model.script = [
            plan_of(("drive_agent", "create the folder Reports"), ("drive_agent", "note x with the server notes")),
            tool_call("create_folder", "c", name="Reports"),
            "Reports is there.",
            tool_call(note, "n", text="x"),
            "It does not work now.",
            ModelTimeoutError(),
        ]
        with person.chat("create a folder Reports, move a there and share it with bob@example.com") as turn:
            turn.until("done", "error")
        failed = [event["error"] for event in turn.of("task_step_update") if event["status"] == "failed"]
        plan = person.get(f"/api/threads/{turn.of('run')[0]['thread_id']}/plan")
        names = person.names()
    service.stop()
    assert turn.tools == [("create_folder", "done"), (note, "error")]
    assert failed == ["server_unavailable: The server notes can't be used: 127.0.0.1 can't be reached."]
    assert [step["status"] for step in plan["steps"]] == ["completed", "failed"]
    assert names == ["Reports"]


@pytest.mark.story
def test_a_call_that_was_under_way_when_the_service_was_killed_is_not_sent_again(
    tmp_path: Path, notes: NotesServer
) -> None:
    with Victim(tmp_path, commands=True) as first, closing(first.person()) as person:
        server = chosen_server(person, "notes", base_url=address(notes))
        notes.gate.clear()
        with person.chat(f"{command('create_folder', name='Kept')}\n{server.command('note', text='once')}") as turn:
            approve_all(person, turn.until("approval_needed"))
            assert notes.called.wait(30)
            first.kill()
    notes.gate.set()

    with Victim(tmp_path, commands=True) as second, closing(second.person()) as person:
        server.person = person
        with person.follow(turn.of("run")[0]["run_id"]) as followed:
            followed.finish()
        assert [args for _, args in notes.calls] == [{"text": "once"}]
        assert person.names() == ["Kept"]
        (record,) = records(followed)
        assert record["status"] == "error"
        assert "Whether the server carried it out is unknown" in record["response"]
        assert stored_records(followed, person) == [record]

        say(person, server.command("note", text="next"), asks=True)
        assert [args for _, args in notes.calls] == [{"text": "once"}, {"text": "next"}]
