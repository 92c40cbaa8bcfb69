"""One envelope for every list of the HTTP API: its entries are `items`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from api.app import create_app
from drive_server.kernel.settings import DriveSettings
from graph.settings import AgentSettings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person

RECORDS: Final = {
    "/api/runs/{run_id}/context": "a run, with its calls of models",
    "/api/runs/{run_id}/audit": "a run, with its calls",
    "/api/approvals/{approval_id}": "an approval, with its actions",
    "/api/threads/{thread_id}": "a thread, with its messages",
    "/api/threads/{thread_id}/export": "a thread, with its messages and runs",
    "/api/threads/{thread_id}/plan": "a plan, with its steps",
    "/api/mcp-servers/{server_id}": "a server, with the arguments of its program",
    "/api/assistants/{assistant_id}/mcp-servers": "a choice, with the ids of servers",
    "/api/drive/index": "counts of files, with some of those that could not be read",
    "/api/drive/items/{item_ref}/index": "the state of a file, with the parts that were not read",
    "/api/auth/me": "an account, with the scopes of its key",
}
"""Answers to GET that have lists and are none."""
OLD_NAMES: Final = {
    "/api/drive/search": "hits",
    "/api/drive/files/{file_ref}/versions": "versions",
    "/api/drive/changes": "changes",
    "/api/drive/items/{item_ref}/shares": "shares",
}


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("described")
    settings = DriveSettings(data_dir=folder, embedding_model="none")
    return create_app(settings, AgentSettings(model="offline")).openapi()


def answers(described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the schemas of the JSON that GET answers, by path; LangGraph's and OpenAI's paths are theirs."""
    found: dict[str, dict[str, Any]] = {}
    for path, operations in described["paths"].items():
        content = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if path.startswith("/api/") and (schema := content.get("application/json", {}).get("schema")):
            found[path] = resolved(described, schema)
    return found


def resolved(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return described["components"]["schemas"][name] if name else schema


def lists_in(schema: dict[str, Any]) -> set[str]:
    return {name for name, field in schema.get("properties", {}).items() if field.get("type") == "array"}


def test_the_entries_of_every_list_are_items(described: dict[str, Any]) -> None:
    found = answers(described)
    with_lists = {path for path, schema in found.items() if lists_in(schema) or schema.get("type") == "array"}
    without_items = {path for path in with_lists if "items" not in lists_in(found[path])}
    assert without_items == set(RECORDS)
    paged = {path for path, schema in found.items() if "cursor" in schema.get("properties", {})}
    assert len(paged) > 10
    assert paged.isdisjoint(RECORDS)


def test_old_names_are_described_as_deprecated(described: dict[str, Any]) -> None:
    for path, name in OLD_NAMES.items():
        field = answers(described)[path]["properties"][name]
        assert field["deprecated"] is True
        assert field["items"] == answers(described)[path]["properties"]["items"]["items"]


def test_old_names_have_the_same_entries(owner: Person) -> None:
    item = owner.upload("listed.txt", "words")
    owner.http.post(f"/api/drive/items/{item['id']}/shares", json={"role": "viewer"}).raise_for_status()
    for path, name in OLD_NAMES.items():
        address = path.format(file_ref=item["id"], item_ref=item["id"])
        answer = owner.http.get(address, params={"q": "listed"} if name == "hits" else {}).raise_for_status().json()
        assert answer["items"], path
        assert answer[name] == answer["items"]
