from datetime import timedelta
from typing import Any

import pytest

from graph.approvals.answers import decision_view, read_decisions, says_expired
from graph.approvals.payload import check_edit, expired_answer, goes_beyond, is_expired, open_approval, payload
from graph.policy.contract import digest
from graph.state import Call, Effect
from tests.fakes.clock import START

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def call(key: str, standing: Any = "asked") -> Call:
    return {
        "tool_call_id": key,
        "name": "trash_item",
        "args": {"n": 1},
        "risk": "delete",
        "reason": "r",
        "preview": "p",
        "reversible": True,
        "etag": "e",
        "digest": digest("trash_item", {"n": 1}, "e"),
        "standing": standing,
        "approved_by": None,
        "action": "trash",
    }


def test_the_digest_binds_tool_arguments_and_etag() -> None:
    first = digest("t", {"a": 1, "b": "二"}, "e")
    assert first == digest("t", {"b": "二", "a": 1}, "e")
    others = {
        digest("u", {"a": 1, "b": "二"}, "e"),
        digest("t", {"a": 2, "b": "二"}, "e"),
        digest("t", {"a": 1, "b": "二"}, None),
    }
    assert first not in others
    assert len(others) == 3


def test_an_approval_asks_for_the_asked_calls_only_and_ends_with_its_time() -> None:
    approval = open_approval([call("1"), call("2", "allowed")], "run", START, 300)
    assert list(approval["digests"]) == ["1"]
    assert not is_expired(approval, START + timedelta(seconds=299))
    assert is_expired(approval, START + timedelta(seconds=300))


def test_each_kind_of_call_is_configured_once() -> None:
    approval = open_approval([call("1"), call("2")], "run", START, 300)
    value = payload(approval, [call("1"), call("2")], lambda _name: SCHEMA, "en")
    assert len(value["action_requests"]) == len(value["actions"]) == 2
    assert len(value["review_configs"]) == 1


def test_a_service_can_check_an_edit_while_the_approval_waits() -> None:
    value = payload(open_approval([call("1")], "run", START, 300), [call("1")], lambda _name: SCHEMA, "en")
    assert check_edit(value, "1", {"n": "5"}) is None
    assert "n" in str(check_edit(value, "1", {"n": "five"}))
    assert check_edit(value, "2", {"n": 1}) is not None


def test_an_edit_of_a_persons_own_server_is_checked_with_the_nulls_that_it_is_sent_with() -> None:
    asked: Call = {**call("1"), "name": "mcp__notes__clear"}
    schema = {"properties": {"before": {"type": ["string", "null"]}}, "minProperties": 1}
    value = payload(open_approval([asked], "run", START, 300), [asked], lambda _name: schema, "en")
    assert check_edit(value, "1", {"before": None}) is None


def test_a_service_can_say_that_the_time_is_over() -> None:
    value = payload(open_approval([call("1")], "run", START, 300), [call("1")], lambda _name: SCHEMA, "en")
    answer = expired_answer(value)
    assert says_expired(answer)
    assert [decision["type"] for decision in read_decisions(answer, [call("1")])] == ["reject"]


@pytest.mark.parametrize(
    "answer",
    [object(), 5, "approve", {"decisions": None}, {"decisions": [None]}, [[{"type": "approve"}]], {"type": {}}],
)
def test_what_is_no_answer_approves_nothing(answer: object) -> None:
    assert [decision["type"] for decision in read_decisions(answer, [call("1"), call("2")])] == ["reject", "reject"]


def test_by_id_the_order_does_not_matter_and_what_is_missing_is_not_approved() -> None:
    answer = {"decisions": [{"tool_call_id": "3", "type": "approve"}, {"tool_call_id": "1", "type": "approve"}]}
    decisions = read_decisions(answer, [call("1"), call("2"), call("3")])
    assert [decision["type"] for decision in decisions] == ["approve", "reject", "approve"]
    assert not decisions[1]["valid"]
    assert decision_view(decisions[1]).get("message")


def effect(**changed: Any) -> Effect:
    known: Any = {"count": 1, "items": [{"id": "x", "path": "/x"}], "gains_access": [], "loses_access": []}
    known |= {"reversible": True, **changed}
    return known


SHOWN: Call = {**call("1"), "args": {"item_id": "x", "role": "viewer"}, "effect": effect()}


@pytest.mark.parametrize(
    ("args", "found", "etag"),
    [
        ({"item_id": "y", "role": "viewer"}, effect(), "e"),
        ({"item_id": "x", "role": "viewer", "folder_id": "f"}, effect(), "e"),
        ({"role": "viewer"}, effect(), "e"),
        (SHOWN["args"], effect(), "e2"),
        (SHOWN["args"], effect(), None),
        (SHOWN["args"], effect(count=2), "e"),
        (SHOWN["args"], effect(items=[{"id": "y", "path": "/y"}]), "e"),
        (SHOWN["args"], effect(gains_access=["bob@example.com"]), "e"),
        (SHOWN["args"], effect(loses_access=["bob@example.com"]), "e"),
        (SHOWN["args"], effect(reversible=False), "e"),
        (SHOWN["args"], None, "e"),
    ],
)
def test_what_was_not_shown_goes_beyond_the_approval(args: dict[str, Any], found: Effect | None, etag: str) -> None:
    assert goes_beyond(SHOWN, args, found, etag)


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({"item_id": "x", "role": "editor"}, effect()),
        ({"item_id": "x", "role": "viewer", "email": "bob@example.com"}, effect(gains_access=["bob@example.com"])),
        ({"item_id": "x", "role": "viewer"}, effect(items=[{"id": "another id in each dry run", "path": "/x"}])),
    ],
)
def test_what_was_shown_or_is_said_in_the_edit_does_not(args: dict[str, Any], found: Effect) -> None:
    assert not goes_beyond(SHOWN, args, found, "e")


def test_a_call_from_before_effects_were_kept_is_shown_again() -> None:
    assert goes_beyond(call("1"), {"n": 2}, effect(), "e")
    assert not goes_beyond(call("1"), {"n": 2}, None, "e")
