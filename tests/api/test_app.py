"""The real service, whole: drive, MCP, graph and HTTP; only the model is made up."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, get_type_hints

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from pydantic import TypeAdapter

from graph.events.definitions import EVENTS
from tests.api.command_model import CommandModel, command
from tests.api.fakes import ManualClock
from tests.api.real_service import RealService, real_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi.dependencies.models import Dependant

    from tests.e2e.person import Event, Person

PROBLEM = "application/problem+json"

PARTS = ("database", "drive", "threads", "blobs", "index")


@pytest.fixture
def reader(owner: Person) -> Iterator[Person]:
    person = owner.with_key("reader", "read")
    yield person
    person.close()


def assert_as_defined(events: list[Event]) -> None:
    """Every event that came is what `graph.events` says: these fields and no other."""
    for event in events:
        sent = {name: value for name, value in event.items() if name != "_id"}
        schema = EVENTS[event["type"]].schema
        TypeAdapter(schema).validate_python(sent, strict=True)
        assert set(sent) <= set(get_type_hints(schema))


def test_everything_is_ready(owner: Person) -> None:
    assert owner.get("/readyz")["checks"] == dict.fromkeys(PARTS, "ok")


def test_a_turn_changes_the_drive_and_tells_what_it_did(owner: Person) -> None:
    with owner.chat(command("create_folder", name="报告 📊")) as turn:
        done = turn.finish()
    types = [event["type"] for event in turn.seen]
    assert types[:3] == ["run", "route_decision", "tool_call_start"]
    assert turn.tools == [("create_folder", "done")]
    assert "报告 📊" in owner.names()
    (change,) = done["changes"]
    assert set(change) == {"id", "tool", "summary", "item_id", "text", "undone_by"}
    assert change["tool"] == "create_folder"
    assert "报告 📊" in change["summary"]
    assert owner.get(f"/api/runs/{done['run_id']}/changes")["items"] == done["changes"]
    assert_as_defined(turn.seen)


def test_a_run_is_undone_after_a_preview_and_redone(owner: Person) -> None:
    with owner.chat(command("create_folder", name="Mistake")) as turn:
        run_id = turn.finish()["run_id"]
    for mistaken in (0, "no", None):
        assert owner.http.post(f"/api/runs/{run_id}/undo", json={"preview": mistaken}).status_code == 422
    preview = owner.http.post(f"/api/runs/{run_id}/undo", json={"preview": True}).json()
    assert preview["preview"] is True
    assert [change["tool"] for change in preview["undone"]] == ["create_folder"]
    assert "Mistake" in owner.names()
    undone = owner.http.post(f"/api/runs/{run_id}/undo").json()
    assert undone["preview"] is False
    assert undone["change_id"]
    assert "Mistake" not in owner.names()


def test_a_deletion_waits_and_shows_what_will_go(owner: Person) -> None:
    folder = owner.folder("Old")
    owner.upload("a.txt", "a", folder["id"])
    with owner.chat(command("trash_item", item_id=folder["id"])) as turn:
        approval = turn.until("approval_needed")
        (action,) = approval["actions"]
        assert (action["name"], action["risk"], action["reversible"]) == ("trash_item", "delete", True)
        assert "Old" in action["preview"]
        assert "Old" in owner.names()
        assert owner.answer(approval, "approve").status_code == 200
        done = turn.finish()
    assert "Old" not in owner.names()
    assert len(done["changes"]) == 1
    assert turn.tools == [("trash_item", "done")]
    assert_as_defined(turn.seen)


def test_an_edit_is_checked_against_the_tool_before_it_is_taken(owner: Person) -> None:
    file = owner.upload("shared.txt", "x")
    with owner.chat(command("share_item", item_id=file["id"], email="bob@example.com")) as turn:
        approval = turn.until("approval_needed")
        args = approval["actions"][0]["args"]
        for wrong in ({**args, "role": "emperor"}, {**args, "user_id": "me"}, {}):
            refused = owner.answer(approval, "edit", args=wrong)
            assert refused.status_code == 422, refused.text
            assert refused.json()["code"] == "invalid_decision"
        assert owner.answer(approval, "edit", args={**args, "role": "editor"}).status_code == 200
        turn.finish()
    assert turn.tools == [("share_item", "done")]


def test_an_approval_that_expires_is_rejected_and_says_so(owner: Person, manual_clock: ManualClock) -> None:
    file = owner.upload("stays.txt", "x")
    with owner.chat(command("trash_item", item_id=file["id"])) as turn:
        approval = turn.until("approval_needed")
        manual_clock.advance(300)
        turn.finish()
    assert turn.of("approval_resolved")[0]["status"] == "expired"
    assert_as_defined(turn.seen)
    assert turn.tools == [("trash_item", "rejected")]
    assert owner.answer(approval, "approve").json()["code"] == "approval_expired"
    assert "stays.txt" in owner.names()


def test_a_cancelled_run_leaves_a_thread_that_goes_on(owner: Person) -> None:
    file = owner.upload("kept.txt", "x")
    with owner.chat(command("trash_item", item_id=file["id"])) as turn:
        turn.until("approval_needed")
        assert owner.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel").status_code == 200
        assert turn.until("done")["status"] == "cancelled"
    assert_as_defined(turn.seen)
    with owner.chat("and now?", thread_id=turn.seen[0]["thread_id"]) as turn:
        turn.finish()
    assert turn.text.strip() == "You said and now?"
    assert "kept.txt" in owner.names()


def test_a_reading_key_talks_but_changes_nothing(owner: Person, reader: Person) -> None:
    with reader.chat(command("create_folder", name="Sneaky")) as turn:
        done = turn.finish()
    assert done["changes"] == []
    assert turn.tools == [("create_folder", "error")]
    assert "missing_scope" in str(turn.of("tool_call_end"))
    assert "Sneaky" not in owner.names()


def test_a_reading_key_can_not_approve_what_a_full_key_asked_for(owner: Person, reader: Person) -> None:
    file = owner.upload("guarded.txt", "x")
    with owner.chat(command("trash_item", item_id=file["id"])) as turn:
        approval = turn.until("approval_needed")
        refused = reader.answer(approval, "approve")
        assert refused.status_code == 403
        assert refused.json()["details"] == {"scope": "delete"}
        owner.answer(approval, "reject")
        turn.finish()
    assert "guarded.txt" in owner.names()


@pytest.mark.parametrize("context", [{"file_id": "nope"}, {"folder_id": "0" * 32}, {"file_id": "/no/such/文件.txt"}])
def test_a_place_that_is_not_there_is_not_found(owner: Person, context: dict[str, str]) -> None:
    response = owner.http.post("/api/chat", json={"message": "hi", "context": context})
    assert response.status_code == 404
    assert response.headers["content-type"] == PROBLEM


def test_a_place_of_the_wrong_kind_is_refused(owner: Person) -> None:
    folder = owner.folder("A folder")
    response = owner.http.post("/api/chat", json={"message": "hi", "context": {"file_id": folder["id"]}})
    assert response.status_code == 422


def test_a_body_over_the_limit_is_refused(owner: Person) -> None:
    response = owner.http.post("/api/chat", json={"message": "x" * 1_000_001})
    assert response.status_code == 413
    assert response.headers["content-type"] == PROBLEM


def test_a_cookie_works_from_our_own_pages_only(commanded: RealService, owner: Person) -> None:
    token = owner.token
    with httpx.Client(base_url=commanded.url) as browser:
        assert browser.post("/api/auth/login", json={"token": token}).is_success
        assert browser.get("/api/threads").status_code == 200
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            refused = browser.post("/api/chat", json={"message": "hi"}, headers=headers)
            assert refused.status_code == 403
            assert refused.headers["content-type"] == PROBLEM
        own = browser.post("/api/chat", json={"message": "hi"}, headers={"sec-fetch-site": "same-origin"})
        assert own.status_code == 200


def test_nobody_else_sees_a_thread_run_or_approval(owner: Person) -> None:
    eve = owner.add("eve@example.com")
    file = owner.upload("secret.txt", "x")
    with owner.chat(command("trash_item", item_id=file["id"])) as turn:
        approval = turn.until("approval_needed")
        run = turn.seen[0]
        assert eve.get("/api/approvals")["items"] == []
        assert eve.answer(approval, "approve").status_code == 404
        assert eve.http.get(f"/api/threads/{run['thread_id']}").status_code == 404
        assert eve.http.get(f"/api/runs/{run['run_id']}/events").status_code == 404
        assert eve.http.post("/api/chat", json={"message": "hi", "thread_id": run["thread_id"]}).status_code == 404
        owner.answer(approval, "reject")
        turn.finish()
    eve.close()


def test_an_approval_waits_through_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    running = RealService(tmp_path, CommandModel(), clock=clock).start()
    owner = running.owner()
    file = owner.upload("gone.txt", "x")
    with owner.chat(command("trash_item", item_id=file["id"])) as turn:
        approval = turn.until("approval_needed")
        running.stop()
    owner.close()
    running = RealService(tmp_path, CommandModel(), clock=clock).start()
    owner = running.owner()
    assert [a["approval_id"] for a in owner.get("/api/approvals")["items"]] == [approval["approval_id"]]
    assert owner.answer(approval, "approve").status_code == 200
    with owner.follow(turn.seen[0]["run_id"], after=turn.seen[-1]["_id"]) as rest:
        done = rest.finish()
    assert len(done["changes"]) == 1
    assert owner.names() == []
    owner.close()
    running.stop()


def test_nothing_that_a_route_asks_for_is_run_in_a_thread(tmp_path: Path) -> None:
    app = real_app(tmp_path, CommandModel())
    routes = [route for route in iter_route_contexts(app.routes) if hasattr(route, "dependant")]
    asked = {call for route in routes for call in calls_of(route.dependant)}

    assert len(routes) > 50
    assert [call for call in asked if not is_asynchronous(call)] == []


def calls_of(dependant: Dependant) -> list[Any]:
    return [dependant.call, *(call for below in dependant.dependencies for call in calls_of(below))]


def is_asynchronous(call: Any) -> bool:
    run = call if inspect.isroutine(call) else type(call).__call__
    return inspect.iscoroutinefunction(run) or inspect.isasyncgenfunction(run)
