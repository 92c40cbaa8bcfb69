"""A server of one's own from its definition to its end, over each transport: a real one, that nobody here wrote."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from mcp import ClientSession

from api.cli import main
from graph.servers.connections.supervisor import descendants
from graph.settings import AgentSettings
from tests.api.command_model import command
from tests.api.fakes import ManualClock
from tests.api.real_service import RealService
from tests.e2e.own_servers import (
    RECORD,
    ObservedModel,
    OwnServer,
    choose,
    everything_over_http,
    instructions,
    records,
    say,
    stored_records,
)
from tests.graph.servers.real import allowed, free_port
from tests.node.runtime import EVERYTHING_SERVER, NODE, PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from graph.servers.definition import ServerType
    from tests.e2e.person import Person

ECHO = "mcp__Every__echo"
UNTIL_RETRY_SECONDS = 400


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of the server that is a program; a test may take it away for a while."""
    return tmp_path_factory.mktemp("program") / "everything.js"


@pytest.fixture(scope="module")
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(scope="module")
def model() -> ObservedModel:
    return ObservedModel()


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, script: Path, clock: ManualClock, model: ObservedModel
) -> Iterator[RealService]:
    agent = AgentSettings(
        model="offline", mcp_private_hosts="127.0.0.1", stdio_commands=allowed([str(NODE), str(script), "stdio"])
    )
    service = RealService(tmp_path_factory.mktemp("story"), model, agent=agent, clock=clock).start()
    yield service
    service.stop()


@pytest.fixture
def person(service: RealService) -> Iterator[Person]:
    owner = service.owner()
    person = owner.add_new("nora")
    yield person
    person.close()
    owner.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arguments of each call that is sent to a server of `echo`."""
    found: list[Any] = []
    send = cast("Callable[..., Any]", ClientSession.call_tool)

    async def call_tool(self: ClientSession, name: str, args: Any = None, *others: Any, **options: Any) -> Any:
        if name == "echo":
            found.append(args)
        return await send(self, name, args, *others, **options)

    monkeypatch.setattr(ClientSession, "call_tool", call_tool)
    return found


@pytest.fixture
def run(
    service: RealService, person: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run a command of the person in this process, and return what it printed."""
    monkeypatch.setenv("DRIVE_AGENT_URL", service.url)
    monkeypatch.setenv("DRIVE_AGENT_TOKEN", person.token)

    def run(*arguments: str, stdin: str) -> str:
        monkeypatch.setattr("sys.stdin", StringIO(stdin))
        assert main(arguments) == 0
        return capsys.readouterr().out

    return run


@contextmanager
def running(kind: ServerType, port: int, script: Path) -> Generator[None]:
    """Have the server there, and kill it in the end: nothing gets to clean up."""
    if kind != "stdio":
        with everything_over_http(kind, port):
            yield
        return
    script.symlink_to(PACKAGES / "node_modules" / EVERYTHING_SERVER)
    try:
        yield
    finally:
        script.unlink()
    for process_id in descendants():
        if Path(f"/proc/{process_id}/cmdline").read_bytes().split(b"\0")[:2] == [bytes(NODE), bytes(script)]:
            os.kill(process_id, signal.SIGKILL)


def define(person: Person, kind: ServerType, port: int, script: Path) -> OwnServer:
    """Define it by what a person enters; the type follows from that."""
    places: dict[ServerType, dict[str, Any]] = {
        "streamableHttp": {"base_url": f"http://127.0.0.1:{port}/mcp"},
        "sse": {"base_url": f"http://127.0.0.1:{port}/sse"},
        "stdio": {"command": str(NODE), "args": [str(script), "stdio"]},
    }
    server = OwnServer(person, "Every", **places[kind])
    assert server.view["type"] == kind
    return server


@pytest.mark.parametrize("kind", ["streamableHttp", "sse", "stdio"])
@pytest.mark.story
def test_a_server_is_added_tested_chosen_asked_about_called_switched_off_approved_killed_and_comes_back(
    person: Person, kind: ServerType, script: Path, sent: list[Any], clock: ManualClock, model: ObservedModel
) -> None:
    port = free_port()
    server = define(person, kind, port, script)
    with server.states() as states:
        with running(kind, port, script):
            tested = server.connect()
            assert (tested["name"], tested["protocol"]) == ("Everything Reference Server", "2025-11-25")
            choose(person, server)
            is_called_once_with_what_was_approved(person, server, model, sent)
            is_not_offered_while_it_is_off(person, server, model)
            runs_unasked(person, server, sent)
        is_named_as_missing(person, server)
        assert next(event for event in states if event["status"] == "error")["sentence"]

    # Whoever asks while an attempt is under way waits for that one: it has to be over.
    assert person.http.post(f"/api/mcp-servers/{server.id}/connect").json()["status"] == "error"
    clock.advance(UNTIL_RETRY_SECONDS)
    with running(kind, port, script):
        turn = say(person, server.command("echo", message="back"))
        assert [(one["status"], one["response"]) for one in records(turn)] == [("done", "Echo: back")]
        assert "<missing_servers>" not in instructions(turn, person)[-1]
        assert person.http.delete(f"/api/mcp-servers/{server.id}").is_success
    assert [args for args in sent if args != {"message": "away"}] == [
        {"message": text} for text in ("good day", "unasked", "back")
    ]


def is_called_once_with_what_was_approved(
    person: Person, server: OwnServer, model: ObservedModel, sent: list[Any]
) -> None:
    with person.chat(server.command("echo", message="hello")) as turn:
        asked = turn.until("approval_needed")
        assert [action["name"] for action in asked["actions"]] == [ECHO]
        assert sent == []
        assert person.answer(asked, "edit", args={"message": "good day"}).is_success
        turn.finish()
    assert sent == [{"message": "good day"}]
    assert [event["toolCall"]["status"] for event in turn.of(RECORD)] == ["pending", "invoking", "done"]
    (record,) = stored_records(turn, person)
    assert record == records(turn)[-1]
    assert set(record) == {
        *(
            "id",
            "serverId",
            "serverName",
            "toolName",
            "displayName",
            "toolTitle",
            "arguments",
            "status",
            "response",
            "isError",
        )
    }
    assert (record["serverId"], record["serverName"], record["toolName"]) == (server.id, "Every", "echo")
    assert record["displayName"] == ECHO == "mcp__Every__echo"
    assert (record["arguments"], record["response"]) == ({"message": "good day"}, "Echo: good day")
    assert ECHO in model.offered[-1]


def is_not_offered_while_it_is_off(person: Person, server: OwnServer, model: ObservedModel) -> None:
    server.decide("echo", isEnabled=False)
    before = len(model.offered)
    turn = say(person, server.command("echo", message="off"))
    assert turn.tools == [(ECHO, "error")]
    assert ECHO not in {name for offered in model.offered[before:] for name in offered}
    assert not [text for text in instructions(turn, person) if ECHO in text]
    server.decide("echo", isEnabled=True)


def runs_unasked(person: Person, server: OwnServer, sent: list[Any]) -> None:
    server.decide("echo", isAutoApprove=True)
    turn = say(person, server.command("echo", message="unasked"))
    assert [event["toolCall"]["status"] for event in turn.of(RECORD)] == ["pending", "invoking", "done"]
    assert sent[1:] == [{"message": "unasked"}]


def is_named_as_missing(person: Person, server: OwnServer) -> None:
    turn = say(person, command("create_folder", name="Meanwhile"), server.command("echo", message="away"))
    assert sorted(turn.tools) == [("create_folder", "done"), (ECHO, "error")]
    (record,) = records(turn)
    assert (record["status"], record["isError"]) == ("error", True)
    assert "The server Every can't be used: " in record["response"]
    assert '"server":"Every"' in instructions(turn, person)[-1].partition("<missing_servers>")[2]


def test_a_call_is_confirmed_by_its_message_and_approved_in_the_terminal(
    person: Person, script: Path, sent: list[Any], run: Callable[..., str]
) -> None:
    with running("stdio", 0, script):
        server = define(person, "stdio", 0, script)
        server.connect()
        made = person.http.post("/api/assistants", json={"name": "Helper", "instructions": "Be brief."}).json()
        choose(person, server, assistant_id=made["id"])
        with person.chat(server.command("echo", message="one"), assistant_id=made["id"]) as turn:
            turn.until("approval_needed")
            event = turn.of(RECORD)[-1]
            body = {"toolCallId": event["toolCall"]["id"], "approved": True}
            assert person.http.post(f"/api/messages/{event['messageId']}/tool-confirm", json=body).is_success
            turn.finish()
        assert stored_records(turn, person)[0]["response"] == "Echo: one"

        printed = run("chat", "--assistant", "Helper", server.command("echo", message="two"), stdin="e message=three\n")
        assert "Goes to Every" in printed
        assert "✓ Every: Echo Tool  answered: Echo: three" in printed
        assert sent == [{"message": "one"}, {"message": "three"}]
        assert person.http.delete(f"/api/mcp-servers/{server.id}").is_success
