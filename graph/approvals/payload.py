"""Approvals: the payload that the person is shown, and the items that their answer is bound to."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from typing_extensions import TypedDict

from graph.approvals.arguments import editable_of, fit
from graph.approvals.passages import shown
from graph.events.approvals import ApprovalAction
from graph.events.calls import named
from graph.language import Language
from graph.policy.grant_offers import grantable
from graph.servers.names import is_outside
from graph.settings import AgentSettings
from graph.state import Approval, Call, Effect, Mode

ALLOWED_DECISIONS: Final = ("approve", "edit", "reject", "respond")

EXPIRED: Final = "expired"


class ActionRequest(TypedDict):
    """A call in the shape that public clients render."""

    name: str
    args: dict[str, Any]
    description: str


class ReviewConfig(TypedDict):
    """The decisions that are allowed for a call, and the JSON schema that an edit has to fit."""

    action_name: str
    allowed_decisions: list[str]
    args_schema: Mapping[str, Any]


class ApprovalPayload(TypedDict):
    """The interrupt's value. The first four keys of `actions` repeat the lists that public clients read."""

    approval_id: str
    expires_at: str
    action_requests: list[ActionRequest]
    review_configs: list[ReviewConfig]
    actions: list[ApprovalAction]


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
    approval: Approval, calls: Sequence[Call], schema_of: Callable[[str], Mapping[str, Any]], language: Language
) -> ApprovalPayload:
    """Return the interrupt's value for the asked calls; `schema_of` gives a tool's JSON schema by its name.

    The description of a call has all in one text, for clients that show nothing else.
    """
    waiting = asked(calls)
    names = dict.fromkeys(call["name"] for call in waiting)
    return {
        "approval_id": approval["approval_id"],
        "expires_at": approval["expires_at"],
        "action_requests": [
            {"name": call["name"], "args": call["args"], "description": _description(call, language)}
            for call in waiting
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": list(ALLOWED_DECISIONS), "args_schema": schema_of(name)}
            for name in names
        ],
        "actions": [_action(call, schema_of(call["name"])) for call in waiting],
    }


def _description(call: Call, language: Language) -> str:
    passage = call.get("passage")
    read = shown(passage, call.get("sources", []), language) if passage else ""
    return "\n\n".join(filter(None, [call["reason"], call["preview"], read]))


def _action(call: Call, schema: Mapping[str, Any]) -> ApprovalAction:
    return {
        "tool_call_id": call["tool_call_id"],
        **named(call["name"]),
        "args": call["args"],
        "risk": call["risk"],
        "reason": call["reason"],
        "preview": call["preview"],
        "reversible": call["reversible"],
        "etag": call["etag"],
        "effect": call.get("effect"),
        "grant_kind": grantable(call),
        "code": call.get("code", ""),
        "passage": call.get("passage"),
        "sources": call.get("sources", []),
        "editable": {**editable_of(schema, is_outside=bool(call.get("outside")))},
    }


def check_edit(asked_for: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
    """Return the problems of edited arguments while their approval waits; None if they fit its tool."""
    action = next((action for action in asked_for["actions"] if action["tool_call_id"] == tool_call_id), None)
    schemas = {config["action_name"]: config["args_schema"] for config in asked_for["review_configs"]}
    if action is None or action["name"] not in schemas:
        return "There is no such action."
    _, problems = fit(args, schemas[action["name"]], is_outside=is_outside(action["name"]))
    return "; ".join(problems) or None


def expired_answer(asked_for: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer with which a service resumes the graph when nobody answered in time."""
    ids = [action["tool_call_id"] for action in asked_for["actions"]]
    return {"decisions": [{"tool_call_id": key, "type": "reject"} for key in ids], EXPIRED: True}


def ttl_seconds(settings: AgentSettings, mode: Mode) -> int:
    """Return how long an approval of a run in that mode waits, in seconds."""
    return settings.approval_ttl_seconds if mode == "attended" else settings.unattended_approval_ttl_seconds


def goes_beyond(call: Call, args: Mapping[str, Any], effect: Effect | None, etag: str | None) -> bool:
    """Say whether a call with edited arguments would touch more than its approval showed.

    `effect` and `etag` come from a dry run with these arguments. Other or more items, access of people that the edit
    does not name, and an effect that can't be undone any more go beyond it.
    """
    if etag != call["etag"] or any(args.get(name) != call["args"].get(name) for name in _references(call, args)):
        return True
    shown = call.get("effect")
    if effect is None or shown is None:
        return effect is not shown
    named = {str(value) for value in args.values()}
    affected = {*effect["gains_access"], *effect["loses_access"]}
    people = affected - {*shown["gains_access"], *shown["loses_access"]} - named
    final = shown["reversible"] and not effect["reversible"]
    return bool(people) or final or effect["count"] > shown["count"] or not _places(effect) <= _places(shown)


def _references(call: Call, args: Mapping[str, Any]) -> list[str]:
    """Name the arguments that name items: the drive's end in `_id` or `_ids`."""
    return [name for name in {**call["args"], **args} if name.endswith(("_id", "_ids"))]


def _places(effect: Effect) -> set[str]:
    """Return where the items are: a new item has another id in each dry run."""
    return {str(item.get("path") or item.get("id")) for item in effect["items"]}
