"""The node that all specialists share: look around, ask the model, and hand on what it wants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from graph.connections import Toolbox
from graph.context import GraphDependencies, RunContext
from graph.errors import AgentError, ModelOutputError
from graph.memory import call_ids, unanswered, window
from graph.models import ChatRunnable, ask
from graph.nodes.messages import with_own_ids, written
from graph.nodes.surroundings import Look, Looking, Remembered, Surroundings
from graph.prompts import json_section, section
from graph.state import AgentName, Plan, State, Step, Update, current_step, running_turn

ATTEMPTS: Final = 2
RESULT_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Specialist:
    """What makes a specialist: its prompt (beside the node, under its name), its tools, and what it looks at first."""

    name: AgentName
    prompt: str
    tools: frozenset[str]
    look_around: Looking
    knows_last_run: bool = False


def make_specialist(specialist: Specialist, deps: GraphDependencies) -> Any:
    """Return the specialist's node."""
    remembered = Remembered(specialist.look_around, deps.clock)
    bound: WeakKeyDictionary[Toolbox, ChatRunnable] = WeakKeyDictionary()

    def model_for(toolbox: Toolbox) -> ChatRunnable:
        if toolbox not in bound:
            tools = [tool for name, tool in toolbox.tools.items() if name in specialist.tools]
            bound[toolbox] = deps.models["agent"].bind_tools(tools)
        return bound[toolbox]

    async def consult(state: State, user: RunContext) -> Update:
        toolbox = await deps.connections.toolbox(user)
        seen = await remembered.at((user, *_key(state)), Look(toolbox, state.get("place", {}), _query(state)))
        system = SystemMessage(_system(specialist, seen, state))
        view = window(state["messages"], state.get("window_start"), deps.settings.window_characters)
        return _update(await _answer(model_for(toolbox), [system, *view]), state, seen)

    async def run(state: State, runtime: Runtime[RunContext]) -> Update:
        if is_at_limit(state, deps) or unanswered(state["messages"]):
            return {}
        try:
            return await consult(state, deps.user(runtime))
        except AgentError as error:
            error.language = running_turn(state)["language"]
            if not (error.retryable and current_step(state)):
                raise
            return {"failure": error.sentence}

    return run


def is_at_limit(state: State, deps: GraphDependencies) -> bool:
    """Say whether the turn has used all its rounds of tool calls."""
    return state.get("rounds", 0) >= deps.settings.max_tool_rounds


async def _answer(model: ChatRunnable, messages: Sequence[AnyMessage]) -> AIMessage:
    """Ask; once more if the answer is empty."""
    for _ in range(ATTEMPTS):
        answer = await ask(model, messages)
        if answer.text.strip() or call_ids(answer):
            return answer
    raise ModelOutputError("the answer was empty twice")


def _update(answer: AIMessage, state: State, seen: Surroundings) -> Update:
    taken = {key for message in state["messages"] if isinstance(message, AIMessage) for key in call_ids(message)}
    answer = with_own_ids(answer, taken)
    rounds = state.get("rounds", 0) + bool(call_ids(answer))
    update = written([answer], usage=_usage(answer), tainted=seen.tainted)
    return {**update, "rounds": rounds, "failure": None}


def _usage(answer: AIMessage) -> dict[str, int]:
    usage: Mapping[str, Any] = answer.usage_metadata or {}
    return {key: int(usage[key]) for key in ("input_tokens", "output_tokens", "total_tokens") if key in usage}


def _key(state: State) -> tuple[Any, ...]:
    turn, step = running_turn(state), current_step(state)
    place = state.get("place", {})
    step_id = step["id"] if step else None
    return place.get("file_id"), place.get("folder_id"), turn["run_id"], step_id, len(turn["changes"])


def _query(state: State) -> str:
    step = current_step(state)
    if step:
        return step["instruction"]
    return next(message.text for message in reversed(state["messages"]) if isinstance(message, HumanMessage))


def _system(specialist: Specialist, seen: Surroundings, state: State) -> str:
    plan, step = state.get("plan"), current_step(state)
    summary, last_run = state.get("summary"), state.get("last_run_id")
    sections = [
        specialist.prompt,
        section("summary", summary) if summary else "",
        *seen.sections,
        *(_of_plan(plan, step) if plan and step else ()),
        section("last_run", last_run) if last_run and specialist.knows_last_run else "",
        section("language", running_turn(state)["language"]),
    ]
    return "\n\n".join(filter(None, sections))


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
    earlier = [_told(done) for done in steps[: steps.index(step)]]
    return [json_section("step", shown), *([json_section("earlier_results", earlier)] if earlier else [])]


def _told(done: Step) -> dict[str, str]:
    result = done["result"] or done["error"] or ""
    return {"title": done["title"], "status": done["status"], "result": result[:RESULT_CHARACTERS]}
