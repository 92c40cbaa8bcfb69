"""Keys and browsers that are revoked: the runs that they began end, and so do the streams that they follow."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.command_model import CommandModel, command
from tests.api.real_service import RealService
from tests.e2e.person import Person

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

KEYS = "/api/auth/keys"
ALL = ["read", "write", "share", "delete"]
PASSWORD = "correct horse battery"


@pytest.fixture
def service(tmp_path: Path) -> Generator[RealService]:
    running = RealService(tmp_path, CommandModel()).start()
    yield running
    running.stop()


@pytest.fixture
def owner(service: RealService) -> Generator[Person]:
    with closing(service.owner()) as person:
        yield person


def with_key(owner: Person) -> tuple[Person, str]:
    made = owner.http.post(KEYS, json={"name": "k", "scopes": ALL}).json()
    return Person(str(owner.http.base_url), made["key"], owner.email), made["id"]


def waiting(person: Person) -> Any:
    """Have a run of the person wait for an approval."""
    folder = person.folder("Stays")
    return person.chat(command("trash_item", item_id=folder["id"]))


def test_a_run_ends_with_the_key_that_began_it_and_only_with_that(owner: Person) -> None:
    program, key_id = with_key(owner)
    other, other_id = with_key(owner)
    with waiting(program) as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("approval_needed")
        assert owner.http.delete(f"{KEYS}/{other_id}").is_success
        assert owner.get(f"/api/runs/{run_id}")["status"] == "waiting"
        assert owner.http.delete(f"{KEYS}/{key_id}").is_success
        assert turn.until("done", "error")["status"] == "cancelled"
    assert owner.get(f"/api/runs/{run_id}")["status"] == "cancelled"
    assert owner.names() == ["Stays"]
    program.close()
    other.close()


@pytest.mark.parametrize(("how", "status"), [("revoked", "cancelled"), ("logged out", "waiting")])
def test_a_run_of_a_browser_ends_when_it_is_revoked_and_goes_on_when_it_logs_out(
    owner: Person, how: str, status: str
) -> None:
    owner.http.put("/api/auth/password", json={"new": PASSWORD}).raise_for_status()
    login = {"email": owner.email, "password": PASSWORD}
    with httpx.Client(base_url=owner.http.base_url, timeout=20) as browser:
        assert browser.post("/api/auth/login", json=login).is_success
        person = Person(str(owner.http.base_url), browser.cookies["drive_session"], owner.email)
        with closing(person), waiting(person) as turn:
            run_id = turn.until("run")["run_id"]
            turn.until("approval_needed")
            if how == "revoked":
                assert owner.http.delete("/api/auth/sessions").is_success
                turn.until("done", "error")
            else:
                assert browser.post("/api/auth/logout").is_success
    assert owner.get(f"/api/runs/{run_id}")["status"] == status


def test_a_stream_of_a_run_ends_for_a_key_that_was_revoked(owner: Person) -> None:
    program, key_id = with_key(owner)
    with closing(program), waiting(owner) as turn:
        run_id = turn.until("run")["run_id"]
        turn.until("approval_needed")
        with program.http.stream("GET", f"/api/runs/{run_id}/events") as stream:
            assert stream.status_code == 200
            assert owner.http.delete(f"{KEYS}/{key_id}").is_success
            assert b"event: done" not in b"".join(stream.iter_raw())
        assert owner.get(f"/api/runs/{run_id}")["status"] == "waiting", "the run is the owner's"


STREAMS = (
    "/api/drive/events",
    "/api/drive/index/events",
    "/api/notices/events",
    "/api/approvals/events",
    "/api/mcp-servers/events",
)


@pytest.mark.parametrize("path", STREAMS)
def test_every_stream_ends_with_its_key_and_stays_with_another(owner: Person, path: str) -> None:
    program, key_id = with_key(owner)
    other, _ = with_key(owner)
    with (
        closing(program),
        closing(other),
        other.http.stream("GET", path) as stays,
        program.http.stream("GET", path) as ends,
    ):
        assert (ends.status_code, stays.status_code) == (200, 200)
        assert owner.http.delete(f"{KEYS}/{key_id}").is_success
        for _ in ends.iter_raw():
            pass
        assert not stays.is_closed
        assert other.names() == []


@pytest.mark.sqlite("changes the file of the database")
def test_a_server_is_defined_and_led_elsewhere_by_a_fresh_proof(owner: Person, service: RealService) -> None:
    with httpx.Client(base_url=owner.http.base_url, timeout=20) as browser:
        assert browser.post("/api/auth/login", json={"token": owner.token}).is_success
        new = {"name": "notes", "base_url": "http://127.0.0.1:9/mcp"}
        server = browser.post("/api/mcp-servers", json=new).json()
        with closing(sqlite3.connect(service.data_dir / "drive.db")) as database:
            database.execute("UPDATE api_keys SET proved_at = '2020-01-01 00:00:00' WHERE method = 'session'")
            database.commit()
        refused = [
            browser.post("/api/mcp-servers", json={**new, "name": "other"}),
            browser.post("/api/mcp-servers/import", json={"mcpServers": {"x": {"url": "http://127.0.0.1:9/mcp"}}}),
            browser.put(f"/api/mcp-servers/{server['id']}", json={"base_url": "http://127.0.0.1:10/mcp"}),
            browser.put(f"/api/mcp-servers/{server['id']}", json={"headers": {"a": "b"}}),
            browser.put(
                f"/api/mcp-servers/{server['id']}/tools", json={"tools": [{"name": "x", "isAutoApprove": True}]}
            ),
        ]
        assert {(one.status_code, one.json()["code"]) for one in refused} == {(403, "fresh_proof_needed")}
        assert browser.put(f"/api/mcp-servers/{server['id']}", json={"is_active": False}).is_success
        assert browser.post("/api/auth/proof", json={"token": owner.token}).status_code == 204
        assert browser.post("/api/mcp-servers", json={**new, "name": "other"}).status_code == 201
