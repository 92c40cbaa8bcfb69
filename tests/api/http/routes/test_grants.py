"""Grants over HTTP: asked for with an approval, listed, withdrawn; refused where none may be given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from graph.policy.bounds import Bounds
from graph.policy.grants import Grant
from tests.api.approvals.test_approving import call_of, post

if TYPE_CHECKING:
    from tests.api.serving import RunningService
    from tests.e2e.person import Person

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GRANT = {"folder_id": "invoices", "minutes": 60, "max_items": 50}


def test_all_actions_are_approved_with_one_word(service: RunningService, alice: Person) -> None:
    with alice.chat("two things") as turn:
        approval = turn.until("approval_needed")
        answer = alice.http.post(f"/api/approvals/{approval['approval_id']}", json={"approve_all": True})
        assert answer.status_code == 200, answer.text
        assert [decision["type"] for decision in answer.json()["decisions"]] == ["approve", "approve"]
        turn.finish()
    assert [effect["tool"] for effect in service.parts.drive.effects] == ["write_item", "share_item"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"approve_all": False},
        {"approve_all": "true"},
        {"approve_all": 1},
        {"approve_all": True, "decisions": [{"tool_call_id": "CALL", "type": "reject"}]},
        {"reject_all": True},
    ],
)
def test_half_a_word_approves_nothing(service: RunningService, alice: Person, body: dict[str, Any]) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        answer = alice.http.post(f"/api/approvals/{approval['approval_id']}", json=body)
        assert answer.status_code == 422
        assert alice.get(f"/api/approvals/{approval['approval_id']}")["status"] == "waiting"
        alice.answer(approval, "reject")
        turn.finish()
    assert service.parts.drive.effects == []


def test_all_at_once_needs_the_scopes_of_all(service: RunningService, alice: Person) -> None:
    weak = service.person("alice-writer")
    with alice.chat("two things") as turn:
        approval = turn.until("approval_needed")
        refused = weak.http.post(f"/api/approvals/{approval['approval_id']}", json={"approve_all": True})
        assert refused.status_code == 403
        alice.answer(approval, "reject")
        turn.finish()
    weak.close()
    assert service.parts.drive.effects == []


def test_a_grant_goes_with_the_approval(service: RunningService, alice: Person) -> None:
    with alice.chat("write it") as turn:
        approval = turn.until("approval_needed")
        answer = post(alice, approval, {"tool_call_id": call_of(approval), "type": "approve", "grant": GRANT})
        assert answer.status_code == 200, answer.text
        assert answer.json()["decisions"][0]["grant"] == GRANT
        turn.finish()
    assert [effect["tool"] for effect in service.parts.drive.effects] == ["write_item"]


@pytest.mark.parametrize(
    ("message", "decision", "status", "code"),
    [
        ("share it", {"type": "approve", "grant": GRANT}, 422, "invalid_grant"),
        ("delete it", {"type": "approve", "grant": GRANT}, 422, "invalid_grant"),
        ("write it", {"type": "reject", "grant": GRANT}, 422, "invalid_grant"),
        ("write it", {"type": "edit", "args": {"n": 2}, "grant": GRANT}, 422, "invalid_grant"),
        ("write it", {"type": "approve", "grant": {**GRANT, "folder_id": "unknown"}}, 404, "not_found"),
        ("write it", {"type": "approve", "grant": {**GRANT, "minutes": 0}}, 422, "invalid_argument"),
        ("write it", {"type": "approve", "grant": {**GRANT, "kinds": ["delete"]}}, 422, "invalid_argument"),
        ("write it", {"type": "approve", "grant": {}}, 422, "invalid_argument"),
    ],
)
def test_a_grant_that_may_not_be_given_leaves_the_approval_waiting(
    service: RunningService, alice: Person, message: str, decision: dict[str, Any], status: int, code: str
) -> None:
    with alice.chat(message) as turn:
        approval = turn.until("approval_needed")
        refused = post(alice, approval, {"tool_call_id": call_of(approval), **decision})
        assert (refused.status_code, refused.json()["code"]) == (status, code)
        assert refused.json()["hint"]
        assert alice.get(f"/api/approvals/{approval['approval_id']}")["status"] == "waiting"
        alice.answer(approval, "reject")
        turn.finish()
    assert service.parts.drive.effects == []


def test_a_grant_is_withdrawn_only_with_the_scopes_of_its_actions(service: RunningService, alice: Person) -> None:
    grant = Grant("g1", Bounds(frozenset({"invoices"}), frozenset({"trash"}), 50, NOW, 3), NOW, "a1")
    service.parts.graph.given = {"alice": [grant]}
    for key in ("alice-reader", "alice-writer"):
        weak = service.person(key)
        assert weak.http.delete("/api/grants/g1").json()["code"] == "missing_scope"
        weak.close()
    assert len(alice.get("/api/grants")["items"]) == 1
    assert alice.http.delete("/api/grants/g1").status_code == 204


def test_grants_are_listed_and_withdrawn_by_their_person(service: RunningService, alice: Person, bob: Person) -> None:
    grant = Grant("g1", Bounds(frozenset({"invoices"}), frozenset({"move"}), 50, NOW, 3), NOW, "a1")
    service.parts.graph.given = {"alice": [grant]}
    (listed,) = alice.get("/api/grants")["items"]
    assert {**listed, "expires_at": "", "given_at": ""} == {
        "grant_id": "g1",
        "kinds": ["move"],
        "folder_ids": ["invoices"],
        "max_items": 50,
        "used": 3,
        "expires_at": "",
        "given_at": "",
        "approval_id": "a1",
    }
    assert bob.get("/api/grants")["items"] == []
    assert bob.http.delete("/api/grants/g1").status_code == 404
    assert alice.http.delete("/api/grants/g1").status_code == 204
    assert alice.http.delete("/api/grants/g1").status_code == 404
    assert alice.get("/api/grants")["items"] == []
