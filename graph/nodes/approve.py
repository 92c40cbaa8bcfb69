"""Asks the person, once for all calls that wait, and turns the answer into what may run.

The node starts again from its top when the answer comes: before the interrupt it only reads what review has frozen.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graph.connections import Toolbox
from graph.context import GraphDependencies, RunContext
from graph.events import DecisionView, emit
from graph.gateway.approval import (
    EXPIRED,
    Decision,
    asked,
    decided_at,
    decided_by,
    decision_view,
    digest,
    is_expired,
    payload,
    read_decisions,
    says_expired,
)
from graph.gateway.arguments import fit
from graph.gateway.policy import judge
from graph.nodes.messages import report, result_message, written
from graph.nodes.review import hints_of, schema_of
from graph.state import Approval, Call, Language, State, Update, running_turn

TEXTS: Final[Mapping[str, Mapping[Language, str]]] = {
    "rejected": {"en": "The person rejected this. It was not done.", "zh": "用户拒绝了此操作，未执行。"},
    "responded": {"en": "Not done. The person answered instead: {message}", "zh": "未执行。用户的回复：{message}"},
    "message": {"en": "{text} They say: {message}", "zh": "{text}用户说：{message}"},
    "invalid": {
        "en": "Not approved, because the answer could not be used: {message}",
        "zh": "未获批准，因为无法理解收到的答复：{message}",
    },
    "expired": {
        "en": "The approval expired before anyone answered. It was not done.",
        "zh": "审批在答复之前已过期，未执行。",
    },
}


def make_approve(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def approve(state: State, runtime: Runtime[RunContext]) -> Update:
        approval, calls = state.get("approval"), state.get("calls", [])
        if approval is None:
            return {}
        user = deps.user(runtime)
        toolbox = await deps.connections.toolbox(user)
        answer = interrupt(payload(approval, calls, lambda name: schema_of(toolbox.tools[name])))
        late = says_expired(answer) or is_expired(approval, decided_at(answer, deps.clock()))
        decisions = _all_expired(calls) if late else read_decisions(answer, calls)
        language = running_turn(state)["language"]
        settling = Settling(toolbox, approval, language, decided_by(answer) or user.email)
        settled, refusals = settling.all(calls, decisions)
        views = [decision_view(decision) for decision in decisions]
        _announce(approval, views, late=late)
        closed: Approval = {**approval, "status": "expired" if late else "resolved", "decisions": [*map(dict, views)]}
        return {**written([report(refusal) for refusal in refusals]), "calls": settled, "approval": closed}

    return approve


class Settling:
    """Applies decisions to the calls of one approval."""

    def __init__(self, toolbox: Toolbox, approval: Approval, language: Language, by: str) -> None:
        self._toolbox = toolbox
        self._approval = approval
        self._language: Language = language
        self._by = by

    def all(self, calls: Sequence[Call], decisions: Sequence[Decision]) -> tuple[list[Call], list[ToolMessage]]:
        """Return the calls as they now stand, and a result for each that does not run."""
        by_id = {decision["tool_call_id"]: decision for decision in decisions}
        settled: list[Call] = []
        refusals: list[ToolMessage] = []
        for call in calls:
            result = self._one(call, by_id[call["tool_call_id"]]) if call["standing"] == "asked" else call
            if isinstance(result, ToolMessage):
                refusals.append(result)
                settled.append({**call, "standing": "refused"})
            else:
                settled.append(result)
        return settled, refusals

    def _one(self, call: Call, decision: Decision) -> Call | ToolMessage:
        if not decision["valid"]:
            key = "expired" if decision["message"] == EXPIRED else "invalid"
            return self._refuse(call, self._text(key, decision["message"]))
        if self._approval["digests"].get(call["tool_call_id"]) != call["digest"]:
            return self._refuse(call, self._text("invalid", "the call is not the one that was shown"))
        match decision["type"]:
            case "approve":
                return {**call, "standing": "approved", "approved_by": self._by}
            case "edit":
                return self._edited(call, decision["args"] or {})
            case "respond":
                return self._refuse(call, self._text("responded", decision["message"]))
            case "reject":
                return self._refuse(call, self._rejection(decision["message"]))

    def _edited(self, call: Call, args: dict[str, Any]) -> Call | ToolMessage:
        """Take the person's arguments, if they fit the tool. They were seen and meant, so only a denial stops them.

        The etag stays: an edit that names another item does not match it, and comes back as a new question.
        """
        tool = self._toolbox.tools[call["name"]]
        fitted, problems = fit(args, schema_of(tool))
        judgement = judge(call["name"], fitted, hints_of(tool), tainted=True, language=self._language)
        if judgement.verdict == "deny":
            problems = [judgement.reason]
        if problems:
            return self._refuse(call, self._text("invalid", "; ".join(problems)))
        return {
            **call,
            "args": fitted,
            "digest": digest(call["name"], fitted, call["etag"]),
            "standing": "approved",
            "approved_by": self._by,
        }

    def _rejection(self, message: str) -> str:
        text = TEXTS["rejected"][self._language]
        return TEXTS["message"][self._language].format(text=text, message=message) if message else text

    def _text(self, key: str, message: str) -> str:
        return TEXTS[key][self._language].format(message=message)

    def _refuse(self, call: Call, text: str) -> ToolMessage:
        return result_message(call["tool_call_id"], call["name"], text, "rejected")


def _all_expired(calls: Sequence[Call]) -> list[Decision]:
    return [
        {"tool_call_id": call["tool_call_id"], "type": "reject", "args": None, "message": EXPIRED, "valid": False}
        for call in asked(calls)
    ]


def _announce(approval: Approval, decisions: list[DecisionView], *, late: bool) -> None:
    emit(
        {
            "type": "approval_resolved",
            "approval_id": approval["approval_id"],
            "decisions": decisions,
            "status": "expired" if late else "resolved",
        }
    )
