"""Assistants as LangGraph's own client sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from langgraph_sdk.errors import NotFoundError, PermissionDeniedError

from api.langgraph.assistants.views import BUILT_IN_ID

if TYPE_CHECKING:
    from langgraph_sdk.client import SyncLangGraphClient

    from tests.e2e.person import Person


def test_anybody_hears_that_the_service_is_there(owner: Person) -> None:
    bare = {"Authorization": ""}
    assert owner.http.get("/ok", headers=bare).json() == {"ok": True}
    assert owner.http.get("/info", headers=bare).json()["flags"]["crons"] is False


def test_the_built_in_assistant_is_found_by_its_id_and_by_the_name_of_its_graph(client: SyncLangGraphClient) -> None:
    (found,) = client.assistants.search(graph_id="drive_agent", metadata={"created_by": "system"})
    assert str(UUID(found["assistant_id"])) == BUILT_IN_ID
    assert client.assistants.get("drive_agent") == client.assistants.get(BUILT_IN_ID) == found
    assert client.assistants.search(graph_id="another") == []


def test_a_persons_own_assistant_is_listed_and_counted(
    client: SyncLangGraphClient, owner: Person, stranger: Any
) -> None:
    made = owner.http.post("/api/assistants", json={"name": "Archivist of clients"}).json()
    names = [one["name"] for one in client.assistants.search()]
    assert names[0] == "drive_agent"
    assert "Archivist of clients" in names
    assert client.assistants.count() == len(names)
    assert client.assistants.get(made["id"])["graph_id"] == "drive_agent"
    with pytest.raises(NotFoundError):
        stranger.assistants.get(made["id"])
    assert [one["name"] for one in stranger.assistants.search()] == ["drive_agent"]


def test_a_page_of_assistants_says_how_many_there_are(owner: Person) -> None:
    answer = owner.http.post("/assistants/search", json={"limit": 1, "select": ["name"]})
    assert answer.json() == [{"name": "drive_agent"}]
    assert int(answer.headers["x-pagination-total"]) >= 1


def test_the_graph_and_its_schemas_can_be_drawn(client: SyncLangGraphClient) -> None:
    graph = client.assistants.get_graph("drive_agent", xray=True)
    assert {"approve", "act"} <= {str(node["id"]) for node in graph["nodes"]}
    schemas = client.assistants.get_schemas("drive_agent")
    assert "messages" in str(schemas["input_schema"])
    assert "scopes" not in str(schemas)
    assert client.assistants.get_subgraphs("drive_agent") == {}
    assert len(client.assistants.get_versions("drive_agent")) == 1


def test_assistants_are_not_written_here(client: SyncLangGraphClient) -> None:
    writes = (
        lambda: client.assistants.create("drive_agent"),
        lambda: client.assistants.update("drive_agent", name="Mine"),
        lambda: client.assistants.delete("drive_agent"),
        lambda: client.assistants.set_latest("drive_agent", 1),
    )
    for write in writes:
        with pytest.raises(PermissionDeniedError, match="can't be made, changed or deleted here"):
            write()


def test_there_are_no_schedules_yet(owner: Person) -> None:
    refused = owner.http.post("/runs/crons", json={"schedule": "0 8 * * *", "assistant_id": "drive_agent"})
    assert (refused.status_code, refused.json()["code"]) == (501, "no_schedules")


def test_an_error_has_its_sentence_in_detail(owner: Person) -> None:
    refused = owner.http.get("/assistants/none")
    assert refused.status_code == 404
    assert refused.json()["detail"] == "There is no such assistant."


def test_a_key_in_the_header_of_the_sdks_is_as_good_as_a_bearer_token(owner: Person) -> None:
    path, wrong = "/assistants/drive_agent", {"Authorization": "", "x-api-key": "wrong"}
    assert owner.http.get(path, headers={**wrong, "x-api-key": owner.token}).status_code == 200
    assert owner.http.get(path, headers=wrong).status_code == 401
    assert owner.http.get("/api/threads", headers={**wrong, "x-api-key": owner.token}).status_code == 401
