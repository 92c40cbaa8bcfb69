"""Whether decisions fit an approval. Pure: nothing is stored here, so a refusal leaves the approval waiting."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from api.errors import InvalidDecisionError, InvalidGrantError, MissingScopeError

DecisionType = Literal["approve", "edit", "reject", "respond"]
EditCheck = Callable[[Mapping[str, Any], str, Mapping[str, Any]], str | None]
GrantCheck = Callable[[Mapping[str, Any], str, Mapping[str, Any]], str | None]

RUNS_THE_CALL = frozenset({"approve", "edit"})
SCOPE_OF_RISK = {"read": "read", "write": "write", "share": "share", "delete": "delete"}
# What has no known risk is treated as the worst: the gateway rates unknown tools the same way.
HIGHEST_SCOPE = "delete"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the person says to one proposed tool call. `tool` is the tool that the answer names, if it names one."""

    tool_call_id: str
    type: DecisionType
    args: dict[str, Any] | None = None
    message: str | None = None
    tool: str | None = None
    grant: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what the graph is resumed with and what is kept."""
        args = self.args if self.type == "edit" else None
        optional = {"args": args, "message": self.message, "grant": self.grant}
        given = {name: value for name, value in optional.items() if value is not None}
        return {"tool_call_id": self.tool_call_id, "type": self.type, **given}


def all_approved(payload: Mapping[str, Any]) -> list[Decision]:
    """Return the decisions that approve every action as it is."""
    return [Decision(action["tool_call_id"], "approve") for action in payload["actions"]]


def check_decisions(
    payload: Mapping[str, Any],
    decisions: Sequence[Decision],
    scopes: Collection[str],
    check_edit: EditCheck,
    check_grant: GrantCheck,
) -> list[dict[str, Any]]:
    """Return the decisions in the order of the actions. Raises `InvalidDecisionError` and `MissingScopeError`.

    Only who could do a thing may let it be done: approving and editing need the scope of the action's risk.
    """
    by_call = _by_call(payload, decisions)
    for action in payload["actions"]:
        decision = by_call[action["tool_call_id"]]
        _check_form(payload, action, decision)
        if decision.type in RUNS_THE_CALL:
            _check_scope(action, scopes)
        if decision.type == "edit" and (problem := check_edit(payload, decision.tool_call_id, decision.args or {})):
            raise InvalidDecisionError(f"The arguments don't fit {action['name']}: {problem}", details=_of(decision))
        if decision.grant is not None and (problem := check_grant(payload, decision.tool_call_id, decision.grant)):
            raise InvalidGrantError(f"This grant can't be given: {problem}", details=_of(decision))
    return [by_call[action["tool_call_id"]].to_dict() for action in payload["actions"]]


def _by_call(payload: Mapping[str, Any], decisions: Sequence[Decision]) -> dict[str, Decision]:
    known = [action["tool_call_id"] for action in payload["actions"]]
    by_call: dict[str, Decision] = {}
    for decision in decisions:
        if decision.tool_call_id not in known:
            raise InvalidDecisionError("This approval has no action with that tool_call_id.", details={"known": known})
        if decision.tool_call_id in by_call:
            raise InvalidDecisionError("An action has more than one decision.", details=_of(decision))
        by_call[decision.tool_call_id] = decision
    if missing := [call for call in known if call not in by_call]:
        raise InvalidDecisionError("An action has no decision.", details={"missing": missing})
    return by_call


def _check_form(payload: Mapping[str, Any], action: Mapping[str, Any], decision: Decision) -> None:
    if decision.tool is not None and decision.tool != action["name"]:
        raise InvalidDecisionError(f"A decision can't replace {action['name']} by another tool.", details=_of(decision))
    if decision.type not in _allowed(payload, action):
        raise InvalidDecisionError(f"{action['name']} can't be answered with {decision.type}.", details=_of(decision))
    if decision.type == "edit" and decision.args is None:
        raise InvalidDecisionError("An edit needs args: all arguments of the call.", details=_of(decision))
    if not _is_plain_json(decision.args):
        raise InvalidDecisionError("The args are not valid JSON in Unicode.", details=_of(decision))
    if decision.type == "approve" and decision.args not in (None, action["args"]):
        raise InvalidDecisionError("To change arguments, send the type edit, not approve.", details=_of(decision))
    if decision.grant is not None and decision.type != "approve":
        raise InvalidGrantError("A grant is given with an approval only.", details=_of(decision))
    if decision.type == "respond" and not (decision.message or "").strip():
        raise InvalidDecisionError("A response needs a message.", details=_of(decision))


def _allowed(payload: Mapping[str, Any], action: Mapping[str, Any]) -> Collection[str]:
    for config in payload.get("review_configs", ()):
        if config["action_name"] == action["name"]:
            # A response stands in for the result without running anything: it is as harmless as a rejection.
            return {*config["allowed_decisions"], "respond"}
    return {"approve", "edit", "reject", "respond"}


def _check_scope(action: Mapping[str, Any], scopes: Collection[str]) -> None:
    needed = SCOPE_OF_RISK.get(str(action.get("risk")), HIGHEST_SCOPE)
    if needed not in scopes:
        raise MissingScopeError(needed)


def _is_plain_json(args: Any) -> bool:
    """Python reads half a surrogate pair, and NaN, from JSON; no tool can be sent either."""
    try:
        json.dumps(args, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


def _of(decision: Decision) -> dict[str, Any]:
    return {"tool_call_id": decision.tool_call_id}
