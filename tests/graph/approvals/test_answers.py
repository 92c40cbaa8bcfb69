"""An answer in any dialect ends in one decision per call; one that is malformed in any way approves nothing."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.approvals.answers import decided_at, decided_by, read_decisions, says_expired
from graph.state import Call
from tests.fakes.clock import START
from tests.graph.approvals.test_payload import call

THIS = "9b1e3b4e-0000-4000-8000-000000000001"
OTHER = "9b1e3b4e-0000-4000-8000-000000000002"
CALLS = [call("1"), call("2")]


def types(answer: object, calls: list[Call] | None = None) -> list[str]:
    return [decision["type"] for decision in read_decisions(answer, CALLS if calls is None else calls, THIS)]


BOTH = [{"type": "approve"}, {"type": "accept"}]


@pytest.mark.parametrize(
    "answer",
    [
        {"approve_all": True},
        {"approve_all": True, "decided_by": "me@example.com", "decided_at": START.isoformat()},
        {"decisions": BOTH},
        BOTH,
        [{"type": "accept", "args": {"action": "trash_item", "args": {"n": 1}}}] * 2,
        {THIS: {"decisions": BOTH}},
        {THIS: BOTH},
        {THIS: {"approve_all": True}},
        {"interrupt_id": THIS, "response": {"decisions": BOTH}},
        {"responses": [{"interrupt_id": OTHER, "response": "x"}, {"interrupt_id": THIS, "response": BOTH}]},
    ],
)
def test_all_can_be_approved_in_every_dialect(answer: object) -> None:
    assert types(answer) == ["approve", "approve"]


@pytest.mark.parametrize(
    "answer",
    [
        {"approve_all": "true"},
        {"approve_all": 1},
        {"approve_all": True, "decisions": [{"type": "reject"}, {"type": "reject"}]},
        {"approve_all": True, "type": "reject"},
        {"approve_all": False},
        {OTHER: {"decisions": BOTH}},
        {THIS: {"decisions": BOTH}, OTHER: {"decisions": BOTH}},
        {"interrupt_id": OTHER, "response": {"decisions": BOTH}},
        {"interrupt_id": THIS},
        {"responses": []},
        {"responses": {"interrupt_id": THIS, "response": BOTH}},
        {"responses": [{"interrupt_id": THIS, "response": BOTH}, {"interrupt_id": THIS, "response": BOTH}]},
        {"decisions": [{"type": "edit", "edited_action": {"name": ["trash_item"], "args": {}}}] * 2},
        {"decisions": [{"type": "edit", "args": {"action": {}, "args": {"n": 1}}}] * 2},
        {"decisions": [{"type": "approve", "args": {"n": 2}}] * 2},
        {"decisions": [{"type": "approve", "name": "delete_item"}] * 2},
        {"decisions": [{"type": "edit", "args": {"n": float("nan")}}] * 2},
        {"decisions": [{"type": "respond", "message": " "}] * 2},
        {"decisions": [{"type": "approve", "grant": {"folder_id": "f", "minutes": -1}}] * 2},
        {"decisions": [{"type": "reject", "grant": {"folder_id": "f"}}] * 2},
        {"goto": "__end__"},
        {"resume": {"decisions": BOTH}},
        {},
        None,
    ],
)
def test_what_contradicts_itself_or_is_for_another_approval_approves_nothing(answer: object) -> None:
    decisions = read_decisions(answer, CALLS, THIS)
    assert [(decision["type"], decision["valid"]) for decision in decisions] == [("reject", False)] * 2


def test_an_approval_can_carry_a_grant() -> None:
    reversible: list[Call] = [{**one, "action": "trash"} for one in CALLS]
    given_with = {"type": "approve", "grant": {"folder_id": "f", "minutes": "60", "max_items": 5}}
    first, second = read_decisions({"decisions": [given_with, {"type": "approve"}]}, reversible, THIS)
    assert first.get("grant") == {"folder_id": "f", "minutes": 60, "max_items": 5}
    assert second.get("grant") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
WORDS = st.sampled_from(["approve", "accept", "edit", "reject", "ignore", "respond", "response", "APPROVE", "yes", ""])
ENTRY: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "type": WORDS | JSON,
        "tool_call_id": st.sampled_from(["1", "2", "3"]) | JSON,
        "args": st.fixed_dictionaries({}, optional={"n": JSON, "action": JSON, "args": JSON}) | JSON,
        "name": st.sampled_from(["trash_item", "delete_item"]) | JSON,
        "edited_action": st.fixed_dictionaries({}, optional={"name": JSON, "args": JSON}) | JSON,
        "message": JSON,
        "grant": st.fixed_dictionaries({}, optional={"folder_id": JSON, "minutes": JSON, "max_items": JSON}) | JSON,
    },
)
ENTRIES = st.lists(ENTRY | JSON, max_size=3)
ANSWERS: st.SearchStrategy[Any] = st.one_of(
    JSON,
    ENTRY,
    ENTRIES,
    st.fixed_dictionaries({}, optional={"decisions": ENTRIES | JSON, "approve_all": JSON, THIS: JSON}),
    st.fixed_dictionaries({"interrupt_id": st.sampled_from([THIS, OTHER]) | JSON, "response": ENTRIES | ENTRY}),
    st.fixed_dictionaries({"responses": st.lists(JSON, max_size=2)}),
)


@settings(max_examples=500, deadline=None)
@given(ANSWERS)
def test_every_answer_ends_in_one_decision_for_each_call(answer: Any) -> None:
    decisions = read_decisions(answer, CALLS, THIS)
    assert [decision["tool_call_id"] for decision in decisions] == ["1", "2"]
    for decision in decisions:
        assert decision["type"] in {"approve", "edit", "reject", "respond"}
        assert decision["valid"] or decision["type"] == "reject"
        assert (decision["args"] is not None) == (decision["type"] == "edit")
        assert isinstance(decision["message"], str)
        json.dumps(decision)


@settings(max_examples=500, deadline=None)
@given(ANSWERS)
def test_nothing_is_approved_without_a_word_of_approval(answer: Any) -> None:
    said = json.dumps(answer)
    runs = [decision for decision in read_decisions(answer, CALLS, THIS) if decision["type"] in {"approve", "edit"}]
    words = sum(said.count(f'"{word}"') for word in ("approve", "accept", "edit"))
    assert len(runs) <= (2 if '"approve_all": true' in said else words)


@settings(max_examples=200, deadline=None)
@given(ANSWERS)
def test_who_when_and_whether_it_is_late_is_read_from_anything(answer: Any) -> None:
    assert decided_at(answer, START).tzinfo is not None
    assert decided_by(answer, "me@example.com").email
    assert says_expired(answer) == (isinstance(answer, Mapping) and answer.get("expired") is True)


def test_an_edit_may_name_only_the_arguments_that_change() -> None:
    waiting = [call("1")]
    before = waiting[0]["args"]
    (decision,) = read_decisions([{"type": "edit", "modifiedArgs": {"extra": 5}}], waiting, THIS)
    assert (decision["type"], decision["args"], decision["valid"]) == ("edit", {**before, "extra": 5}, True)
    (same,) = read_decisions([{"type": "approve", "modifiedArgs": {"extra": 5}}], waiting, THIS)
    assert (same["type"], same["valid"]) == ("reject", False)
