"""Answers to an approval in any dialect, as the decisions that `Approvals.decide` takes."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from api.approvals.decisions import all_approved
from api.errors import InvalidDecisionError
from graph.approvals.answers import Decision, approves_all, for_this_approval, read_decisions

if TYPE_CHECKING:
    from graph.state import Call

Payload = Mapping[str, Any]


def decisions_of(answer: Any, payload: Payload, names: Collection[str]) -> list[dict[str, Any]]:
    """Return one decision for each action. `names` are the ids by which the question may be called.

    Raises `InvalidDecisionError` for an answer that can't be read: nothing is decided then.
    """
    said = _unwrapped(answer, names)
    if approves_all(said):
        return all_approved(payload)
    calls = cast("Sequence[Call]", [{**action, "standing": "asked"} for action in payload["actions"]])
    return [_entry(decision) for decision in read_decisions(said, calls)]


def all_rejected(payload: Payload) -> list[dict[str, Any]]:
    """Return the decisions by which nothing is done."""
    return [{"tool_call_id": action["tool_call_id"], "type": "reject"} for action in payload["actions"]]


def _unwrapped(answer: Any, names: Collection[str]) -> Any:
    """Return an answer without the id of its question around it; one to another question is none."""
    if not isinstance(answer, Mapping):
        return answer
    said = cast("Mapping[str, Any]", answer)
    if "responses" in said or "interrupt_id" in said:
        found = [one for name in names if (one := for_this_approval(said, name)) is not None]
        return found[0] if found else None
    return next((for_this_approval(said, name) for name in names if set(said) == {name}), said)


def _entry(decision: Decision) -> dict[str, Any]:
    if not decision["valid"]:
        raise InvalidDecisionError("unreadable_answer", said={"problem": decision["message"]})
    if decision.get("grant"):
        raise InvalidDecisionError("unreadable_answer", said={"problem": "a grant is given with POST /api/approvals."})
    entry: dict[str, Any] = {"tool_call_id": decision["tool_call_id"], "type": decision["type"]}
    if decision["args"] is not None:
        entry["args"] = decision["args"]
    return {**entry, "message": decision["message"]} if decision["message"] else entry
