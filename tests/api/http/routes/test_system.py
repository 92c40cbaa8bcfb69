from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock, Mock
from uuid import uuid4

from drive_server.kernel.errors import DamagedDatabaseError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.schema import Schema
from drive_server.kernel.telemetry.formats import TextFormat
from graph.events.definitions import EVENTS

if TYPE_CHECKING:
    import pytest

    from tests.api.real_service import RealService
    from tests.api.serving import RunningService
    from tests.e2e.person import Person

PARTS = ("database", "drive", "threads", "blobs", "index")


def test_the_process_answers_without_a_key(service: RunningService) -> None:
    stranger = service.person("none")
    assert stranger.get("/healthz") == {"status": "ok"}
    ready = stranger.get("/readyz")
    assert ready == {"status": "ready", "checks": dict.fromkeys(PARTS, "ok")}
    stranger.close()


def test_what_is_not_ready_is_named(service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken() -> None:
        raise OSError("/secret/path is gone")

    monkeypatch.setattr(service.parts.graph, "check", broken)
    monkeypatch.setattr(Schema, "newest_version", Mock(return_value="9999"))
    response = alice.http.get("/readyz")
    assert response.status_code == 503
    problem = response.json()
    assert problem["code"] == "not_ready"
    assert problem["detail"] == "Not ready: database, threads."
    assert "9999" in problem["details"]["checks"]["database"]
    assert "secret" not in response.text


def test_a_service_stays_ready_beside_a_newer_one_that_has_migrated_the_database(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = service.parts.service.database
    monkeypatch.setattr(database, "schema_version", AsyncMock(return_value="9999"))
    assert alice.http.get("/readyz").status_code == 200
    monkeypatch.setattr(database, "schema_version", AsyncMock(return_value="0001"))
    assert alice.http.get("/readyz").status_code == 503


def test_a_database_that_is_known_to_be_damaged_is_told(service: RunningService, alice: Person) -> None:
    damage = DamagedDatabaseError(Message.of("database_damaged", file="api.db"))
    service.parts.service.database.damage = damage
    response = alice.http.get("/readyz")
    service.parts.service.database.damage = None
    assert response.status_code == 503
    assert response.json()["details"]["checks"]["database"] == "The database api.db is damaged."
    assert alice.http.get("/readyz").status_code == 200


def test_contents_that_are_gone_while_the_service_runs_are_told_until_they_are_back(
    commanded: RealService, owner: Person
) -> None:
    assert owner.http.get("/readyz").status_code == 200, "a drive without files lacks none"
    item = owner.upload("a.txt", "kept")
    contents = commanded.data_dir / "blobs"
    moved = contents.rename(commanded.data_dir / "elsewhere")
    contents.mkdir()
    response = owner.http.get("/readyz")
    shutil.rmtree(contents)
    moved.rename(contents)
    assert response.status_code == 503
    assert response.json()["details"]["checks"]["drive"] == "blobs lacks the contents of files."
    assert owner.http.get("/readyz").status_code == 200
    assert owner.content(item["id"]) == "kept"


def test_a_damaged_index_leaves_the_service_usable_and_is_told(service: RunningService, alice: Person) -> None:
    service.parts.drive.index_state = "degraded"
    ready = alice.get("/readyz")
    service.parts.drive.index_state = "ok"
    assert ready["status"] == "degraded"
    assert ready["checks"]["index"] == "degraded"


def test_the_page_says_what_this_is_in_both_languages(alice: Person) -> None:
    page = alice.http.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "Drive Agent" in page.text
    assert "云盘助手" in page.text
    assert 'href="/openapi.json"' in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "http://" not in page.text.replace("http://www.w3.org/2000/svg", "")  # the name of SVG is no address
    assert "https://" not in page.text


def test_the_description_is_complete(alice: Person) -> None:
    description: dict[str, Any] = alice.get("/openapi.json")
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation.get("summary"), where
            assert operation.get("description"), where
            if path.startswith("/api/"):
                assert {"401", "422"} <= set(operation["responses"]), where
                assert operation["security"], where
    chat = description["paths"]["/api/chat"]["post"]
    stream = chat["responses"]["200"]["content"]["text/event-stream"]["schema"]
    assert set(stream["discriminator"]["mapping"]) == set(EVENTS)
    assert "application/problem+json" in chat["responses"]["409"]["content"]
    assert description["components"]["schemas"]["ChatRequest"]["examples"]


def test_what_is_not_there_is_a_problem_too(alice: Person) -> None:
    for method, path, status in (
        ("GET", "/api/nothing", 404),
        ("DELETE", "/api/chat", 405),
        ("GET", "/api/threads/a%00b", 404),
        ("GET", "/api/threads/" + "x" * 4096, 404),
        ("GET", "/api/runs/%2e%2e%2f/events", 404),
        ("GET", "/api/approvals/审批", 404),
    ):
        response = alice.http.request(method, path)
        assert response.status_code == status, path
        assert response.headers["content-type"] == "application/problem+json"
        assert {"type", "title", "status", "detail", "code", "hint"} <= set(response.json())


def test_what_goes_wrong_inside_is_logged_and_not_told(
    service: RunningService, alice: Person, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # The HTTP server may log its trace before this looks. A trace has lines of our program, and no words of theirs.
    words = f"password {uuid4().hex}"

    async def broken(*_: object) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr(service.parts.service.threads, "page", broken)
    response = alice.http.get("/api/threads?query=Divorce")
    assert response.status_code == 500
    assert response.json()["code"] == "internal"
    assert words not in response.text
    written = "\n".join(map(TextFormat().format, caplog.records))
    assert "GET list_threads failed: RuntimeError" in written
    assert words not in written
    assert "Divorce" not in written


def test_the_log_has_ids_and_no_words_of_people(alice: Person, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "api"), alice.chat("say Xylophon") as turn:
        turn.finish()
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("api"))
    assert turn.seen[0]["run_id"] in ours
    assert "Xylophon" not in ours
    assert "alice-key" not in ours
