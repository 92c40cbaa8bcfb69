"""Judge each call of the model and freeze it: refuse nonsense, let pass, or prepare the question to the person."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from mcp.types import CallToolResult

from drive_server.kernel.texts import Texts
from graph.agents.authorship import foreign_words, mark_result
from graph.agents.document_agent import DOCUMENT_AGENT
from graph.agents.drive_agent import DRIVE_AGENT
from graph.agents.search_agent import SEARCH_AGENT
from graph.approvals.arguments import fit, last_change_of, of_conversation
from graph.approvals.causes import Causes, Subject
from graph.approvals.coverage import Coverage, contract_of, with_contract
from graph.approvals.evidence import Evidence
from graph.approvals.leaving import SeenContent
from graph.approvals.payload import asked, open_approval, ttl_seconds
from graph.approvals.preview import effect_of, outside_preview, preview_of
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import ALL_SCOPES, META_DRY_RUN, META_EFFECT, META_RUN_ID
from graph.drive.sentences import error_sentence, localize
from graph.language import Language
from graph.limits.enforcement import CallLimits
from graph.limits.limits import result_text
from graph.messages.grouping import AnyCall, current_turn, unanswered
from graph.messages.records import RUNNING, announce, announce_results, outside_calls
from graph.messages.stored_results import ResultStore, sent_key
from graph.messages.written import add_messages, announce_call, report, result_message, text_of
from graph.models.asking import was_cut
from graph.policy.bounds import touched_by
from graph.policy.contract import digest
from graph.policy.reasons import sentence
from graph.policy.rules import Judgement, Situation, judge
from graph.policy.tools import ToolFacts
from graph.state import (
    Call,
    OutsideCall,
    State,
    Taint,
    Update,
    active_agent,
    is_tainted,
    running_turn,
    said_last,
)
from graph.tools.box import LOCAL_NAMES, toolset
from graph.tools.local import Toolset
from graph.tools.memory import CHANGING_TOOLS
from graph.tools.more import not_offered

SPECIALISTS: Final = (DOCUMENT_AGENT, DRIVE_AGENT, SEARCH_AGENT)
ALLOWED_TOOLS: Final = {specialist.name: specialist.tools for specialist in SPECIALISTS}
EVERYONE: Final = frozenset[str]().union(*ALLOWED_TOOLS.values())
"""The tools of all specialists: each is shown them, and may call its own."""
TEXTS: Final = Texts.beside(__file__)

OUTSIDE_SCOPE: Final = "delete"
"""A call of a person's own server may do anything, so a key needs the scope for the worst."""
LOCAL_SCOPE: Final = "write"
"""The scope of the assistant's own tools that change something: the facts that it remembers of a person."""
NO_CAUSES: Final = Causes(None, [])
NO_OBJECT: Final = "The arguments are not a JSON object. Send them again."


@dataclass(frozen=True, slots=True)
class Candidate:
    """A call that makes sense, with its dry run's effect; `drifted`: it was approved, and its target changed since.

    `leaves` are its arguments with content of the drive, if it goes to a server outside of it.
    """

    key: str
    tool: ToolFacts
    args: dict[str, Any]
    judgement: Judgement
    effect: Mapping[str, Any] | None = None
    drifted: bool = False
    leaves: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The inputs for judging one round of calls. Without all scopes the drive has not all of its tools for the run."""

    toolbox: Toolset
    tools: frozenset[str]
    has_all_tools: bool
    run_id: str
    last_change: str
    situation: Situation
    coverage: Coverage
    evidence: Evidence
    seen: SeenContent
    user: RunContext
    max_result: int
    is_cut: bool
    sources: Mapping[str, OutsideCall]

    def _lacks_scope(self, facts: ToolFacts) -> bool:
        """Return whether the run's key may not call a tool that the drive does not check: of a server, or our own."""
        if facts.server:
            return OUTSIDE_SCOPE not in self.user.scopes
        return facts.name in CHANGING_TOOLS and LOCAL_SCOPE not in self.user.scopes

    async def prepare(self, call: AnyCall, earlier: Call | None) -> Candidate | ToolMessage:
        """Return the call with its dry run, or the refusal; `earlier` is the approved call if its target changed."""
        name, key = call["name"] or "", str(call["id"])
        tool = self.toolbox.tools.get(name)
        if unavailable := self.toolbox.outside.reason_for(name):
            said = unavailable.in_language(self.situation.language)
            return _refuse(key, name, f"{said.code}: {said.sentence}")
        if name not in self.tools and (owners := _owners(name)):
            return _refuse(key, name, TEXTS.say("review.not_yours", self.situation.language, tool=name, agents=owners))
        if name not in self.tools or (tool is None and self.has_all_tools):
            return _refuse(key, name, f"unknown_tool: You have no tool {name[:64]!r}. Use one of your tools.")
        facts = self.toolbox.facts_of(name)
        if tool is None or self._lacks_scope(facts):
            refusal = TEXTS.say("review.not_in_scope", self.situation.language, tool=name)
            return _refuse(key, name, f"missing_scope: {refusal}")
        given = earlier["args"] if earlier else call["args"]
        if not isinstance(given, dict):
            wrong = TEXTS.say("review.cut_arguments", self.situation.language) if self.is_cut else NO_OBJECT
            return _refuse(key, name, f"invalid_argument: {wrong}")
        named = of_conversation(name, given, self.last_change)
        args, problems = fit(named, schema_of(tool), is_outside=facts.server is not None)
        problems = problems or not_offered(name, args, self.tools)
        if problems:
            return _refuse(key, name, f"invalid_argument: {'; '.join(problems)}")
        leaves = await self.seen.leaving(args) if facts.server else []
        judgement = judge(facts, args, replace(self.situation, leaves=bool(leaves)))
        if judgement.verdict == "deny":
            return _refuse(key, name, "forbidden: The assistant never uses this tool.")
        if judgement.verdict == "allow" or not judgement.has_rule:
            return Candidate(key, facts, args, judgement, leaves=leaves)
        dry_run = await self.toolbox.call(name, args, meta={META_DRY_RUN: True, META_RUN_ID: self.run_id})
        if dry_run.isError:
            foreign = await foreign_words(facts, dry_run, self.user, self.coverage.store)
            refusal = _refuse(key, name, error_text(dry_run, self.max_result, self.situation.language), foreign)
            return mark_result(refusal, facts, dry_run)
        effect: Mapping[str, Any] | None = (dry_run.meta or {}).get(META_EFFECT)
        return Candidate(key, facts, args, judgement, effect, drifted=earlier is not None)

    async def settle(self, found: Candidate) -> Call:
        """Return the judged call; one at a time, as each may use up the grant of the next."""
        judgement = found.judgement
        if judgement.verdict == "ask" and judgement.has_rule:
            touched = touched_by(found.effect)
            about = str((found.effect or {}).get("about") or "")
            judgement = await self.coverage.judge(found.key, found.tool, found.args, touched, about)
        if judgement.verdict == "ask":
            causes = await self.evidence.of(_subject(found)) if self.situation.tainted else NO_CAUSES
            return self._asked(found, judgement, causes)
        effect = found.effect if judgement.covered_by else None
        approved_by = self.user.email if judgement.covered_by else None
        return {**self._call(found, judgement, effect), "approved_by": approved_by}

    def _asked(self, found: Candidate, judgement: Judgement, causes: Causes) -> Call:
        language = self.situation.language
        tool, args = found.tool, found.args
        if tool.server:
            preview = outside_preview(tool.server, args, found.leaves, language)
        else:
            preview = preview_of(tool.name, args, found.effect, language, tool.action_for(args))
        return {
            **self._call(found, judgement, found.effect),
            "code": "changed" if found.drifted else judgement.code,
            "reason": sentence("changed", language) if found.drifted else judgement.reason,
            "preview": preview,
            "standing": "asked",
            "passage": causes.passage,
            "sources": causes.sources,
        }

    def _call(self, found: Candidate, judgement: Judgement, effect: Mapping[str, Any] | None) -> Call:
        call = _call(found, judgement, effect)
        source, server = self.sources.get(found.key), found.tool.server
        if source is None:
            return call
        # The call may only go where it was judged to go, and shown to.
        return {**call, "outside": {**source, "agreed": server.agreed if server else ""}}


def _owners(name: str) -> str:
    """Return the specialists whose tool it is, as a text; empty for a tool of none."""
    return ", ".join(agent for agent, tools in ALLOWED_TOOLS.items() if name in tools)


def _subject(found: Candidate) -> Subject:
    touched = touched_by(found.effect)
    items = frozenset(target.item_id for target in touched.targets) if touched else frozenset[str]()
    return Subject(found.tool.name, found.args, touched.names if touched else (), items)


def _call(found: Candidate, judgement: Judgement, effect: Mapping[str, Any] | None) -> Call:
    etag = effect.get("etag") if effect else None
    return {
        "tool_call_id": found.key,
        "name": found.tool.name,
        "args": found.args,
        "risk": judgement.risk,
        "code": judgement.code,
        "reason": judgement.reason,
        "preview": "",
        "reversible": bool(effect.get("reversible", True)) if effect else judgement.has_rule,
        "etag": etag,
        "digest": digest(found.tool.name, found.args, etag),
        "standing": "allowed",
        "approved_by": None,
        "effect": effect_of(effect),
        "covered_by": judgement.covered_by,
        "action": found.tool.action_for(found.args),
    }


def _refuse(key: str, name: str, text: str, foreign: Sequence[Taint] = ()) -> ToolMessage:
    return result_message(key, name, text, "error", foreign)


def make_review(deps: GraphDependencies) -> Any:
    """Return the node."""
    limits = CallLimits(deps.settings, deps.clock)

    async def reviewer_for(state: State, runtime: Runtime[RunContext]) -> Reviewer:
        turn, user = running_turn(state), deps.user(runtime)
        toolbox = await toolset(deps, runtime)
        situation = Situation(
            language=turn["language"],
            mode=user.mode,
            tainted=is_tainted(state),
            contract=contract_of(state.get("plan")),
            now=deps.clock(),
            said=said_last(state),
        )
        return Reviewer(
            toolbox=toolbox,
            tools=toolbox.allowed(ALLOWED_TOOLS[active_agent(state)]) | LOCAL_NAMES,
            has_all_tools=frozenset(user.scopes) >= ALL_SCOPES,
            run_id=turn["run_id"],
            last_change=last_change_of(state),
            situation=situation,
            coverage=Coverage(
                situation,
                user.user_id,
                turn["run_id"],
                runtime.store,
                [str(call["id"]) for call in unanswered(state["messages"])],
            ),
            evidence=Evidence(state, toolbox, deps.result_store(runtime)),
            seen=SeenContent(state["messages"], deps.result_store(runtime)),
            user=user,
            max_result=deps.settings.max_result_characters,
            is_cut=_is_cut(state),
            sources=outside_calls(current_turn(state["messages"])),
        )

    async def review(state: State, runtime: Runtime[RunContext]) -> Update:
        running = await _under_way(state, deps.result_store(runtime))
        waiting = [call for call in unanswered(state["messages"]) if str(call["id"]) not in running]
        if not waiting:
            return {}
        reviewer = await reviewer_for(state, runtime)
        earlier = {call["tool_call_id"]: call for call in state.get("calls", []) if call["standing"] == "approved"}
        new = [call for call in waiting if str(call["id"]) not in earlier]
        for call in new:
            announce_call(str(call["id"]), call["name"] or "", call["args"] if isinstance(call["args"], dict) else {})
        limited = limits.refused(deps.user(runtime).user_id, new, state, reviewer.toolbox.facts)
        within = [call for call in waiting if str(call["id"]) not in limited]
        found = await asyncio.gather(*(reviewer.prepare(call, earlier.get(str(call["id"]))) for call in within))
        refused = [report(result) for result in [*limited.values(), *found] if isinstance(result, ToolMessage)]
        calls = [await reviewer.settle(one) for one in found if isinstance(one, Candidate)]
        announce_results(reviewer.sources, {str(call["id"]): call["args"] for call in waiting}, refused)
        for call in calls:
            if source := call.get("outside"):
                announce(source, call["tool_call_id"], call["args"], "pending")
        ttl = ttl_seconds(deps.settings, deps.user(runtime).mode)
        run_id = running_turn(state)["run_id"]
        approval = open_approval(calls, run_id, deps.clock(), ttl) if asked(calls) else None
        update = {**add_messages([*refused]), "calls": [*running.values(), *calls], "approval": approval}
        plan, contract = state.get("plan"), reviewer.coverage.contract
        if plan and contract and contract != reviewer.situation.contract:
            update["plan"] = with_contract(plan, contract)
        return update

    return review


async def _under_way(state: State, store: ResultStore | None) -> dict[str, Call]:
    """Return the calls of people's own servers that were sent, by their ids: they are not judged again."""
    run_id = running_turn(state)["run_id"]
    sent = {
        sent_key(run_id, call["tool_call_id"]): call
        for call in state.get("calls", [])
        if call.get("outside") and call["standing"] in RUNNING
    }
    marked = await store.texts(sent) if store and sent else {}
    return {call["tool_call_id"]: call for key, call in sent.items() if key in marked}


def _is_cut(state: State) -> bool:
    """Say whether the message that makes the calls ends at the model's length limit."""
    newest = next((message for message in reversed(state["messages"]) if isinstance(message, AIMessage)), None)
    return newest is not None and was_cut(newest)


def schema_of(tool: BaseTool) -> Mapping[str, Any]:
    """Return the JSON schema of the tool's arguments, as its server states it."""
    schema = tool.args_schema
    return schema if isinstance(schema, dict) else {}


def error_text(result: CallToolResult, limit: int, language: Language) -> str:
    """Return a refusal of the drive as the model gets it: code, sentence, hint, and details such as near matches."""
    data = result.structuredContent or {}
    said = error_sentence(data, text_of(result), language)
    return result_text(said, localize(data.get("details"), language) or None, limit)
