"""Carry a plan on: end the step of a specialist that is done, begin the next one, or pause."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.events.sending import emit
from graph.language import Language
from graph.messages.grouping import Block, blocks_of
from graph.messages.written import add_messages, outcome_of, say
from graph.planning.plan import announce
from graph.planning.progress import (
    OPEN,
    PLAN_PAUSED,
    advance_plan,
    changed_steps,
    edited_event,
    merge_plans,
    views,
    waiting_for,
    with_step,
    without_dependents,
)
from graph.planning.sentences import TEXTS, closing, needs
from graph.planning.waiting import refuses, withhold_results
from graph.routing.handover import HANDOVER_NAMES, main_refusal
from graph.routing.questions import asks
from graph.servers.reasons import ServerUnavailableError
from graph.state import LimitReached, Plan, State, Step, StepStatus, Update, current_step, running_turn

ATTEMPTS: Final = 3
"""A step is begun at most so often: once, and twice more with the error of the time before."""
REVISIONS: Final = 1
_ENDS = frozenset({"done", "waiting", "stopped"})


def make_advance(_deps: GraphDependencies) -> Any:
    """Return the node."""

    async def advance(state: State) -> Update:
        plan, step = state.get("plan"), current_step(state)
        if reached := state.get("limit"):
            return _at_limit(state, reached)
        if plan is None or step is None:
            return {}
        status, text = outcome_of_step(state, step)
        final = refuses(text) or text.startswith(ServerUnavailableError.code)
        if status == "failed" and step["attempts"] < ATTEMPTS and not final:
            return {"plan": with_step(plan, {**step, "status": "pending", "error": text}), "failure": None}
        step = _with_refusal(state, step) if status == "skipped" else step
        following = _ended(plan, step, status, text, running_turn(state)["language"])
        for changed in changed_steps(plan, following):
            announce(changed)
        return {"plan": following, "failure": None}

    return advance


def wants_revision(plan: Plan) -> bool:
    """Say whether a step has failed for good, and the planner was not asked yet how to go on without it."""
    failed = any(step["status"] == "failed" for step in plan["steps"])
    going = plan.get("wanted", "run") != "stop" and plan.get("status") != "stopped"
    return failed and going and plan.get("revision", 0) < REVISIONS


def outcome_of_step(state: State, step: Step) -> tuple[StepStatus, str]:
    """Return how the running attempt ended, and its result or error.

    Failed: the model gave up, it said that it can't, or every call of its last round failed. Skipped: the person
    refused its action; they are not asked twice. Pending: it asks the person something.
    """
    failure = state.get("failure")
    if failure:
        return "failed", failure
    blocks = _of_attempt(state["messages"], step)
    said = next((block[0].text for block in reversed(blocks) if block[0].text), "")
    results = _last_results(blocks)
    outcomes = {outcome_of(result) for result in results}
    if "rejected" in outcomes:
        return "skipped", next(result.text for result in results if outcome_of(result) == "rejected")
    if _has_changed(blocks, state):
        return ("failed", results[-1].text) if outcomes == {"error"} else ("completed", said)
    if asks(said) and len(blocks[-1]) == 1:
        return "pending", said
    if outcomes == {"error"} or refuses(said):
        return "failed", results[-1].text if outcomes == {"error"} else said
    return "completed", said


def _with_refusal(state: State, step: Step) -> Step:
    """Note why the step was not allowed."""
    refusal = main_refusal(_last_results(_of_attempt(state["messages"], step)))
    return {**step, "refusal": refusal} if refusal else step


def _last_results(blocks: Sequence[Block]) -> list[ToolMessage]:
    return next(filter(None, map(_results_of, reversed(blocks))), [])


def _results_of(block: Block) -> list[ToolMessage]:
    """Return the results in the block, but those of a handover: the agent that got the step may still do it."""
    results = (message for message in block if isinstance(message, ToolMessage))
    return [message for message in results if message.name not in HANDOVER_NAMES]


def _has_changed(blocks: Sequence[Block], state: State) -> bool:
    """Say whether a call of the attempt changed the drive: a question or a regret after that is no refusal."""
    changed = {change["tool_call_id"] for change in running_turn(state)["changes"]}
    answered = (message for block in blocks for message in block if isinstance(message, ToolMessage))
    return any(message.tool_call_id in changed for message in answered)


def _of_attempt(messages: Sequence[AnyMessage], step: Step) -> list[Block]:
    after = next((index for index, message in enumerate(messages) if message.id == step["after"]), -1)
    return [block for block in blocks_of(messages[after + 1 :]) if isinstance(block[0], AIMessage)]


def _ended(plan: Plan, step: Step, status: StepStatus, text: str, language: Language) -> Plan:
    """Return the plan with the step ended; its dependents are skipped, unless the planner may find another way."""
    if status == "pending":
        return with_step(plan, {**step, "status": status, "question": text, "attempts": 0})
    done = status == "completed"
    ended: Step = {**step, "status": status, "result": text if done else None, "error": None if done else text}
    plan = with_step(plan, ended)
    if done or (status == "failed" and wants_revision(plan)):
        return plan
    return without_dependents(plan, step["id"], needs(ended, language)) if waiting_for(plan, step["id"]) else plan


def _at_limit(state: State, reached: LimitReached) -> Update:
    """End the plan too: there is no room in this turn for its other steps."""
    language = running_turn(state)["language"]
    update = add_messages([say(reached["message"])])
    plan = state.get("plan")
    if plan is None or plan.get("status") in {"done", "stopped"}:
        return update
    why = TEXTS.say("plan.limit", language)
    steps = [_given_up(step, why) for step in plan["steps"]]
    following: Plan = {**plan, "steps": steps}
    for changed in changed_steps(plan, following):
        announce(changed)
    return {**update, "plan": following}


def _given_up(step: Step, why: str) -> Step:
    if step["status"] not in OPEN:
        return step
    return {**step, "status": "failed" if step["status"] == "in-progress" else "skipped", "error": why}


def make_begin_step(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def begin_step(state: State, config: RunnableConfig, runtime: Runtime[RunContext]) -> Update:
        before = state.get("plan")
        if before is None:
            return {}
        plan = await withhold_results(before, state, deps, deps.user(runtime))
        last = state["messages"][-1].id

        def change(shared: Plan | None) -> Plan:
            return advance_plan(merge_plans(plan, shared), last)

        following = await exchange_plan(deps, config, state, change)
        _announce(plan, following)
        update: Update = {"plan": following, "failure": None}
        text = closing(following, running_turn(state)) if following.get("status") in _ENDS else ""
        return {**add_messages([say(text)]), **update} if text else update

    return begin_step


async def exchange_plan(deps: GraphDependencies, config: RunnableConfig, state: State, change: Any) -> Plan:
    """Return the plan that `change` makes of the copy that people edit; without a service, there is no such copy."""
    if deps.plans is None:
        return change(None)
    thread_id = str(config.get("configurable", {}).get("thread_id", ""))
    return await deps.plans.exchange(thread_id, running_turn(state)["run_id"], change)


def _announce(before: Plan, plan: Plan) -> None:
    was, now = before.get("status"), plan.get("status")
    plan_id, version = plan["plan_id"], plan.get("version", 1)
    if now == "paused" and was != "paused":
        emit({"type": "plan_paused", "plan_id": plan_id, "version": version})
    if was == "paused" and now != "paused":
        emit({"type": "plan_resumed", "plan_id": plan_id, "version": version})
    if before.get("version", 1) != version and _texts(before) != _texts(plan):
        emit(edited_event(plan))
    for step in changed_steps(before, plan):
        announce(step)


def _texts(plan: Plan) -> list[tuple[str, str, str]]:
    return [(step["id"], step["title"], step["instruction"]) for step in plan["steps"]]


async def pause(state: State) -> Update:
    """The node. It starts again from its top when it is resumed, so it only reads before the interrupt."""
    plan = state.get("plan")
    if plan is None:
        return {}
    answer = interrupt(
        {
            "type": PLAN_PAUSED,
            "plan_id": plan["plan_id"],
            "version": plan.get("version", 1),
            "steps": views(plan),
        }
    )
    command: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
    version = command.get("version")
    going: Plan = {**plan, "wanted": "stop" if command.get("action") == "stop" else "run"}
    return {"plan": {**going, "version": version} if isinstance(version, int) else going}
