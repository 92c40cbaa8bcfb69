"""A real LangGraph graph, small, with all that the service has to deal with: text, events, a question, a failure.

What it does follows from the message: `say WORDS` answers with the words; `share`, `write` and `delete` propose a call
of that risk and ask; `two` proposes two calls; `fail` fails; `slow WORDS` waits at the gate after the first word.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict, cast
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime  # noqa: TC002 - langgraph reads the annotation
from langgraph.types import interrupt

from api.branching import BranchPoint, find_branch_point, state_at, store_root
from api.storage.cached_saver import CachedSaver, NewestCheckpoint
from graph.errors import explain
from graph.events.sending import delta_listener, emit
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter
from graph.models.asking import ask
from tests.api.fakes import Gate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from langgraph.checkpoint.base import BaseCheckpointSaver

    from api.drive import Principal
    from graph.events.definitions import GraphEvent
    from graph.policy.grants import Grant
    from graph.state import Mode
    from tests.api.fakes import ManualClock, MemoryDrive

RISKS = ("share", "write", "delete")
TTL_SECONDS = {"attended": 300, "unattended": 7 * 86_400}


class SmallState(TypedDict, total=False):
    messages: Required[Annotated[list[AnyMessage], add_messages]]
    place: dict[str, Any]
    turn: dict[str, Any]
    question: Required[dict[str, Any]]
    answer: Required[dict[str, Any]]


@dataclass(frozen=True)
class SmallContext:
    user_id: str
    email: str
    scopes: tuple[str, ...]
    mode: str = "attended"


class WordModel(BaseChatModel):
    """Streams its words one by one."""

    words: list[str]
    gate: Any = None

    @property
    def _llm_type(self) -> str:
        return "words"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        del messages, stop, run_manager, kwargs
        return ChatResult(generations=[ChatGeneration(message=AIMessage(" ".join(self.words)))])

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        del messages, stop, run_manager, kwargs
        for number, word in enumerate(self.words):
            if self.gate and number == 1:
                await self.gate.wait()
            space = " " if number + 1 < len(self.words) else ""
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word}{space}"))


class SmallGraph:
    """The graph and its `Assistant`."""

    memory: Any = None

    def __init__(self, drive: MemoryDrive, saver: BaseCheckpointSaver[Any], clock: ManualClock | None = None) -> None:
        self.drive = drive
        self.saver = saver
        self.clock = clock
        self.given: dict[str, list[Grant]] = {}
        self.gate = Gate()
        self.graph: Any = self._build().compile(checkpointer=saver)

    def _build(self) -> Any:
        builder = StateGraph(SmallState, context_schema=SmallContext)
        builder.add_node("agent", self._agent)
        builder.add_node("ask", self._ask)
        builder.add_node("act", self._act)
        builder.add_edge(START, "agent")
        builder.add_conditional_edges("agent", _after_agent, ["ask", END])
        builder.add_edge("ask", "act")
        builder.add_edge("act", "agent")
        return builder

    async def _agent(self, state: SmallState, runtime: Runtime[SmallContext]) -> dict[str, Any]:
        last = state["messages"][-1]
        if isinstance(last, ToolMessage):
            done = [m.tool_call_id for m in state["messages"] if isinstance(m, ToolMessage) and m.text == "done"]
            said = await self._say(["done"])
            return {**said, "turn": {**said["turn"], "changes": done}}
        assert isinstance(last, HumanMessage)
        _tell(type="route_decision", agent="agent", confidence=1.0, reason="", method="pattern")
        kind, _, rest = str(last.content).partition(" ")
        if kind in {*RISKS, "two"}:
            return self._propose(kind, str(last.id), TTL_SECONDS[runtime.context.mode])
        if kind == "fail":
            raise RuntimeError("secret /etc/path")
        return await self._say(rest.split(" "), gate=self.gate if kind == "slow" else None)

    async def _say(self, words: list[str], gate: Gate | None = None) -> dict[str, Any]:
        answer = await ask(WordModel(words=words, gate=gate), [], said=delta_listener())
        return {"messages": [answer], "turn": {"usage": {"input_tokens": 1, "output_tokens": len(words)}}}

    def _propose(self, kind: str, run_id: str, ttl_seconds: int) -> dict[str, Any]:
        risks = ["write", "share"] if kind == "two" else [kind]
        calls = [{"id": f"{run_id[:8]}-{n}", "name": f"{risk}_item", "args": {"n": 1}} for n, risk in enumerate(risks)]
        for call in calls:
            _tell(type="tool_call_start", tool_call_id=call["id"], name=call["name"], args=call["args"])
        now = self.clock.now() if self.clock else datetime.now().astimezone()
        question = {
            "approval_id": str(uuid4()),
            "expires_at": (now + timedelta(seconds=ttl_seconds)).isoformat(),
            "action_requests": [{"name": call["name"], "args": call["args"], "description": ""} for call in calls],
            "review_configs": [
                {"action_name": call["name"], "allowed_decisions": ["approve", "edit", "reject", "respond"]}
                for call in calls
            ],
            "actions": [_action(call, risk) for call, risk in zip(calls, risks, strict=True)],
        }
        return {"messages": [AIMessage("", tool_calls=calls)], "question": question}

    async def _ask(self, state: SmallState) -> dict[str, Any]:
        question = state["question"]
        answer = interrupt(question)
        told = [{"tool_call_id": d["tool_call_id"], "type": d["type"]} for d in answer["decisions"]]
        _tell(type="approval_resolved", approval_id=question["approval_id"], decisions=told, status="resolved")
        return {"answer": answer}

    async def _act(self, state: SmallState, runtime: Runtime[SmallContext]) -> dict[str, Any]:
        assert runtime.context.scopes
        run_id = next(str(m.id) for m in reversed(state["messages"]) if isinstance(m, HumanMessage))
        decisions = {d["tool_call_id"]: d for d in state["answer"]["decisions"]}
        messages = [self._run(call, decisions.get(call["id"]), run_id) for call in _calls(state)]
        if "wait" in str(next(m.content for m in reversed(state["messages"]) if isinstance(m, HumanMessage))):
            await self.gate.wait()
        return {"messages": messages}

    def _run(self, call: Any, decision: dict[str, Any] | None, run_id: str) -> ToolMessage:
        allowed = decision is not None and decision["type"] in {"approve", "edit"}
        if decision and allowed:
            self.drive.do(call["id"], run_id, call["name"], decision.get("args") or call["args"])
        status = "done" if allowed else "rejected"
        named = {"tool_call_id": call["id"], "name": call["name"]}
        _tell(type="tool_call_end", **named, status=status, result=status, duration_ms=1)
        return ToolMessage(status, tool_call_id=call["id"], name=call["name"])

    async def keep_incomplete(self, thread_id: str, answers: Sequence[AIMessage]) -> None:
        config = {"configurable": {"thread_id": thread_id}}
        await self.graph.aupdate_state(config, {"messages": [*answers]}, as_node="agent")

    def context(
        self,
        user_id: str,
        email: str,
        scopes: Sequence[str],
        mode: Mode,
        run_id: str,
        *,
        time_zone: str = "",
        model: str = "",
        assistant_id: str = "",
    ) -> SmallContext:
        del run_id, time_zone, model, assistant_id
        return SmallContext(user_id, email, tuple(scopes), mode)

    def allows_model(self, name: str) -> bool:
        return name == "small"

    async def drive_tools(self, caller: Principal) -> frozenset[str]:
        del caller
        return frozenset({"share_item", "write_item"})

    def link_filter(self, *messages: str) -> LinkFilter:
        return LinkFilter(HostAllowlist(["drive.example.com"]).with_addresses_in(*messages))

    def hand_over(self, run_id: str, tool_call_id: str, approval_id: str, content: Mapping[str, Any]) -> None:
        """Do nothing: no call of it waits for an answer."""

    def end_calls(self, run_id: str) -> None:
        """Do nothing: it calls nobody's own servers."""

    def expired(self, payload: Mapping[str, Any]) -> Any:
        return {"decisions": [{"tool_call_id": a["tool_call_id"], "type": "reject"} for a in payload["actions"]]}

    def check_edit(self, payload: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
        del payload, tool_call_id
        return None if isinstance(args.get("n"), int) else "n has to be a number."

    def check_grant(self, payload: Mapping[str, Any], tool_call_id: str, grant: Mapping[str, Any]) -> str | None:
        del grant
        action = next(action for action in payload["actions"] if action["tool_call_id"] == tool_call_id)
        return None if action["risk"] == "write" else "it is asked about each time."

    async def items_of_others(self, thread_id: str, run_id: str | None = None, at: str | None = None) -> set[str]:
        del thread_id, run_id, at
        return set()

    async def state(self, thread_id: str, at: str | None = None) -> Mapping[str, Any]:
        return await state_at(self.graph, thread_id, at)

    async def branch_point(self, thread_id: str, run_id: str) -> BranchPoint:
        return await find_branch_point(self.saver, thread_id, run_id)

    def newest_checkpoint(self, thread_id: str) -> NewestCheckpoint | None:
        return self.saver.newest(thread_id) if isinstance(self.saver, CachedSaver) else None

    async def new_root(self, thread_id: str) -> str:
        return await store_root(self.saver, thread_id)

    async def message_ids(self, thread_id: str, run_id: str) -> set[str]:
        del run_id
        state = await self.graph.aget_state({"configurable": {"thread_id": thread_id}})
        return {str(message.id) for message in state.values["messages"]}

    async def grants(self, user_id: str) -> list[Grant]:
        return self.given.get(user_id, [])

    async def withdraw_grant(self, user_id: str, grant_id: str) -> bool:
        known = self.given.get(user_id, [])
        self.given[user_id] = [grant for grant in known if grant.grant_id != grant_id]
        return len(self.given[user_id]) < len(known)

    def failure(self, error: Exception) -> tuple[str, str, bool]:
        return explain(error)

    async def forget(self, user_id: str, thread_id: str) -> None:
        del user_id
        await self.saver.adelete_thread(thread_id)

    async def check(self) -> None:
        await self.saver.aget_tuple({"configurable": {"thread_id": ""}})


def _tell(**event: Any) -> None:
    emit(cast("GraphEvent", event))


def _after_agent(state: SmallState) -> str:
    return "ask" if _calls(state) else END


def _calls(state: SmallState) -> list[Any]:
    last = next((m for m in reversed(state["messages"]) if isinstance(m, AIMessage)), None)
    return last.tool_calls if last else []


def _action(call: dict[str, Any], risk: str) -> dict[str, Any]:
    named = {"tool_call_id": call["id"], "name": call["name"], "args": call["args"]}
    return {**named, "risk": risk, "reason": "It matters.", "preview": f"{risk} it", "reversible": True, "etag": None}
