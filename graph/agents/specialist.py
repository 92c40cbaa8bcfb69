"""The node that all specialists share: read the surroundings, ask the model, and hand on its calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.messages.tool import tool_call
from langgraph.runtime import Runtime

from graph.agents.authorship import foreign_sources
from graph.agents.person import read_moment
from graph.agents.surroundings import DriveReader, ReadCache, Surroundings, SurroundingsReader
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.errors import AgentError, ModelLengthError, ModelOutputError
from graph.events import delta_listener, emit
from graph.limits.budget import Spending
from graph.limits.enforcement import without_long_arguments
from graph.limits.limits import has_budget, limit_reached
from graph.link_filter import filter_answer
from graph.memory.facts import Fact
from graph.memory.last_plan import last_plan_section
from graph.memory.summaries import summary_section
from graph.memory.view import scale_after, tokens_of_tools, view_of, with_view
from graph.messages.grouping import AnyCall, call_ids, unanswered, used_call_ids
from graph.messages.steps import StepMessage
from graph.messages.written import add_messages, link_filter_for, with_own_ids
from graph.models.asking import ChatRunnable, ask, cut_notice, was_cut
from graph.prompts import json_section, section
from graph.routing.route import announce_route
from graph.state import (
    AgentName,
    Language,
    Plan,
    State,
    Step,
    Taint,
    Update,
    current_step,
    message_id_of,
    running_turn,
    said_last,
)
from graph.tools.box import LOCAL_NAMES, toolset
from graph.tools.local import Toolset
from graph.tools.memory import CHANGING_TOOLS, relevant_facts, stored_facts

ATTEMPTS: Final = 2
RESULT_CHARACTERS: Final = 2_000
DO_THE_STEP: Final = "Carry out this step of the plan now, and no other part of the request."
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A valid name of a function (OpenAI API, "create chat completion")."""
NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
NO_NAME: Final = "unknown"
LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True)
class Specialist:
    """A specialist: its prompt (beside the node, under its name), its tools, and the reader of its surroundings."""

    name: AgentName
    prompt: str
    tools: frozenset[str]
    read_surroundings: SurroundingsReader
    knows_last_run: bool = False


def make_specialist(specialist: Specialist, deps: GraphDependencies) -> Any:
    """Return the specialist's node."""
    seen_surroundings, seen_facts = ReadCache[Surroundings](deps.clock), ReadCache[list[Fact]](deps.clock)
    bound = WeakKeyDictionary[Toolbox, tuple[ChatRunnable, int]]()

    def model_for(tools: Toolset) -> tuple[ChatRunnable, int]:
        """Return the model with the specialist's tools, and how many tokens their descriptions take."""
        toolbox = tools.context.toolbox
        if toolbox not in bound:
            offered = [tool for name, tool in tools.tools.items() if name in specialist.tools | LOCAL_NAMES]
            bound[toolbox] = deps.models["agent"].bind_tools(offered), tokens_of_tools(offered)
        return bound[toolbox]

    async def consult(state: State, runtime: Runtime[RunContext]) -> Update:
        user, tools = deps.user(runtime), await toolset(deps, runtime)
        reader = DriveReader(tools.context.toolbox, state.get("place", {}), _query(state))
        key = (user, *_key(state))
        seen = await seen_surroundings.get(key, lambda: specialist.read_surroundings(reader))
        stored = await seen_facts.get((key, _facts_touched(state)), lambda: stored_facts(tools.context))
        facts = await relevant_facts(tools.context, stored, reader.query)
        model, size = model_for(tools)
        toolbox = tools.context.toolbox
        moment = await read_moment(state, toolbox, user, deps.clock)
        sections = _sections(specialist, seen, state, facts, moment)
        result_store = deps.result_store(runtime)
        view = await view_of(state, sections, deps.settings, result_store, size, toolbox, _step_message(state))
        spending = Spending(estimates=has_budget(deps.settings))
        answer = await _answer(model, view.messages, spending)
        scale = scale_after(state, view, answer)
        answer = without_long_arguments(answer, deps.settings.max_argument_characters)
        answer = filter_answer(answer, link_filter_for(state, deps.hosts))
        answer = _with_notice(answer, running_turn(state)["language"])
        taints = await foreign_sources(seen.reads, user, runtime.store)
        return {
            **_update(with_view(answer, view, _of_others(taints)), dict(spending.usage), state, taints),
            "calls": [],
            "limit": None,
            "token_scale": scale,
        }

    async def run(state: State, runtime: Runtime[RunContext]) -> Update:
        if unanswered(state["messages"]):
            return {}
        if _begins_turn(state):
            announce_route(state.get("route"))
        if reached := limit_reached(state, deps.settings):
            return {"limit": reached}
        try:
            return await consult(state, runtime)
        except AgentError as failure:
            error = failure.in_language(running_turn(state)["language"])
            if not (error.retryable and current_step(state)):
                raise error from failure
            return {"failure": error.sentence}

    return run


def _begins_turn(state: State) -> bool:
    return not state.get("plan") and state["messages"][-1].id == message_id_of(running_turn(state))


async def _answer(model: ChatRunnable, messages: Sequence[AnyMessage], spending: Spending) -> AIMessage:
    """Ask, once more if the answer is empty; count what was used for both."""
    for _ in range(ATTEMPTS):
        answer = await ask(model, [sendable(message) for message in messages], said=delta_listener())
        spending.add(answer, messages)
        if answer.text.strip() or call_ids(answer):
            return answer
        if was_cut(answer):
            raise ModelLengthError("the limit was reached before the answer began")
    raise ModelOutputError("the answer was empty twice")


def _with_notice(answer: AIMessage, language: Language) -> AIMessage:
    """Tell the person if the answer was cut off. A call that was cut goes back to the model as broken."""
    notice, key = cut_notice(answer, language), answer.id or str(uuid4())
    if call_ids(answer) or not notice:
        return answer
    emit({"type": "content", "text": notice, "message_id": key})
    content = [*answer.content, {"type": "text", "text": notice}] if isinstance(answer.content, list) else ""
    return answer.model_copy(update={"id": key, "content": content or f"{answer.content}{notice}"})


def _update(answer: AIMessage, usage: dict[str, int], state: State, taints: Sequence[Taint]) -> Update:
    taken = used_call_ids(state["messages"], call_ids(answer))
    answer = with_own_ids(answer, taken)
    rounds = state.get("rounds", 0) + bool(call_ids(answer))
    update = add_messages([answer], usage=usage, tainted=bool(taints))
    named = {"taint": taints[0]} if taints else {}
    return {**update, **named, "rounds": rounds, "failure": None}


def _of_others(taints: Sequence[Taint]) -> set[str]:
    return {taint["file_id"] for taint in taints if taint["origin"] == "shared" and taint["file_id"]}


def _key(state: State) -> tuple[Any, ...]:
    turn, step = running_turn(state), current_step(state)
    place = state.get("place", {})
    step_id = step["id"] if step else None
    return place.get("file_id"), place.get("folder_id"), turn["run_id"], step_id, len(turn["changes"])


def _facts_touched(state: State) -> int:
    """Return how often the turn changed what is remembered so far, or tried to."""
    begun = message_id_of(running_turn(state))
    of_turn = takewhile(lambda message: message.id != begun, reversed(state["messages"]))
    return sum(isinstance(message, ToolMessage) and message.name in CHANGING_TOOLS for message in of_turn)


def _query(state: State) -> str:
    step = current_step(state)
    if step:
        return step["instruction"]
    return said_last(state)


def _sections(specialist: Specialist, seen: Surroundings, state: State, facts: Sequence[str], moment: str) -> list[str]:
    """Return the sections, those that stay the same first: services cache what a request begins with."""
    last_run = state.get("last_run_id")
    sections = [
        specialist.prompt,
        *facts,
        summary_section(state.get("summaries") or []),
        *seen.sections,
        seen.beginning,
        last_plan_section(state),
        section("last_run", last_run) if last_run and specialist.knows_last_run else "",
        section("language", running_turn(state)["language"]),
        moment,
    ]
    return [part for part in sections if part]


def _step_message(state: State) -> StepMessage | None:
    """Return the step that is to be carried out; the person's whole request stands before it."""
    plan, step = state.get("plan"), current_step(state)
    return StepMessage(step["after"] or "", "\n\n".join(_of_plan(plan, step))) if plan and step else None


def _of_plan(plan: Plan, step: Step) -> list[str]:
    steps = plan["steps"]
    shown: dict[str, Any] = {
        "title": step["title"],
        "instruction": step["instruction"],
        "number": steps.index(step) + 1,
        "of": len(steps),
    }
    if step["error"]:
        shown["failed_before_with"] = step["error"]
    earlier = [_step_view(done) for done in steps[: steps.index(step)]]
    told = [json_section("earlier_results", earlier)] if earlier else []
    return [*told, json_section("step", shown), DO_THE_STEP]


def _step_view(done: Step) -> dict[str, str]:
    result = done["result"] or done["error"] or ""
    return {"title": done["title"], "status": done["status"], "result": result[:RESULT_CHARACTERS]}


def sendable(message: AnyMessage) -> AnyMessage:
    """Return the message with every call well formed; a broken call goes out without arguments."""
    if not isinstance(message, AIMessage) or _is_sendable(message):
        return message
    calls = [_renamed(call) for call in message.tool_calls]
    emptied = [_renamed({**call, "args": {}}) for call in message.invalid_tool_calls]
    return message.model_copy(update={"tool_calls": [*calls, *emptied], "invalid_tool_calls": []})


def _is_sendable(message: AIMessage) -> bool:
    return not message.invalid_tool_calls and all(NAME.fullmatch(call["name"]) for call in message.tool_calls)


def _renamed(call: AnyCall | dict[str, object]) -> ToolCall:
    name = NOT_IN_A_NAME.sub("_", str(call["name"] or ""))[:LONGEST_NAME].strip("_") or NO_NAME
    args = call["args"]
    return tool_call(name=name, args=args if isinstance(args, dict) else {}, id=str(call["id"]))
