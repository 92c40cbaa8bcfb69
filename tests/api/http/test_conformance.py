"""Live answers against the description: every operation is asked, by Schemathesis, and none fails or says else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.command_model import command
from tests.api.http.generated_objects import draw_objects
from tests.e2e.person import read_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemathesis import APIOperation, Case

    from tests.api.real_service import RealService
    from tests.e2e.person import Person

EXAMPLES = 3
"""Requests for each operation with made-up ids, and as many with those of things that are there."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
STREAM = "text/event-stream"
ENDLESS = {
    "index_events": "/api/drive/index/events",
    "events": "/api/drive/events",
    "follow_servers": "/api/mcp-servers/events",
    "notice_events": "/api/notices/events",
    "follow_approvals": "/api/approvals/events",
}
"""Operations that are not asked at random, as their streams end with the key; their first events are checked below."""
ANYWHERE = {405, 429}
"""Statuses that any operation may answer, which stand for `default`."""
UNAVAILABLE = {503}
"""A status that is no fault: a part, such as a person's own server, does not answer."""


@pytest.fixture(scope="module")
def person(commanded: RealService) -> Iterator[Person]:
    person = commanded.owner()
    yield person
    person.close()


@pytest.fixture(scope="module")
def ids(person: Person) -> dict[str, list[str]]:
    """Things that are there, by the parameter that names them in an address."""
    folder = person.folder("Folder")
    file = person.upload("file.txt", "words", folder["id"])
    link = person.http.post(f"/api/drive/items/{folder['id']}/shares", json={"role": "editor"}).json()
    with person.chat(command("create_folder", name="Made", folder_id="root")) as turn:
        turn.finish()
    thread_id, run_id = turn.seen[0]["thread_id"], turn.seen[0]["run_id"]
    server = {"name": "Nowhere", "base_url": "http://127.0.0.1:1/mcp"}
    friend = person.add_new("friend")
    key = person.http.post("/api/auth/keys", json={"name": "short", "scopes": ["read"]}).json()
    # What disables or removes an account, or ends a session, meets one that nothing else needs.
    httpx.post(f"{person.http.base_url}/api/auth/login", json={"token": person.token}).raise_for_status()
    (session,) = person.get("/api/auth/sessions")["items"]
    found = {
        "item_ref": [folder["id"], file["id"], "root", "trash", "shared"],
        "item_id": [folder["id"], file["id"]],
        "file_ref": [file["id"]],
        "token": [link["url"].rpartition("/")[2]],
        "who": [friend.email, link["id"]],
        "user": [friend.email],
        "group": [person.http.post("/api/groups", json={"name": "All", "members": [friend.email]}).json()["id"]],
        "session_id": [session["id"]],
        "key_id": [key["id"]],
        "thread_id": [thread_id],
        "run_id": [run_id],
        "message_id": [run_id],
        "server_id": [person.http.post("/api/mcp-servers", json=server).json()["id"]],
        "assistant_id": ["drive_agent", person.http.post("/api/assistants", json={"name": "A"}).json()["id"]],
    }
    friend.close()
    return found


@pytest.fixture(scope="module")
def schema(person: Person) -> Iterator[Any]:
    generation = GenerationConfig(deterministic=True, with_security_parameters=False, database="none", codec="utf-8")
    config = SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=generation)))
    with pytest.MonkeyPatch.context() as patch:
        draw_objects(patch)
        yield schemathesis.openapi.from_dict(person.get("/openapi.json"), config=config)


def test_every_answer_is_one_that_is_described(schema: Any, person: Person, ids: dict[str, list[str]]) -> None:
    operations = [found.ok() for found in schema.get_all_operations()]
    # What deletes comes last: the others find what is there.
    operations.sort(key=lambda one: (one.method.lower() == "delete", one.method.lower() != "get"))
    faults: dict[str, str] = {}
    asked = dict.fromkeys((one.definition.raw["operationId"] for one in operations), 0)
    for operation in operations:
        name = operation.definition.raw["operationId"]
        for known in ({}, ids):
            if name not in ENDLESS and name not in faults:
                try:
                    asked[name] += ask(operation, person, known)
                except BaseExceptionGroup as group:
                    faults[name] = "\n".join(str(one) for one in group.exceptions)
                except Exception as error:  # noqa: BLE001 - all faults are told at once
                    faults[name] = str(error)
    assert not faults, "\n\n".join(f"{name}: {fault}" for name, fault in faults.items())
    assert {name for name, count in asked.items() if not count} == {*ENDLESS}
    assert len(asked) > 80


def ask(operation: APIOperation[Any, Any, Any], person: Person, ids: dict[str, list[str]]) -> int:
    """Make some requests of one operation, with these ids where it takes such; return their number."""
    count = 0
    described = {status for status in operation.definition.raw["responses"] if status != "default"}

    @seed(17)
    @settings(
        max_examples=EXAMPLES,
        derandomize=False,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=operation.as_strategy(), data=st.data())
    def once(case: Case, data: st.DataObject) -> None:
        nonlocal count
        for name in case.path_parameters or {}:
            if name in ids:
                case.path_parameters[name] = data.draw(st.sampled_from(ids[name]))
        headers = {"Authorization": f"Bearer {person.token}"}
        response = case.call(base_url=str(person.http.base_url), headers=headers, timeout=30)
        count += 1
        if response.status_code not in UNAVAILABLE:
            is_read = STREAM not in str(response.headers.get("content-type")) and operation.method.lower() != "head"
            excluded = [] if is_read else [response_schema_conformance]
            case.validate_response(response, checks=CHECKS, excluded_checks=excluded)
        assert str(response.status_code) in described or response.status_code in ANYWHERE, (
            f"{response.status_code} is not described: {response.text[:300]}"
        )

    once()
    return count


def validator(document: dict[str, Any], operation: str) -> Draft202012Validator:
    for methods in document["paths"].values():
        for one in methods.values():
            if one["operationId"] == operation:
                stream = one["responses"]["200"]["content"][STREAM]["schema"]
                return Draft202012Validator({**stream, "components": document["components"]})
    raise AssertionError(operation)


@pytest.mark.parametrize(("operation", "path"), ENDLESS.items())
def test_an_endless_stream_begins_with_an_event_that_is_described(
    person: Person, ids: dict[str, list[str]], operation: str, path: str
) -> None:
    del ids
    check = validator(person.get("/openapi.json"), operation)
    # The events of servers begin with one that is there: the test of all operations may have deleted them.
    server = {"name": f"For {operation}", "base_url": "http://127.0.0.1:1/mcp"}
    person.http.post("/api/mcp-servers", json=server).raise_for_status()
    with person.http.stream("GET", path) as response:
        person.folder(operation)  # the events of a folder begin with a change
        event = next(read_events(response.iter_lines()))
    check.validate({key: event[key] for key in event if key != "_id"})


def test_every_event_of_a_run_is_described(person: Person) -> None:
    check = validator(person.get("/openapi.json"), "chat")
    with person.chat(command("create_folder", name="Another", folder_id="root")) as turn:
        turn.finish()
    with person.chat(command("create_folder", name="Another", folder_id="nowhere")) as failed:
        failed.until("done")
    path = f"/api/threads/{turn.seen[0]['thread_id']}/messages/{turn.seen[0]['run_id']}/edit"
    with person.http.stream("POST", path, json={"message": "hello"}) as response:
        edited = list(read_events(response.iter_lines()))
    seen = [*turn.seen, *failed.seen, *edited]
    assert {"run", "tool_call_start", "tool_call_end", "content", "done"} <= {event["type"] for event in seen}
    for event in seen:
        check.validate({key: event[key] for key in event if key != "_id"})
