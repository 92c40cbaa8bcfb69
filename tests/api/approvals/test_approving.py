"""Approvals over HTTP: answered once, by the right person, in time, or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.person import Person

if TYPE_CHECKING:
    from tests.api.fakes import ManualClock
    from tests.api.serving import RunningService
    from tests.e2e.person import Event


def post(person: Person, approval: Event, *decisions: dict[str, Any]) -> Any:
    return person.http.post(f"/api/approvals/{approval['approval_id']}", json={"decisions": list(decisions)})


def call_of(approval: Event, number: int = 0) -> str:
    return approval["actions"][number]["tool_call_id"]


def test_an_approved_call_is_made_in_the_same_run(service: RunningService, alice: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        assert service.parts.drive.effects == []
        answer = alice.answer(approval, "approve")
        assert answer.status_code == 200
        assert answer.json()["status"] == "decided"
        done = turn.finish()
    assert [effect["tool"] for effect in service.parts.drive.effects] == ["share_item"]
    (change,) = done["changes"]
    assert (change["id"], change["tool"], change["item_id"]) == (1, "share_item", "item1")
    assert change["text"] == change["summary"] == "share_item done"
    order = [event["type"] for event in turn.seen]
    assert order.index("approval_needed") < order.index("approval_resolved") < order.index("tool_call_end")
    assert len({event["_id"] for event in turn.seen}) == len(turn.seen)


def test_an_approval_is_listed_with_what_a_client_needs(alice: Person, bob: Person) -> None:
    with alice.chat("share it") as turn:
        needed = turn.until("approval_needed")
        (listed,) = alice.get("/api/approvals")["items"]
        assert {listed[key] == needed[key] for key in ("approval_id", "actions")} == {True}
        assert listed["run_id"] == turn.seen[0]["run_id"]
        assert listed["thread_id"] == turn.seen[0]["thread_id"]
        assert set(needed["actions"][0]) >= {"tool_call_id", "name", "args", "risk", "reason", "preview", "reversible"}
        assert alice.get(f"/api/approvals/{needed['approval_id']}") == listed
        assert bob.get("/api/approvals")["items"] == []
        alice.answer(needed, "reject")
        turn.finish()
    assert alice.get("/api/approvals")["items"] == []
    assert alice.get(f"/api/approvals/{needed['approval_id']}")["decisions"][0]["type"] == "reject"


def test_edited_arguments_are_what_is_done(service: RunningService, alice: Person) -> None:
    with alice.chat("write it") as turn:
        approval = turn.until("approval_needed")
        assert alice.answer(approval, "edit", args={"n": 5}).status_code == 200
        turn.finish()
    assert [effect["args"] for effect in service.parts.drive.effects] == [{"n": 5}]


@pytest.mark.parametrize(
    ("kind", "fields"), [("reject", {"message": "不要"}), ("respond", {"message": "Use the copy."})]
)
def test_what_is_not_approved_is_not_done(service: RunningService, alice: Person, kind: str, fields: Any) -> None:
    with alice.chat("delete it") as turn:
        assert alice.answer(turn.until("approval_needed"), kind, **fields).status_code == 200
        turn.finish()
    assert service.parts.drive.effects == []
    assert turn.tools == [("delete_item", "rejected")]


def test_each_action_has_its_own_decision(service: RunningService, alice: Person) -> None:
    with alice.chat("two things") as turn:
        approval = turn.until("approval_needed")
        answer = post(
            alice,
            approval,
            {"tool_call_id": call_of(approval, 1), "type": "reject"},
            {"tool_call_id": call_of(approval, 0), "type": "approve"},
        )
        assert answer.status_code == 200, answer.text
        turn.finish()
    assert [effect["tool"] for effect in service.parts.drive.effects] == ["write_item"]


def test_of_two_clients_at_once_one_is_heard(service: RunningService, alice: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        people = [service.person() for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(Person.answer, people, repeat(approval), repeat("approve")))
        turn.finish()
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    assert {a.json()["code"] for a in answers if a.status_code == 409} == {"approval_decided"}
    assert len(service.parts.drive.effects) == 1
    for person in people:
        person.close()


def test_a_decided_approval_says_so(alice: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        alice.answer(approval, "approve")
        turn.finish()
    again = alice.answer(approval, "reject")
    assert again.status_code == 409
    assert again.json()["code"] == "approval_decided"
    assert again.json()["details"]["status"] == "decided"


def test_an_approval_expires_and_counts_as_rejected(service: RunningService, alice: Person, clock: ManualClock) -> None:
    with alice.chat("delete it") as turn:
        approval = turn.until("approval_needed")
        clock.advance(299)
        assert len(alice.get("/api/approvals")["items"]) == 1
        clock.advance(1)
        late = alice.answer(approval, "approve")
        assert late.status_code == 409
        assert late.json()["code"] == "approval_expired"
        turn.finish()
    assert service.parts.drive.effects == []
    assert turn.tools == [("delete_item", "rejected")]
    clock.advance(-200)  # set back: what has expired stays expired
    assert alice.answer(approval, "approve").json()["code"] == "approval_expired"
    assert alice.get(f"/api/approvals/{approval['approval_id']}")["status"] == "expired"
    assert alice.get("/api/approvals")["items"] == []


BAD_DECISIONS: list[Any] = [
    [],
    [{"tool_call_id": "unknown", "type": "approve"}],
    [{"tool_call_id": "CALL"}],
    [{"tool_call_id": "CALL", "type": "maybe"}],
    [{"tool_call_id": "CALL", "type": None}],
    [{"tool_call_id": 7, "type": "approve"}],
    [{"type": "approve"}],
    [{"tool_call_id": "CALL", "type": "approve"}, {"tool_call_id": "CALL", "type": "reject"}],
    [{"tool_call_id": "CALL", "type": "approve"}, {"tool_call_id": "other", "type": "approve"}],
    [{"tool_call_id": "CALL", "type": "edit"}],
    [{"tool_call_id": "CALL", "type": "edit", "args": "n=1"}],
    [{"tool_call_id": "CALL", "type": "edit", "args": {"n": "not a number"}}],
    [{"tool_call_id": "CALL", "type": "edit", "args": {"n": 1}, "name": "delete_item"}],
    [{"tool_call_id": "CALL", "type": "edit", "edited_action": {"name": "delete_item", "args": {"n": 1}}}],
    [{"tool_call_id": "CALL", "type": "approve", "args": {"n": 2}}],
    [{"tool_call_id": "CALL", "type": "respond"}],
    [{"tool_call_id": "CALL", "type": "respond", "message": "  "}],
    [{"tool_call_id": "CALL", "type": "reject", "message": "x" * 10_001}],
    "approve",
    {"CALL": "approve"},
    None,
]


def test_decisions_that_do_not_fit_change_nothing_and_it_still_waits(service: RunningService, alice: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        path = f"/api/approvals/{approval['approval_id']}"
        for decisions in BAD_DECISIONS:
            body = (
                str({"decisions": decisions})
                .replace("'", '"')
                .replace("None", "null")
                .replace("CALL", call_of(approval))
            )
            response = alice.http.post(path, content=body, headers={"content-type": "application/json"})
            assert response.status_code == 422, (decisions, response.text)
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json()["hint"]
        assert alice.get(path)["status"] == "waiting"
        assert service.parts.drive.effects == []
        assert alice.answer(approval, "approve").status_code == 200
        turn.finish()


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"\\ud800"', str(2**70)])
def test_arguments_that_no_tool_can_be_sent_are_refused(alice: Person, value: str) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        decision = f'{{"tool_call_id": "{call_of(approval)}", "type": "edit", "args": {{"n": 1, "x": {value}}}}}'
        response = alice.http.post(
            f"/api/approvals/{approval['approval_id']}",
            content=f'{{"decisions": [{decision}]}}',
            headers={"content-type": "application/json"},
        )
        assert response.status_code == 422
        assert response.json()["code"] == "invalid_decision"
        alice.answer(approval, "reject")
        turn.finish()


def test_a_missing_decision_leaves_all_of_them_open(service: RunningService, alice: Person) -> None:
    with alice.chat("two things") as turn:
        approval = turn.until("approval_needed")
        response = post(alice, approval, {"tool_call_id": call_of(approval), "type": "approve"})
        assert response.status_code == 422
        assert response.json()["details"]["missing"] == [call_of(approval, 1)]
        assert service.parts.drive.effects == []
        alice.answer(approval, "reject")
        turn.finish()


def test_the_dialect_of_langchain_clients_is_understood(service: RunningService, alice: Person) -> None:
    with alice.chat("write it") as turn:
        approval = turn.until("approval_needed")
        edited = {"name": "write_item", "args": {"n": 3}}
        decision = {"tool_call_id": call_of(approval), "type": "edit", "edited_action": edited}
        assert post(alice, approval, decision).status_code == 200
        turn.finish()
    assert [effect["args"] for effect in service.parts.drive.effects] == [{"n": 3}]


@pytest.mark.parametrize(
    ("message", "key", "lacking"),
    [
        ("share it", "alice-reader", "share"),
        ("share it", "alice-writer", "share"),
        ("delete it", "alice-writer", "delete"),
        ("write it", "alice-reader", "write"),
        ("two things", "alice-writer", "share"),
    ],
)
def test_a_key_that_lacks_the_scope_can_not_approve(
    service: RunningService, alice: Person, message: str, key: str, lacking: str
) -> None:
    weak = service.person(key)
    with alice.chat(message) as turn:
        approval = turn.until("approval_needed")
        for kind in ("approve", "edit"):
            refused = weak.answer(approval, kind, **({"args": {"n": 1}} if kind == "edit" else {}))
            assert refused.status_code == 403
            assert refused.json()["code"] == "missing_scope"
            assert refused.json()["details"]["scope"] in {lacking, "delete"}
        assert weak.answer(approval, "reject").status_code == 200
        turn.finish()
    assert service.parts.drive.effects == []
    weak.close()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("reject", {"message": "Rename it instead"}),
        ("respond", {"message": "改名吧"}),
        ("edit", {"args": {"n": 1}}),
    ],
)
@pytest.mark.parametrize("key", ["alice-reader", "alice-writer"])
def test_words_for_the_model_need_all_scopes_of_the_run(
    service: RunningService, alice: Person, kind: str, fields: dict[str, Any], key: str
) -> None:
    weak = service.person(key)
    with alice.chat("write it") as turn:
        approval = turn.until("approval_needed")
        refused = weak.answer(approval, kind, **fields)
        assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")
        assert alice.get(f"/api/approvals/{approval['approval_id']}")["status"] == "waiting"
        assert weak.http.post(f"/api/runs/{turn.seen[0]['run_id']}/cancel").status_code == 403
        decided = weak.answer(approval, "reject").json()
        turn.finish()
    assert (decided["decided_by"], decided["decided_key"]) == ("alice@example.com", key.removeprefix("alice-"))
    assert service.parts.drive.effects == []
    weak.close()


def test_somebody_elses_approval_is_unknown(service: RunningService, alice: Person, bob: Person) -> None:
    with alice.chat("share it") as turn:
        approval = turn.until("approval_needed")
        theirs = bob.answer(approval, "approve")
        unknown = bob.http.post("/api/approvals/nope", json={"decisions": [{"tool_call_id": "x", "type": "approve"}]})
        assert theirs.status_code == unknown.status_code == 404
        assert theirs.json() == unknown.json()
        assert bob.http.get(f"/api/approvals/{approval['approval_id']}").status_code == 404
        alice.answer(approval, "reject")
        turn.finish()
    assert service.parts.drive.effects == []
