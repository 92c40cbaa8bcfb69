"""Two people with the same server see nothing of each other: over the whole service, with real servers."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest

from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.real_service import RealService
from tests.e2e.own_servers import RECORD, SERVERS, OwnServer, approve_all, chosen_server, records, say, stored_records
from tests.e2e.person import read_events
from tests.fakes.notes_server import NotesServer
from tests.fakes.oauth_server import oauth_server
from tests.graph.servers.real import allowed, memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def service(data_dir: Path) -> Iterator[RealService]:
    agent = AgentSettings(
        model="offline", mcp_private_hosts="127.0.0.1", stdio_commands=allowed(["MEMORY_FILE_PATH=", *memory()])
    )
    service = RealService(data_dir, CommandModel(), agent=agent).start()
    yield service
    service.stop()


@pytest.fixture
def people(service: RealService) -> Iterator[tuple[Person, Person]]:
    with closing(service.owner()) as owner, closing(owner.add_new("ann")) as ann, closing(owner.add_new("ben")) as ben:
        yield ann, ben


@pytest.fixture
def notes() -> Iterator[NotesServer]:
    server = NotesServer().start()
    yield server
    server.stop()


def test_definitions_states_tools_records_and_approvals(people: tuple[Person, Person], notes: NotesServer) -> None:
    ann, ben = people
    address = f"http://127.0.0.1:{notes.port}/mcp"
    with ben.http.stream("GET", f"{SERVERS}/events") as response:
        hers, his = (chosen_server(one, "notes", base_url=address) for one in people)
        hers.decide("note", isEnabled=True, isAutoApprove=True)
        assert [one["id"] for one in ben.get(SERVERS)["items"]] == [his.id]
        assert ben.get("/api/assistants/drive_agent/mcp-servers")["server_ids"] == [his.id]
        first = say(ann, hers.command("note", text="a secret of Ann"))
        with ben.chat(his.command("note", text="of Ben")) as second:
            asked = second.until("approval_needed")  # only Ann approved the tool in advance
            event = second.of(RECORD)[-1]
            body = {"toolCallId": event["toolCall"]["id"], "approved": True}
            confirmed = ann.http.post(f"/api/messages/{event['messageId']}/tool-confirm", json=body)
            assert confirmed.status_code == 404
            assert ann.get("/api/approvals")["items"] == []
            approve_all(ben, asked)
            second.finish()
        assert ben.http.delete(f"{SERVERS}/{his.id}").is_success
        told = []
        for event in read_events(response.iter_lines()):
            told.append(event)
            if [one["status"] for one in told].count("disconnected") > 0:
                break
    assert {event["server_id"] for event in told} == {his.id}
    assert hers.view["status"] == "connected"

    assert [one["serverId"] for one in stored_records(first, ann)] == [hers.id]
    assert [one["serverId"] for one in stored_records(second, ben)] == [his.id]
    run = first.of("run")[0]
    for path in (f"threads/{run['thread_id']}", *(f"runs/{run['run_id']}/{part}" for part in ("changes", "context"))):
        assert ben.http.get(f"/api/{path}").status_code == 404
    assert "Ann" not in json.dumps([second.seen, ben.get("/api/threads")])


def test_what_a_program_remembers(people: tuple[Person, Person], data_dir: Path) -> None:
    line = memory()
    file = {"MEMORY_FILE_PATH": "${HOME}/memory.json"}
    for person in people:
        server = chosen_server(person, "memory", command=line[0], args=line[1:], env=file)
        entity = {"name": f"secret of {person.email}", "entityType": "secret", "observations": []}
        say(person, server.command("create_entities", entities=[entity]), asks=True)
        (record,) = records(say(person, server.command("read_graph"), asks=True))
        assert record["status"] == "done"
        assert [one.email for one in people if one.email in record["response"]] == [person.email]
    found = [path.parent for path in (data_dir / "mcp-servers").rglob("memory.json")]
    assert len(set(found)) == 2
    assert {path.stat().st_mode & 0o777 for path in found} == {0o700}


def test_the_tokens_of_a_sign_in(people: tuple[Person, Person], service: RealService) -> None:
    del service  # it is ended after the server, whose connections it has
    with oauth_server() as locked:
        hers, his = (OwnServer(one, "Locked", base_url=locked.mcp_url) for one in people)
        begun = hers.person.http.post(f"{SERVERS}/{hers.id}/authorize").json()
        back = locked.agree(begun["url"])
        refused = his.person.http.post(f"{SERVERS}/{his.id}/callback", params=back)
        assert refused.status_code == httpx.codes.CONFLICT
        done = hers.person.http.post(f"{SERVERS}/{hers.id}/callback", params=back)
        assert done.is_success, done.text
        hers.connect()
        assert (hers.view["signed_in"], his.view["signed_in"]) == (True, False)
        tested = his.person.http.post(f"{SERVERS}/{his.id}/connect").json()
        assert (tested["status"], tested["code"], tested["tools"]) == ("error", "sign_in", [])
        for server in (hers, his):
            assert server.person.http.delete(f"{SERVERS}/{server.id}").is_success
