"""The description of every route: what a program that was generated from it rests on."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from api.app import create_app
from drive_server.kernel.http.problem import MEDIA_TYPE
from drive_server.kernel.settings import DriveSettings
from graph.events.definitions import EVENTS
from graph.settings import AgentSettings
from tests.e2e.person import read_events

if TYPE_CHECKING:
    from collections.abc import Iterator

Document = dict[str, Any]
Operation = tuple[str, str, Document]
STREAM = "text/event-stream"
RUN_STREAMS = {"chat", "follow_run", "edit_message", "regenerate_answer"}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    drive = DriveSettings(data_dir=tmp_path_factory.mktemp("described"), embedding_model="none")
    return create_app(drive, AgentSettings(model="offline")).openapi()


def operations(document: Document) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def validator(document: Document, schema: Document) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


def test_every_operation_has_an_id_of_its_own_a_summary_and_a_tag(document: Document) -> None:
    named: dict[str, str] = {}
    for path, method, operation in operations(document):
        where, name = f"{method} {path}", operation["operationId"]
        assert name not in named, f"{where} and {named[name]} are both {name}: set operation_id in one of them"
        named[name] = where
        assert re.fullmatch(r"[a-z][a-z0-9_]*[a-z0-9]", name), where
        assert operation["summary"], where
        assert operation["tags"], where
        assert operation["description"], where
    assert len(named) > 80


def test_every_error_is_a_problem_with_an_example(document: Document) -> None:
    checked = 0
    for path, method, operation in operations(document):
        responses = operation["responses"]
        errors = {status: one for status, one in responses.items() if not status.startswith(("2", "3"))}
        assert "default" in errors, (method, path)
        if path.startswith("/api/"):
            assert any(status.startswith("4") for status in errors), (method, path)
        if "security" in operation:
            assert "401" in errors, (method, path)
        for status, error in errors.items():
            content = error["content"][MEDIA_TYPE]
            assert content["schema"] == {"$ref": "#/components/schemas/Problem"}, (method, path, status)
            validator(document, content["schema"]).validate(content["example"])
            checked += 1
    assert checked > 300


def test_every_body_has_examples_that_fit_it(document: Document) -> None:
    for path, method, operation in operations(document):
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            continue
        described = content["application/json"]["schema"]
        options = described.get("anyOf") or described.get("oneOf") or [described]
        (named,) = [option["$ref"] for option in options if "$ref" in option]
        schema = document["components"]["schemas"][named.rpartition("/")[2]]
        assert schema.get("examples"), f"{method} {path}: {named} has no example"
        for example in schema["examples"]:
            validator(document, schema).validate(example)


def test_every_stream_has_typed_events_and_an_example_that_fits_them(document: Document) -> None:
    found: set[str] = set()
    for path, method, operation in operations(document):
        stream = operation["responses"].get("200", {}).get("content", {}).get(STREAM)
        if stream is None:
            continue
        found.add(operation["operationId"])
        options = stream["schema"].get("oneOf") or [stream["schema"]]
        for option in options:
            schema = document["components"]["schemas"][option["$ref"].rpartition("/")[2]]
            kind = schema["properties"]["type"]
            assert "const" in kind or "enum" in kind, (method, path, option)
        events = list(read_events(iter(stream["example"].splitlines())))
        assert events, (method, path)
        for event in events:
            validator(document, stream["schema"]).validate({key: event[key] for key in event if key != "_id"})
    assert found >= {*RUN_STREAMS, "index_events", "follow_servers", "events", "notice_events", "follow_approvals"}


def test_the_events_of_runs_are_those_of_their_one_definition(document: Document) -> None:
    for _, _, operation in operations(document):
        if operation["operationId"] in RUN_STREAMS:
            schema = operation["responses"]["200"]["content"][STREAM]["schema"]
            assert set(schema["discriminator"]["mapping"]) == set(EVENTS)


def test_no_words_of_the_framework_are_left(document: Document) -> None:
    text = json.dumps(document)
    assert "ValidationError" not in text
    assert "_api_" not in text
