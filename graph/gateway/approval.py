"""Approvals: what the person is shown, and what counts as their answer.

Clients answer in several dialects. All of them are read here and nowhere else, and what can't be read is no approval.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, cast
from uuid import uuid4

from typing_extensions import TypedDict

from graph.events import ApprovalAction, DecisionView
from graph.gateway.arguments import fit
from graph.state import Approval, Call

DecisionType = Literal["approve", "edit", "reject", "respond"]

ALLOWED_DECISIONS: Final[tuple[DecisionType, ...]] = ("approve", "edit", "reject", "respond")

EXPIRED: Final = "expired"

WORDS: Final[dict[str, DecisionType]] = {
    "approve": "approve",
    "accept": "approve",
    "edit": "edit",
    "reject": "reject",
    "ignore": "reject",
    "respond": "respond",
    "response": "respond",
}
"""The words of our own API, of LangChain's human-in-the-loop middleware and of Agent Inbox."""


class Decision(TypedDict):
    """The person's answer about one call. `valid` is False where nothing readable was said: the call is not run."""

    tool_call_id: str
    type: DecisionType
    args: dict[str, Any] | None
    message: str
    valid: bool


class ActionRequest(TypedDict):
    """A call in the shape that public clients render."""

    name: str
    args: dict[str, Any]
    description: str


class ReviewConfig(TypedDict):
    """What may be answered about the call of that name, and the JSON schema that an edit has to fit."""

    action_name: str
    allowed_decisions: list[DecisionType]
    args_schema: Mapping[str, Any]


class ApprovalPayload(TypedDict):
    """The interrupt's value. The first four keys of `actions` repeat what public clients read from the other lists."""

    approval_id: str
    expires_at: str
    action_requests: list[ActionRequest]
    review_configs: list[ReviewConfig]
    actions: list[ApprovalAction]


def digest(name: str, args: Mapping[str, Any], etag: str | None) -> str:
    """Return the SHA-256 that binds an approval to the call it was given for."""
    text = json.dumps([name, args, etag], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def open_approval(calls: Sequence[Call], run_id: str, now: datetime, ttl_seconds: int) -> Approval:
    """Return the question about the asked ones of the calls; it expires `ttl_seconds` from now."""
    return {
        "approval_id": str(uuid4()),
        "run_id": run_id,
        "created_at": now.isoformat(),
        "expires_at": (now + timedelta(seconds=ttl_seconds)).isoformat(),
        "digests": {call["tool_call_id"]: call["digest"] for call in asked(calls)},
        "status": "pending",
        "decisions": [],
    }


def asked(calls: Sequence[Call]) -> list[Call]:
    """Return the calls that wait for the person."""
    return [call for call in calls if call["standing"] == "asked"]


def is_expired(approval: Approval, now: datetime) -> bool:
    """Say whether the time to answer is over."""
    return now >= datetime.fromisoformat(approval["expires_at"])


def payload(
    approval: Approval, calls: Sequence[Call], schema_of: Callable[[str], Mapping[str, Any]]
) -> ApprovalPayload:
    """Return the interrupt's value for the asked calls; `schema_of` gives a tool's JSON schema by its name."""
    waiting = asked(calls)
    names = dict.fromkeys(call["name"] for call in waiting)
    return {
        "approval_id": approval["approval_id"],
        "expires_at": approval["expires_at"],
        "action_requests": [
            {"name": call["name"], "args": call["args"], "description": f"{call['reason']}\n\n{call['preview']}"}
            for call in waiting
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": list(ALLOWED_DECISIONS), "args_schema": schema_of(name)}
            for name in names
        ],
        "actions": [_action(call) for call in waiting],
    }


def _action(call: Call) -> ApprovalAction:
    return {
        "tool_call_id": call["tool_call_id"],
        "name": call["name"],
        "args": call["args"],
        "risk": call["risk"],
        "reason": call["reason"],
        "preview": call["preview"],
        "reversible": call["reversible"],
        "etag": call["etag"],
    }


def check_edit(asked_for: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a person's arguments for one of the payload's actions; None if they fit its tool.

    For services that want to refuse an edit while the approval still waits; it is checked again where it is taken.
    """
    name = next((action["name"] for action in asked_for["actions"] if action["tool_call_id"] == tool_call_id), None)
    schemas = {config["action_name"]: config["args_schema"] for config in asked_for["review_configs"]}
    if name not in schemas:
        return "There is no such action."
    _, problems = fit(args, schemas[name])
    return "; ".join(problems) or None


def expired_answer(asked_for: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a service resumes the graph with when nobody answered in time."""
    ids = [action["tool_call_id"] for action in asked_for["actions"]]
    return {"decisions": [{"tool_call_id": key, "type": "reject"} for key in ids], EXPIRED: True}


def says_expired(answer: object) -> bool:
    """Say whether the service that asked found that the time was over."""
    return isinstance(answer, Mapping) and answer.get(EXPIRED) is True


def decided_at(answer: object, now: datetime) -> datetime:
    """Return when the person answered: what the service that passes the answer on recorded, else `now`.

    After a crash an answer that was given in time may arrive late.
    """
    value = answer.get("decided_at") if isinstance(answer, Mapping) else None
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else now
    except ValueError:
        return now
    return at if at.tzinfo else now


def decided_by(answer: object) -> str | None:
    """Return the email of who answered, where the service that passes the answer on has said so."""
    value = answer.get("decided_by") if isinstance(answer, Mapping) else None
    return value if isinstance(value, str) else None


def read_decisions(answer: object, calls: Sequence[Call]) -> list[Decision]:
    """Return one decision per asked call, in their order, from an answer in any dialect.

    Known are: ours (`decisions` by tool_call_id), LangChain's (`decisions` in order), Agent Inbox (a list in order) and
    a single decision. What is missing, doubled, unknown or of the wrong number is invalid: such a call is not run.
    """
    waiting = asked(calls)
    raw = _raw_decisions(answer)
    if raw is None:
        return [_invalid(call, "The answer could not be read as a decision.") for call in waiting]
    if any("tool_call_id" in entry for entry in raw):
        return [_by_id(call, raw) for call in waiting]
    if len(raw) == 1 and len(waiting) > 1 and WORDS.get(str(raw[0].get("type"))) == "reject":
        raw = raw * len(waiting)
    if len(raw) != len(waiting):
        problem = f"There were {len(raw)} decisions for {len(waiting)} calls."
        return [_invalid(call, problem) for call in waiting]
    return [_decision(call, entry) for call, entry in zip(waiting, raw, strict=True)]


def _raw_decisions(answer: object) -> list[Mapping[str, Any]] | None:
    entries: object = answer
    if isinstance(answer, Mapping):
        entries = cast("Mapping[str, Any]", answer).get("decisions", [answer])
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in cast("list[object]", entries)):
        return None
    return cast("list[Mapping[str, Any]]", entries)


def _by_id(call: Call, raw: Sequence[Mapping[str, Any]]) -> Decision:
    mine = [entry for entry in raw if entry.get("tool_call_id") == call["tool_call_id"]]
    if len(mine) != 1:
        return _invalid(call, "There was no decision for this call." if not mine else "There were several decisions.")
    return _decision(call, mine[0])


def _decision(call: Call, entry: Mapping[str, Any]) -> Decision:
    kind = WORDS.get(str(entry.get("type")))
    if kind is None:
        return _invalid(call, "The decision's type is none of approve, edit, reject, respond.")
    if kind == "edit":
        return _edit(call, entry)
    return {
        "tool_call_id": call["tool_call_id"],
        "type": kind,
        "args": None,
        "message": _message(entry),
        "valid": True,
    }


def _edit(call: Call, entry: Mapping[str, Any]) -> Decision:
    edited = entry.get("edited_action", entry)
    args = edited.get("args") if isinstance(edited, Mapping) else None
    named = [edited.get("name")] if isinstance(edited, Mapping) else []
    if isinstance(args, Mapping) and "action" in args and isinstance(args.get("args"), Mapping):
        named.append(args["action"])
        args = args["args"]
    if not isinstance(args, Mapping):
        return _invalid(call, "The edit has no arguments.")
    if any(name not in {None, call["name"]} for name in named):
        return _invalid(call, "An edit can't switch to another tool.")
    return {
        "tool_call_id": call["tool_call_id"],
        "type": "edit",
        "args": dict(cast("Mapping[str, Any]", args)),
        "message": _message(entry),
        "valid": True,
    }


def _message(entry: Mapping[str, Any]) -> str:
    said = entry.get("message") or entry.get("args")
    return said if isinstance(said, str) else ""


def _invalid(call: Call, problem: str) -> Decision:
    return {"tool_call_id": call["tool_call_id"], "type": "reject", "args": None, "message": problem, "valid": False}


def decision_view(decision: Decision) -> DecisionView:
    """Return the decision as it is told to clients."""
    view: DecisionView = {"tool_call_id": decision["tool_call_id"], "type": decision["type"]}
    return {**view, "message": decision["message"]} if decision["message"] else view
