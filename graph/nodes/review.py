"""Judges each call that the model wants: refuses what makes no sense, lets pass what the policy allows, and prepares
for the rest what the person will be asked. All of it is frozen into the state; nothing is judged again later."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from mcp.types import CallToolResult

from graph.connections import META_DRY_RUN, META_EFFECT, META_RUN_ID, Toolbox
from graph.context import GraphDependencies, RunContext
from graph.events import emit
from graph.gateway.approval import asked, digest, open_approval
from graph.gateway.arguments import fit
from graph.gateway.limits import result_text
from graph.gateway.policy import REASONS, Hints, Judgement, judge
from graph.gateway.preview import preview_of
from graph.memory import AnyCall, unanswered
from graph.nodes.document_agent import DOCUMENT_AGENT
from graph.nodes.drive_agent import DRIVE_AGENT
from graph.nodes.messages import report, result_message, text_of, written
from graph.nodes.search_agent import SEARCH_AGENT
from graph.state import Call, Language, State, Update, active_agent, running_turn

ALLOWED_TOOLS: Final = {agent.name: agent.tools for agent in (DOCUMENT_AGENT, DRIVE_AGENT, SEARCH_AGENT)}


@dataclass(frozen=True, slots=True)
class Review:
    """What one round of calls is judged by."""

    toolbox: Toolbox
    tools: frozenset[str]
    run_id: str
    language: Language
    tainted: bool
    max_result: int

    async def of(self, wanted: AnyCall, earlier: Call | None) -> Call | ToolMessage:
        """Return the judged call, or the result that says why it does not run.

        `earlier` is the same call as it was approved, if its target changed before it could run.
        """
        name, key = wanted["name"] or "", str(wanted["id"])
        tool = self.toolbox.tools.get(name)
        if tool is None or name not in self.tools:
            return self._refuse(key, name, f"unknown_tool: You have no tool {name[:64]!r}. Use one of your tools.")
        given = earlier["args"] if earlier else wanted["args"]
        if not isinstance(given, dict):
            return self._refuse(key, name, "invalid_argument: The arguments are not a JSON object. Send them again.")
        args, problems = fit(given, schema_of(tool))
        if problems:
            return self._refuse(key, name, f"invalid_argument: {'; '.join(problems)}")
        judgement = judge(name, args, hints_of(tool), tainted=self.tainted, language=self.language)
        if judgement.verdict == "deny":
            return self._refuse(key, name, "forbidden: The assistant never uses this tool.")
        if judgement.verdict == "allow":
            return self._call(key, name, args, judgement)
        return await self._asked(key, name, args, judgement, drifted=earlier is not None)

    async def _asked(
        self, key: str, name: str, args: dict[str, Any], judgement: Judgement, *, drifted: bool
    ) -> Call | ToolMessage:
        effect: Mapping[str, Any] | None = None
        if judgement.known:
            tried = await self.toolbox.call(name, args, meta={META_DRY_RUN: True, META_RUN_ID: self.run_id})
            if tried.isError:
                return self._refuse(key, name, error_text(tried, self.max_result))
            effect = (tried.meta or {}).get(META_EFFECT)
        return self._call(key, name, args, judgement, effect, drifted=drifted)

    def _call(
        self,
        key: str,
        name: str,
        args: dict[str, Any],
        judgement: Judgement,
        effect: Mapping[str, Any] | None = None,
        *,
        drifted: bool = False,
    ) -> Call:
        etag = effect.get("etag") if effect else None
        is_asked = judgement.verdict == "ask"
        return {
            "tool_call_id": key,
            "name": name,
            "args": args,
            "risk": judgement.risk,
            "reason": REASONS["changed"][self.language] if drifted else judgement.reason,
            "preview": preview_of(name, args, effect, self.language) if is_asked else "",
            "reversible": bool(effect.get("reversible", True)) if effect else judgement.known,
            "etag": etag,
            "digest": digest(name, args, etag),
            "standing": "asked" if is_asked else "allowed",
            "approved_by": None,
        }

    def _refuse(self, key: str, name: str, text: str) -> ToolMessage:
        return result_message(key, name, text, "error")


def make_review(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def review(state: State, runtime: Runtime[RunContext]) -> Update:
        turn = running_turn(state)
        judging = Review(
            toolbox=await deps.connections.toolbox(deps.user(runtime)),
            tools=ALLOWED_TOOLS[active_agent(state)],
            run_id=turn["run_id"],
            language=turn["language"],
            tainted=turn["tainted"],
            max_result=deps.settings.max_result_characters,
        )
        earlier = {call["tool_call_id"]: call for call in state.get("calls", []) if call["standing"] == "approved"}
        wanted = unanswered(state["messages"])
        for call in wanted:
            if str(call["id"]) not in earlier:
                _announce(call)
        judged = await asyncio.gather(*(judging.of(call, earlier.get(str(call["id"]))) for call in wanted))
        refused = [report(result) for result in judged if isinstance(result, ToolMessage)]
        calls = [result for result in judged if not isinstance(result, ToolMessage)]
        ttl = deps.settings.approval_ttl_seconds
        approval = open_approval(calls, turn["run_id"], deps.clock(), ttl) if asked(calls) else None
        return {**written([*refused]), "calls": calls, "approval": approval}

    return review


def _announce(call: AnyCall) -> None:
    args = call["args"]
    emit(
        {
            "type": "tool_call_start",
            "tool_call_id": str(call["id"]),
            "name": call["name"] or "",
            "args": args if isinstance(args, dict) else {},
        }
    )


def schema_of(tool: BaseTool) -> Mapping[str, Any]:
    """Return the JSON schema of the tool's arguments, as its server states it."""
    schema = tool.args_schema
    return schema if isinstance(schema, dict) else {}


def hints_of(tool: BaseTool) -> Hints:
    """Return the tool's annotations."""
    stated = tool.metadata or {}
    return Hints(read_only=stated.get("readOnlyHint"), destructive=stated.get("destructiveHint"))


def error_text(result: CallToolResult, limit: int) -> str:
    """Return a refusal of the drive as the model gets it: code, sentence, hint, and details such as near matches."""
    details = (result.structuredContent or {}).get("details")
    return result_text(text_of(result), details or None, limit)
