"""Ask the planner once, after a step has failed for good, how to reach the rest in another way.

Finished steps stay done and are never planned again. Without an answer that can be used, the steps that need the failed
one are skipped, and the others go on.
"""

import logging
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from graph.agents.briefing import make_briefing
from graph.agents.surroundings_cache import SurroundingsCache
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.errors import ModelError, ModelOutputError
from graph.events.sending import emit
from graph.language import Language
from graph.limits.budget import Spending
from graph.links.filter import LinkFilter
from graph.messages.written import add_messages, link_filter_for, say
from graph.models.structured import ask_for
from graph.planning.advance import exchange_plan
from graph.planning.plan import ATTEMPTS, announce, refuse_wrong, request_of, system_of, with_whole_folders
from graph.planning.progress import changed_steps, merge_plans, views, without_dependents
from graph.planning.sentences import needs, revision
from graph.planning.shape import MAX_STEPS, RevisedPlan, make_steps, with_ids, with_waves
from graph.prompts import json_section
from graph.state import Plan, State, Step, Update, running_turn

logger = logging.getLogger(__name__)

RESULT_CHARACTERS: Final = 1_000
TASK: Final = (
    "A step of your plan has failed for good; `<plan_so_far>` tells what was done. Answer with the steps that are "
    "still to be done, in another way where the failed step needs it. Never repeat a completed step: depend on it by "
    "its id. Don't plan the failed step again as it was. With nothing sensible left to do, answer with no steps."
)


def make_revise(deps: GraphDependencies, surroundings: SurroundingsCache) -> Any:
    """Return the node."""
    read_briefing = make_briefing(deps, surroundings)

    async def revise(state: State, config: RunnableConfig, runtime: Runtime[RunContext]) -> Update:
        plan = state.get("plan")
        if plan is None:
            return {}

        def take(shared: Plan | None) -> Plan:
            return {**merge_plans(plan, shared), "status": "revising"}

        current = await exchange_plan(deps, config, state, take)
        language = running_turn(state)["language"]
        planner, spending = deps.model("planner", runtime), deps.spending("planner", runtime)
        briefing = await read_briefing(state, runtime)
        answer = await _revised(planner, state, briefing.sections, current, spending)
        if answer is None or not answer.steps:
            return briefing.mark({"plan": _cut(current, language), **spending.update})
        answer = answer.model_copy(update={"steps": with_whole_folders(answer.steps, briefing)})
        filtered = _filter_texts(answer, link_filter_for(state, deps.hosts))
        return briefing.mark(_update(current, filtered, language, spending))

    return revise


def _filter_texts(answer: RevisedPlan, link_filter: LinkFilter) -> RevisedPlan:
    """Return the answer with the texts for people filtered."""
    steps = [step.model_copy(update={"title": link_filter.clean(step.title)}) for step in answer.steps]
    return answer.model_copy(update={"why": link_filter.clean(answer.why), "steps": steps})


def _update(current: Plan, answer: RevisedPlan, language: Language, spending: Spending) -> Update:
    begun = [step for step in current["steps"] if step["status"] != "pending" or step.get("question")]
    completed_ids = _done(current)
    steps = [*begun, *make_steps(answer.steps, completed_ids)]
    plan = with_waves({**current, "steps": steps, "revision": current.get("revision", 0) + 1, "status": "running"})
    emit(
        {
            "type": "plan_revised",
            "plan_id": plan["plan_id"],
            "version": plan.get("version", 1),
            "why": answer.why,
            "steps": views(plan),
        }
    )
    view = say(revision(answer.why, language) + "\n\n")
    return {**add_messages([view], usage=dict(spending.usage)), "plan": plan}


def _cut(current: Plan, language: Language) -> Plan:
    """Return the plan without the steps that need one that failed."""
    plan: Plan = {**current, "revision": current.get("revision", 0) + 1, "status": "running"}
    for step in [step for step in plan["steps"] if step["status"] == "failed"]:
        plan = without_dependents(plan, step["id"], needs(step, language))
    for step in changed_steps(current, plan):
        announce(step)
    return plan


async def _revised(
    planner: BaseChatModel, state: State, briefing: Sequence[str], plan: Plan, spending: Spending
) -> RevisedPlan | None:
    """Ask for the remaining steps, once more if they are wrong; None if there is no answer that can be used."""
    so_far = json_section("plan_so_far", [_view(number, step, plan) for number, step in enumerate(plan["steps"], 1)])
    refused = ""
    for _ in range(ATTEMPTS):
        system = f"{system_of(briefing, so_far)}\n\n{TASK}{refused}"
        try:
            asked = [SystemMessage(system), HumanMessage(request_of(state).text)]
            return _checked(await ask_for(planner, RevisedPlan, asked, spending=spending), state, plan)
        except ModelOutputError as error:
            logger.warning("The revised plan was wrong: %s", error)
            refused = f"\n\nYour last answer was refused: {error.detail}"
        except ModelError as error:
            logger.warning("The plan could not be revised: %s", error)
            break
    return None


def _checked(answer: RevisedPlan, state: State, plan: Plan) -> RevisedPlan:
    room = MAX_STEPS * 2 - len(plan["steps"])
    if len(answer.steps) > room:
        raise ModelOutputError(f"at most {room} more steps")
    done = _done(plan)
    steps = with_ids(answer.steps, len(plan["steps"]) + 1)
    refuse_wrong(steps, state, list(done))
    completed = {(step["agent"], step["instruction"]) for step in plan["steps"] if step["status"] == "completed"}
    repeated = [step.id for step in steps if (step.agent, step.instruction) in completed]
    if repeated:
        raise ModelOutputError(f"step {repeated[0]} was done already")
    return answer.model_copy(update={"steps": steps})


def _done(plan: Plan) -> dict[str, str]:
    """Return the ids of the completed steps by the numbers that the planner knows them by."""
    return {str(number): step["id"] for number, step in enumerate(plan["steps"], 1) if step["status"] == "completed"}


def _view(number: int, step: Step, plan: Plan) -> dict[str, Any]:
    numbers = {other["id"]: str(index) for index, other in enumerate(plan["steps"], 1)}
    view: dict[str, Any] = {
        "id": str(number),
        "title": step["title"],
        "agent": step["agent"],
        "instruction": step["instruction"],
        "depends_on": [numbers[key] for key in step.get("depends_on", []) if key in numbers],
        "kind": step.get("kind", "act"),
        "folder": step.get("folder", ""),
        "status": step["status"],
    }
    said = step["result"] or step["error"]
    return {**view, "told": said[:RESULT_CHARACTERS]} if said else view
