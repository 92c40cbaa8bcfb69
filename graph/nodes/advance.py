"""After a specialist has nothing more to call: marks the step and starts the next one, or ends the turn."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from graph.context import GraphDependencies
from graph.gateway.limits import rounds_over
from graph.memory import Block, blocks_of
from graph.nodes.messages import outcome_of, say, written
from graph.nodes.plan import announce, start
from graph.nodes.specialist import is_at_limit
from graph.state import Language, Plan, State, Step, StepStatus, Update, current_step, running_turn

ATTEMPTS: Final = 2
TEXTS: Final[Mapping[str, Mapping[Language, str]]] = {
    "limit": {"en": "The turn ran out of rounds.", "zh": "本轮的工具调用次数已用完。"},
    "failed": {"en": "The step “{title}” failed: {error}", "zh": "步骤“{title}”失败：{error}"},
}


def make_advance(deps: GraphDependencies) -> Any:
    """Return the node."""

    async def advance(state: State) -> Update:
        plan, step = state.get("plan"), current_step(state)
        if is_at_limit(state, deps):
            return _stopped(state, deps.settings.max_tool_rounds)
        if plan is None or step is None:
            return {}
        status, told = outcome_of_step(state, step)
        if status == "failed" and step["attempts"] < ATTEMPTS:
            again = _with(plan, {**step, "error": told})
            return _begun(state, again, again["steps"].index({**step, "error": told}))
        return _ended(state, plan, step, status, told)

    return advance


def outcome_of_step(state: State, step: Step) -> tuple[StepStatus, str]:
    """Return how the running attempt ended, and its result or error.

    Failed: the model gave up, or every call of its last round failed. Skipped: the person rejected what it wanted; they
    are not asked twice.
    """
    failure = state.get("failure")
    if failure:
        return "failed", failure
    blocks = _of_attempt(state["messages"], step)
    said = next((block[0].text for block in reversed(blocks) if block[0].text), "")
    results = next(
        ([m for m in block if isinstance(m, ToolMessage)] for block in reversed(blocks) if len(block) > 1), []
    )
    outcomes = {outcome_of(result) for result in results}
    if "rejected" in outcomes:
        return "skipped", next(result.text for result in results if outcome_of(result) == "rejected")
    if outcomes == {"error"}:
        return "failed", results[-1].text
    return "completed", said


def _of_attempt(messages: Sequence[AnyMessage], step: Step) -> list[Block]:
    after = next((index for index, message in enumerate(messages) if message.id == step["after"]), -1)
    return [block for block in blocks_of(messages[after + 1 :]) if isinstance(block[0], AIMessage)]


def _ended(state: State, plan: Plan, step: Step, status: StepStatus, told: str) -> Update:
    done = status == "completed"
    ended: Step = {**step, "status": status, "result": told if done else None, "error": None if done else told}
    announce(ended)
    plan = _with(plan, ended)
    following = next((index for index, other in enumerate(plan["steps"]) if other["status"] == "pending"), None)
    if following is None:
        return {**_closing(state, plan), "plan": plan, "failure": None}
    return _begun(state, plan, following)


def _begun(state: State, plan: Plan, index: int) -> Update:
    steps = start(plan["steps"], index, state)
    announce(steps[index])
    return {"plan": {**plan, "steps": steps}, "failure": None}


def _closing(state: State, plan: Plan) -> Update:
    """Say which steps failed: their specialists may have had no chance to."""
    language = running_turn(state)["language"]
    failed = [step for step in plan["steps"] if step["status"] == "failed"]
    lines = [TEXTS["failed"][language].format(title=step["title"], error=step["error"]) for step in failed]
    return written([say("\n".join(lines))]) if lines else {}


def _stopped(state: State, rounds: int) -> Update:
    language = running_turn(state)["language"]
    update = written([say(rounds_over(rounds, language))])
    plan, step = state.get("plan"), current_step(state)
    if plan is None or step is None:
        return update
    for other in plan["steps"]:
        if other["status"] in {"pending", "in-progress"}:
            status: StepStatus = "failed" if other is step else "skipped"
            ended: Step = {**other, "status": status, "error": TEXTS["limit"][language]}
            announce(ended)
            plan = _with(plan, ended)
    return {**update, "plan": plan}


def _with(plan: Plan, changed: Step) -> Plan:
    return {**plan, "steps": [changed if step["id"] == changed["id"] else step for step in plan["steps"]]}
