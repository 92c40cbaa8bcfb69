"""Ask the person, once for all calls that wait; before the interrupt the node only reads, as it starts again."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal

from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.types import interrupt
from mcp.types import CallToolResult

from drive_server.kernel.texts import Texts
from graph.agents.authorship import foreign_words, mark_result
from graph.approvals.answers import (
    Decider,
    Decision,
    decided_at,
    decided_by,
    decision_view,
    read_decisions,
    says_expired,
)
from graph.approvals.arguments import fit
from graph.approvals.payload import EXPIRED, asked, goes_beyond, is_expired, open_approval, payload, ttl_seconds
from graph.approvals.preview import effect_of, first_line, outside_preview, preview_of
from graph.approvals.review import error_text, schema_of
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import META_DRY_RUN, META_EFFECT, META_RUN_ID, Toolbox
from graph.errors import DriveUnavailableError
from graph.events.approvals import DecisionView
from graph.events.calls import named
from graph.events.sending import emit
from graph.language import Language
from graph.messages.records import announce_results
from graph.messages.written import Outcome, add_messages, report, result_message
from graph.policy.bounds import Bounds
from graph.policy.contract import digest
from graph.policy.grant_offers import bounds_for
from graph.policy.grants import give, list_grants
from graph.policy.rules import Situation, judge
from graph.policy.tools import ToolFacts
from graph.state import Approval, Call, Refusal, State, Taint, Update, running_turn
from graph.tools.box import toolset

TEXTS: Final = Texts.beside(__file__)


def make_approve(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def approve(state: State, runtime: Runtime[RunContext]) -> Update:
        approval, calls = state.get("approval"), state.get("calls", [])
        if approval is None:
            return {}
        user = deps.user(runtime)
        toolbox = await toolset(deps, runtime)
        answer = interrupt(payload(approval, calls, partial(_schema, toolbox), running_turn(state)["language"]))
        late = says_expired(answer) or is_expired(approval, decided_at(answer, deps.clock()))
        decisions = _all_expired(calls) if late else read_decisions(answer, calls, approval["approval_id"])
        applier = DecisionApplier(
            toolbox,
            approval,
            running_turn(state)["language"],
            decided_by(answer, user.email),
            deps.settings.max_result_characters,
            partial(foreign_words, user=user, store=runtime.store),
        )
        settled, refusals = await applier.all(calls, decisions)
        sources = {call["tool_call_id"]: source for call in calls if (source := call.get("outside"))}
        announce_results(sources, {call["tool_call_id"]: call["args"] for call in calls}, refusals)
        approved = {call["tool_call_id"]: call for call in settled if call["standing"] == "approved"}
        giver = GrantGiver(runtime.store, user.user_id, approval["approval_id"], deps.clock())
        about = {call["tool_call_id"]: first_line(call["preview"]) for call in [*calls, *settled]}
        views = [
            await giver.view(decision, approved.get(key), about.get(key, ""))
            for decision in decisions
            for key in [decision["tool_call_id"]]
        ]
        announce_decided(approval, views, late=late)
        closed: Approval = {**approval, "status": "expired" if late else "resolved", "decisions": [*map(dict, views)]}
        if again := asked(settled):
            _announce_again(again)
            ttl = ttl_seconds(deps.settings, user.mode)
            closed = open_approval(settled, approval["run_id"], deps.clock(), ttl)
        return {**add_messages([report(refusal) for refusal in refusals]), "calls": settled, "approval": closed}

    return approve


def _schema(toolbox: Toolbox, name: str) -> Mapping[str, Any]:
    """Return the schema of a tool; when an answer comes, the tool may be gone."""
    tool = toolbox.tools.get(name)
    return schema_of(tool) if tool else {}


class GrantGiver:
    """Stores the grants that come with approvals, each once, also if the node runs again after a crash."""

    def __init__(self, store: BaseStore | None, user_id: str, approval_id: str, now: datetime) -> None:
        self._store = store
        self._user_id = user_id
        self._approval_id = approval_id
        self._now = now

    async def view(self, decision: Decision, call: Call | None, about: str) -> DecisionView:
        """Return the decision for clients, with the grant that came with it, or why none did."""
        view, request = decision_view(decision, about), decision.get("grant")
        if request is None or call is None or self._store is None:
            return view
        try:
            return {**view, "grant_id": await self._grant_id(self._store, bounds_for(call, request, self._now))}
        except ValueError as error:
            return {**view, "message": f"No grant was given: {error}"}

    async def _grant_id(self, store: BaseStore, bounds: Bounds) -> str:
        for grant in await list_grants(store, self._user_id, self._now):
            same = grant.bounds.folders == bounds.folders and grant.bounds.kinds == bounds.kinds
            if same and grant.approval_id == self._approval_id:
                return grant.grant_id
        grant = await give(store, self._user_id, bounds, approval_id=self._approval_id, now=self._now)
        return grant.grant_id


class DecisionApplier:
    """Applies decisions to the calls of one approval."""

    def __init__(
        self,
        toolbox: Toolbox,
        approval: Approval,
        language: Language,
        by: Decider,
        max_result: int,
        foreign: Callable[[ToolFacts, CallToolResult], Awaitable[Sequence[Taint]]],
    ) -> None:
        self._toolbox = toolbox
        self._approval = approval
        self._language: Language = language
        self._by = by
        self._max_result = max_result
        self._foreign = foreign

    async def all(self, calls: Sequence[Call], decisions: Sequence[Decision]) -> tuple[list[Call], list[ToolMessage]]:
        """Return the calls as they now stand, and a result for each that does not run."""
        by_id = {decision["tool_call_id"]: decision for decision in decisions}
        settled: list[Call] = []
        refusals: list[ToolMessage] = []
        for call in calls:
            result = await self._one(call, by_id[call["tool_call_id"]]) if call["standing"] == "asked" else call
            if isinstance(result, ToolMessage):
                refusals.append(result)
                settled.append({**call, "standing": "refused"})
            else:
                settled.append(result)
        return settled, refusals

    async def _one(self, call: Call, decision: Decision) -> Call | ToolMessage:
        if not decision["valid"]:
            return self._unread(call, decision["message"])
        if self._approval["digests"].get(call["tool_call_id"]) != call["digest"]:
            return self._unread(call, "the call is not the one that was shown")
        match decision["type"]:
            case "approve":
                return {
                    **call,
                    "standing": "approved",
                    "approved_by": self._by.email,
                    "approved_key": self._by.key,
                    "approval_id": self._approval["approval_id"],
                }
            case "edit":
                return await self._edited(call, decision["args"] or {})
            case "respond":
                return self._refuse(call, self._text("responded", decision["message"]), refusal="answered")
            case "reject":
                return self._refuse(call, self._rejection(decision["message"]), refusal="rejected")

    async def _edited(self, call: Call, args: dict[str, Any]) -> Call | ToolMessage:
        """Take the person's arguments, if they fit the tool. They were seen and meant, so only a denial stops them."""
        if call["name"] not in self._toolbox.tools:
            return self._refuse(call, TEXTS.say("approve.gone", self._language), "error")
        tool = self._toolbox.tools[call["name"]]
        facts = self._toolbox.facts_of(call["name"])
        fitted, problems = fit(args, schema_of(tool), is_outside=facts.server is not None)
        judgement = judge(facts, fitted, Situation(language=self._language))
        if judgement.verdict == "deny":
            problems = [judgement.reason]
        if problems:
            return self._unread(call, "; ".join(problems))
        call = {**call, "action": facts.action_for(fitted)}
        if not judgement.has_rule:
            preview = self._preview_unrun(facts, fitted, call.get("action"))
            return self._with({**call, "preview": preview}, fitted, call["etag"], "approved")
        return await self._dry_run(call, fitted)

    def _preview_unrun(self, facts: ToolFacts, args: Mapping[str, Any], action: str | None) -> str:
        """Return the preview of a call that can't run dry, with the person's arguments: the record names these."""
        if facts.server:
            return outside_preview(facts.server, args, (), self._language)
        return preview_of(facts.name, args, None, self._language, action)

    async def _dry_run(self, call: Call, args: dict[str, Any]) -> Call | ToolMessage:
        """Run the edited call dry; if it touches more than was shown, show that first."""
        meta = {META_DRY_RUN: True, META_RUN_ID: self._approval["run_id"]}
        try:
            result = await self._toolbox.call(call["name"], args, meta=meta)
        except DriveUnavailableError as error:
            return self._refuse(call, error.in_language(self._language).sentence, "error")
        if result.isError:
            tool = self._toolbox.facts_of(call["name"])
            foreign = await self._foreign(tool, result)
            refusal = self._refuse(call, error_text(result, self._max_result, self._language), "error", foreign)
            return mark_result(refusal, tool, result)
        found: Mapping[str, Any] | None = (result.meta or {}).get(META_EFFECT)
        effect, etag = effect_of(found), found.get("etag") if found else None
        seen: Call = {
            **call,
            "preview": preview_of(call["name"], args, found, self._language, call.get("action")),
            "reversible": effect["reversible"] if effect else call["reversible"],
            "effect": effect,
        }
        if not goes_beyond(call, args, effect, etag):
            return self._with(seen, args, etag, "approved")
        return {**self._with(seen, args, etag, "asked"), "reason": TEXTS.say("approve.edited", self._language)}

    def _with(self, call: Call, args: dict[str, Any], etag: str | None, standing: Literal["approved", "asked"]) -> Call:
        return {
            **call,
            "args": args,
            "etag": etag,
            "digest": digest(call["name"], args, etag),
            "standing": standing,
            "approved_by": self._by.email if standing == "approved" else None,
            "approved_key": self._by.key if standing == "approved" else None,
            "approval_id": self._approval["approval_id"] if standing == "approved" else None,
        }

    def _rejection(self, message: str) -> str:
        text = TEXTS.say("approve.rejected", self._language)
        return TEXTS.say("approve.message", self._language, text=text, message=message) if message else text

    def _text(self, key: str, message: str) -> str:
        return TEXTS.say(f"approve.{key}", self._language, message=message)

    def _unread(self, call: Call, why: str) -> ToolMessage:
        """Refuse a call to which no answer came in time, or none that can be used."""
        if why == EXPIRED:
            return self._refuse(call, TEXTS.say("approve.expired", self._language), refusal="expired")
        return self._refuse(call, self._text("invalid", why), refusal="unclear")

    def _refuse(
        self,
        call: Call,
        text: str,
        outcome: Outcome = "rejected",
        foreign: Sequence[Taint] = (),
        refusal: Refusal | None = None,
    ) -> ToolMessage:
        return result_message(call["tool_call_id"], call["name"], text, outcome, foreign, refusal)


def _all_expired(calls: Sequence[Call]) -> list[Decision]:
    return [
        {"tool_call_id": call["tool_call_id"], "type": "reject", "args": None, "message": EXPIRED, "valid": False}
        for call in asked(calls)
    ]


def announce_decided(approval: Approval, decisions: list[DecisionView], *, late: bool) -> None:
    """Tell clients that an approval was answered, or that its time is up."""
    if late:
        emit(
            {
                "type": "approval_expired",
                "approval_id": approval["approval_id"],
                "expires_at": approval["expires_at"],
                "tool_call_ids": [decision["tool_call_id"] for decision in decisions],
            }
        )
    emit(
        {
            "type": "approval_resolved",
            "approval_id": approval["approval_id"],
            "decisions": decisions,
            "status": "expired" if late else "resolved",
        }
    )


def _announce_again(calls: Sequence[Call]) -> None:
    for call in calls:
        emit(
            {
                "type": "tool_progress",
                "tool_call_id": call["tool_call_id"],
                **named(call["name"]),
                "status": "pending",
                "message": call["reason"],
            }
        )
