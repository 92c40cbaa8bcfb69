"""Check that decisions fit an approval. Pure: nothing is stored here, so a refusal leaves the approval waiting."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.authority import require_scopes
from api.drive import Principal
from api.errors import InvalidDecisionError, InvalidGrantError
from graph.approvals.answers import Decision, DecisionError, GrantError, parse_decision
from graph.approvals.questions import ALL_AT_ONCE, FieldsError, checked_reply

Payload = Mapping[str, Any]
Check = Callable[[Payload, str, Mapping[str, Any]], str | None]
"""Returns the problem of an edit's arguments, or of a grant, for the action of that id; None if there is none."""

RUNS_THE_CALL = frozenset({"approve", "edit"})
CARRIES_WORDS = frozenset({"edit", "respond"})
SCOPE_OF_RISK = {"read": "read", "write": "write", "share": "share", "delete": "delete"}
# An unknown risk counts as the worst, as the policy rates unknown tools.
HIGHEST_SCOPE = "delete"


def all_approved(payload: Payload) -> list[dict[str, Any]]:
    """Return the decisions that approve every action as it is. Raises `InvalidDecisionError` for a question."""
    if any(action.get("question") for action in payload["actions"]):
        raise InvalidDecisionError("unusable_decision", said={"problem": ALL_AT_ONCE.texts})
    return [{"tool_call_id": action["tool_call_id"], "type": "approve"} for action in payload["actions"]]


@dataclass(frozen=True, slots=True)
class DecisionCheck:
    """Checks the caller's decisions about an approval of a run that acts with `run_scopes`."""

    payload: Payload
    caller: Principal
    run_scopes: Collection[str]
    check_edit: Check
    check_grant: Check

    def checked(self, entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the decisions that resume the graph. Raises `InvalidDecisionError` and `MissingScopeError`."""
        by_call = self._by_call(entries)
        return [self._checked(action, by_call[action["tool_call_id"]]) for action in self.payload["actions"]]

    def _by_call(self, entries: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
        known = [action["tool_call_id"] for action in self.payload["actions"]]
        by_call: dict[str, Mapping[str, Any]] = {}
        for entry in entries:
            call_id = entry["tool_call_id"]
            if call_id not in known:
                raise InvalidDecisionError("unknown_action", details={"known": known})
            if call_id in by_call:
                raise InvalidDecisionError("decided_twice", details={"tool_call_id": call_id})
            by_call[call_id] = entry
        if missing := [call_id for call_id in known if call_id not in by_call]:
            raise InvalidDecisionError("undecided", details={"missing": missing})
        return by_call

    def _checked(self, action: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
        details = {"tool_call_id": action["tool_call_id"]}
        try:
            decision = parse_decision(action, entry)
        except GrantError as error:
            raise InvalidGrantError("unusable_decision", details=details, said={"problem": error.texts}) from error
        except DecisionError as error:
            raise InvalidDecisionError("unusable_decision", details=details, said={"problem": error.texts}) from error
        kind, name = decision["type"], action["name"]
        if action.get("question"):
            decision = _answer(action, decision, details)
        elif kind not in self._allowed(name):
            raise InvalidDecisionError("unusable_kind", details=details, said={"name": name, "kind": kind})
        if kind in RUNS_THE_CALL:
            require_scopes(self.caller, [SCOPE_OF_RISK.get(str(action.get("risk")), HIGHEST_SCOPE)])
        if kind in CARRIES_WORDS or decision["message"]:
            # A model reads the words, and acts on them with all that the run may do.
            require_scopes(self.caller, self.run_scopes)
        if not action.get("question"):
            self._check_args(action, decision["args"], details)
        self._check_terms(action, decision.get("grant"), details)
        return _stored(decision)

    def _check_args(
        self, action: Mapping[str, Any], args: Mapping[str, Any] | None, details: Mapping[str, Any]
    ) -> None:
        if args is not None and (problem := self.check_edit(self.payload, action["tool_call_id"], args)):
            said = {"name": action["name"], "problem": problem}
            raise InvalidDecisionError("unusable_args", details=details, said=said)

    def _check_terms(
        self, action: Mapping[str, Any], grant: Mapping[str, Any] | None, details: Mapping[str, Any]
    ) -> None:
        if grant is not None and (problem := self.check_grant(self.payload, action["tool_call_id"], grant)):
            raise InvalidGrantError("unusable_grant", details=details, said={"problem": problem})

    def _allowed(self, name: str) -> Collection[str]:
        for config in self.payload.get("review_configs", ()):
            if config["action_name"] == name:
                return {*config["allowed_decisions"], "respond"}
        return {"approve", "edit", "reject", "respond"}


def _answer(action: Mapping[str, Any], decision: Decision, details: Mapping[str, Any]) -> Decision:
    """Return the answer to a server's question as the server gets it. Raises `InvalidDecisionError`, field by field."""
    try:
        content = checked_reply(action, decision).content
    except FieldsError as error:
        fields = {name: problem.sentences for name, problem in error.fields.items()}
        details, said = {**details, "fields": fields}, {"name": action["name"], "problem": error.texts}
        raise InvalidDecisionError("unusable_answer", details=details, said=said) from error
    except DecisionError as error:
        raise InvalidDecisionError("unusable_decision", details=details, said={"problem": error.texts}) from error
    return decision if decision["args"] is None else {**decision, "args": dict(content or {})}


def _stored(decision: Decision) -> dict[str, Any]:
    optional = {"args": decision["args"], "message": decision["message"] or None, "grant": decision.get("grant")}
    given = {name: value for name, value in optional.items() if value is not None}
    return {"tool_call_id": decision["tool_call_id"], "type": decision["type"], **given}
