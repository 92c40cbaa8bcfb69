"""Assistants of one's own over HTTP: their fields, their servers, and the threads that remember them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from api.app import create_app
from api.servers.assistants import PersonsChoices
from api.servers.secrets import Secrets
from api.storage.database import open_database
from drive_server.kernel.settings import DriveSettings
from graph.context import RunContext
from graph.settings import AgentSettings
from tests.api.serving import RunningApp
from tests.e2e.person import Person
from tests.fakes.openai_server import running_server, text
from tests.fakes.small_mcp import small_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graph.servers.choices import Choice

ASSISTANTS = "/api/assistants"
SERVERS = "/api/mcp-servers"
BUILT_IN = "drive_agent"
ASK = "search my files for the contract"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("assistants")


@pytest.fixture(scope="module")
def running(data_dir: Path) -> Iterator[RunningApp]:
    with running_server() as provider:
        provider.brain = lambda request: text(f"I am {request['model']}.")
        agent = AgentSettings.model_validate(
            {
                "model": "gpt-4.1",
                "models": "gpt-5, ours",
                "openai_api_key": "k",
                "openai_base_url": provider.url,
                "mcp_private_hosts": "127.0.0.1",
            }
        )
        app = RunningApp(create_app(DriveSettings(data_dir=data_dir, embedding_model="none"), agent)).start()
        yield app
        app.stop()


@pytest.fixture
def owner(running: RunningApp, data_dir: Path) -> Iterator[Person]:
    person = Person.owner(running.url, data_dir)
    yield person
    person.close()


@pytest.fixture
def person(owner: Person) -> Iterator[Person]:
    """Somebody new, who has no assistant yet."""
    added = owner.add_new("ann")
    yield added
    added.close()


def create(person: Person, name: str = "Research", **fields: Any) -> dict[str, Any]:
    made = person.http.post(ASSISTANTS, json={"name": name, **fields})
    assert made.status_code == 201, made.text
    return made.json()


def define(person: Person, name: str, **fields: Any) -> str:
    body = {"name": name, "base_url": "https://x.invalid/mcp", **fields}
    return person.http.post(SERVERS, json=body).json()["id"]


def choose(person: Person, assistant_id: str, *server_ids: str) -> Any:
    return person.http.put(f"{ASSISTANTS}/{assistant_id}/mcp-servers", json={"server_ids": server_ids})


def say(person: Person, **fields: Any) -> tuple[str, str]:
    """Return the thread, and what was answered."""
    answer = person.http.post("/api/chat", json={"message": ASK, **fields})
    assert answer.status_code == 200, answer.text
    assert '"status":"success"' in answer.text, answer.text
    thread_id = answer.text.split('"thread_id":"', 1)[1].split('"', 1)[0]
    messages = person.get(f"/api/threads/{thread_id}")["messages"]
    return thread_id, messages[-1]["text"]


def assistant_of(person: Person, thread_id: str) -> str:
    return person.get(f"/api/threads/{thread_id}")["assistant_id"]


async def chosen(data_dir: Path, person: Person, assistant_id: str = "") -> Choice:
    """Return what the graph reads for a run of the person."""
    # The application of these tests is one in files, whatever other tests run on.
    database = await open_database(f"sqlite+aiosqlite:///{data_dir / 'api.db'}")
    user_id = person.get("/api/auth/me")["id"]
    try:
        choices = PersonsChoices(database, Secrets.of(data_dir, ""))
        return await choices.chosen(RunContext(user_id, assistant_id=assistant_id))
    finally:
        await database.dispose()


def test_everybody_has_the_built_in_assistant(person: Person) -> None:
    (only,) = person.get(ASSISTANTS)["items"]
    assert (only["id"], only["is_built_in"], only["is_default"]) == (BUILT_IN, True, True)
    assert person.get(f"{ASSISTANTS}/{BUILT_IN}") == only
    for method, body in (("PATCH", {"name": "x"}), ("PATCH", {"is_default": False}), ("DELETE", None)):
        refused = person.http.request(method, f"{ASSISTANTS}/{BUILT_IN}", json=body)
        assert (refused.status_code, refused.json()["code"]) == (409, "built_in_assistant")


def test_an_assistant_is_created_changed_and_deleted(person: Person) -> None:
    made = create(person, description="Reads.", model="gpt-5", instructions="Be brief.", drive_tools=["read_file"])
    assert person.get(f"{ASSISTANTS}/{made['id']}") == made
    assert made["owner"] == person.get("/api/auth/me")["id"]
    changed = person.http.patch(f"{ASSISTANTS}/{made['id']}", json={"drive_tools": None, "name": "Reader"}).json()
    assert changed == made | {"drive_tools": None, "name": "Reader", "updated_at": changed["updated_at"]}
    assert [one["name"] for one in person.get(ASSISTANTS)["items"]] == [BUILT_IN, "Reader"]
    assert person.http.delete(f"{ASSISTANTS}/{made['id']}").status_code == 204
    assert person.http.get(f"{ASSISTANTS}/{made['id']}").status_code == 404


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"name": ""}, 422, "invalid_argument"),
        ({"name": BUILT_IN}, 409, "name_conflict"),
        ({"name": "Taken"}, 409, "name_conflict"),
        ({"name": "x", "model": "gpt-6"}, 422, "model_not_allowed"),
        ({"name": "x", "drive_tools": ["read_file", "format_disk"]}, 422, "invalid_argument"),
        ({"name": "x", "instructions": "x" * 8_001}, 422, "invalid_argument"),
        ({"name": "x", "misspelt": 1}, 422, "invalid_argument"),
    ],
)
def test_an_assistant_that_can_not_be_is_refused(person: Person, fields: Any, status: int, code: str) -> None:
    create(person, "Taken")
    other = create(person, "Other")
    for method, path in (("POST", ASSISTANTS), ("PATCH", f"{ASSISTANTS}/{other['id']}")):
        refused = person.http.request(method, path, json=fields)
        assert (refused.status_code, refused.json()["code"]) == (status, code), refused.text
    assert len(person.get(ASSISTANTS)["items"]) == 3


def test_one_assistant_is_the_default_of_new_threads(person: Person) -> None:
    first, second = create(person, "First", is_default=True), create(person, "Second")
    assert assistant_of(person, say(person)[0]) == first["id"]
    person.http.patch(f"{ASSISTANTS}/{second['id']}", json={"is_default": True})
    defaults = [one["name"] for one in person.get(ASSISTANTS)["items"] if one["is_default"]]
    assert defaults == ["Second"]
    assert assistant_of(person, say(person)[0]) == second["id"]
    again = person.http.patch(f"{ASSISTANTS}/{BUILT_IN}", json={"is_default": True})
    assert again.json()["is_default"] is True
    assert assistant_of(person, say(person)[0]) == BUILT_IN


def test_a_thread_remembers_its_assistant_and_has_its_model(person: Person) -> None:
    made = create(person, model="gpt-5")
    thread_id, answer = say(person, assistant_id=made["id"])
    assert answer == "I am gpt-5."
    assert say(person, thread_id=thread_id) == (thread_id, "I am gpt-5.")
    assert assistant_of(person, thread_id) == made["id"]
    person.http.patch(f"{ASSISTANTS}/{made['id']}", json={"model": "ours"})
    assert say(person, thread_id=thread_id)[1] == "I am ours."
    assert say(person, thread_id=thread_id, model="gpt-5")[1] == "I am gpt-5."
    assert say(person, thread_id=thread_id, assistant_id=BUILT_IN)[1] == "I am gpt-5."
    assert assistant_of(person, thread_id) == BUILT_IN
    listed = next(one for one in person.get("/api/threads")["items"] if one["thread_id"] == thread_id)
    assert listed["assistant_id"] == BUILT_IN


def test_the_threads_of_a_deleted_assistant_go_on_with_the_built_in_one(person: Person) -> None:
    made = create(person, model="gpt-5", is_default=True)
    thread_id, _ = say(person)
    person.http.delete(f"{ASSISTANTS}/{made['id']}")
    assert assistant_of(person, thread_id) == BUILT_IN
    assert say(person, thread_id=thread_id)[1] == "I am gpt-4.1."


def test_somebody_elses_assistant_does_not_exist(person: Person, owner: Person) -> None:
    made, server_id = create(person), define(person, "Mine")
    threads = owner.get("/api/threads")["items"]
    for assistant_id in (made["id"], "none"):
        for method, path, body in (
            ("GET", "", None),
            ("PATCH", "", {"name": "x"}),
            ("DELETE", "", None),
            ("GET", "/mcp-servers", None),
            ("PUT", "/mcp-servers", {"server_ids": []}),
        ):
            refused = owner.http.request(method, f"{ASSISTANTS}/{assistant_id}{path}", json=body)
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
        refused = owner.http.post("/api/chat", json={"message": ASK, "assistant_id": assistant_id})
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    for wanted in (server_id, "none"):
        refused = choose(owner, BUILT_IN, wanted)
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert owner.get("/api/threads")["items"] == threads
    assert len(owner.get(ASSISTANTS)["items"]) == 1


def test_servers_are_chosen_for_an_assistant_and_leave_with_it_or_by_themselves(person: Person) -> None:
    made = create(person)
    first, second = define(person, "A"), define(person, "B", is_active=False)
    assert choose(person, made["id"], second, first, first).json() == {"server_ids": [first, second]}
    assert person.get(f"{ASSISTANTS}/{made['id']}/mcp-servers") == {"server_ids": [first, second]}
    assert choose(person, made["id"], second, "none").status_code == 404
    person.http.delete(f"{SERVERS}/{first}")
    assert person.get(f"{ASSISTANTS}/{made['id']}/mcp-servers") == {"server_ids": [second]}
    person.http.delete(f"{ASSISTANTS}/{made['id']}")
    assert person.http.delete(f"{SERVERS}/{second}").status_code == 204


async def test_a_run_reads_what_its_person_chose(person: Person, owner: Person, data_dir: Path) -> None:
    made = create(person, instructions="Be brief.", drive_tools=["read_file"])
    with small_server() as server:
        active = define(person, "A", base_url=server.url, headers={"X-Key": "k"}, auto_approve_tools=["echo", "new"])
        off = define(person, "B", is_active=False)
        choose(person, made["id"], active, off)
        choose(person, BUILT_IN, active)
    choice = await chosen(data_dir, person, made["id"])
    assert (choice.assistant_id, choice.instructions, choice.drive_tools) == (made["id"], "Be brief.", {"read_file"})
    (definition,) = choice.servers
    assert (definition.id, dict(definition.headers), definition.type) == (active, {"X-Key": "k"}, "streamableHttp")
    # Choosing the server showed its tools: these are pinned, and only these are approved in advance.
    assert list(definition.pins) == ["echo"]
    assert definition.auto_approve_tools == {"echo"}
    for assistant_id in ("", "none"):
        built_in = await chosen(data_dir, person, assistant_id)
        assert (built_in.assistant_id, built_in.instructions, built_in.drive_tools) == ("", "", None)
        assert [one.id for one in built_in.servers] == [active]
    assert (await chosen(data_dir, owner, made["id"])).instructions == ""
    assert (await chosen(data_dir, owner)).servers == ()
