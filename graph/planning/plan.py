"""Splits a request of several parts into steps, and checks them before anything is begun."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from graph.agents.briefing import Briefing, make_briefing
from graph.agents.surroundings_cache import SurroundingsCache
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.errors import ModelError, ModelOutputError
from graph.events.sending import emit
from graph.limits.budget import Spending
from graph.messages.written import link_filter_for
from graph.models.structured import ask_for
from graph.planning.abilities import problems_of_abilities
from graph.planning.agree import proposal_for
from graph.planning.progress import views
from graph.planning.shape import (
    MAX_STEPS_IN_DOCUMENT,
    PlannedStep,
    ProposedBounds,
    TaskPlan,
    make_steps,
    new_step,
    problems_of_shape,
    with_ids,
    with_waves,
)
from graph.prompts import load_prompt
from graph.routing.route import announce_route, begins_turn
from graph.state import State, Step, Update, active_agent

if TYPE_CHECKING:
    from graph.events.plans import TaskPlanEvent, TaskStepUpdateEvent

logger = logging.getLogger(__name__)

PROMPT: Final = load_prompt("planning/plan")
ATTEMPTS: Final = 2


def make_plan(deps: GraphDependencies, surroundings: SurroundingsCache) -> Any:
    """Return the node."""
    read_briefing = make_briefing(deps, surroundings)

    async def plan(state: State, runtime: Runtime[RunContext]) -> Update:
        if begins_turn(state):
            announce_route(state.get("route"))
        link_filter = link_filter_for(state, deps.hosts)
        planner, spending = deps.model("planner", runtime), deps.spending("planner", runtime)
        briefing = await read_briefing(state, runtime)
        planned, bounds = await _planned(planner, state, briefing, spending)
        steps: list[Step] = [{**step, "title": link_filter.clean(step["title"])} for step in planned]
        made = with_waves({"plan_id": str(uuid4()), "steps": steps, "version": 1, "revision": 0, "wanted": "run"})
        if attachments := state.get("place", {}).get("attachments"):
            made["attachments"] = attachments
        made["proposal"] = await proposal_for(made, bounds, state, deps, runtime)
        event: TaskPlanEvent = {
            "type": "task_plan",
            "plan_id": made["plan_id"],
            "steps": views(made),
            "version": 1,
        }
        if made["proposal"]:
            event["bounds"] = made["proposal"]["call"]["args"]
        emit(event)
        return briefing.mark({"plan": made, **spending.update})

    return plan


def announce(step: Step) -> None:
    """Tell clients the step's status."""
    event: TaskStepUpdateEvent = {"type": "task_step_update", "step_id": step["id"], "status": step["status"]}
    if step["result"]:
        event["result"] = step["result"]
    if question := step.get("question"):
        event["question"] = question
    if step["error"]:
        event["error"] = step["error"]
    emit(event)


def request_of(state: State) -> HumanMessage:
    """Return the person's request of this turn."""
    return next(message for message in reversed(state["messages"]) if isinstance(message, HumanMessage))


def system_of(briefing: Sequence[str], *more: str) -> str:
    """Return the planner's system message; `more` are further sections."""
    return "\n\n".join([PROMPT, *more, *briefing])


def refuse_wrong(steps: Sequence[PlannedStep], state: State, done: Sequence[str] = ()) -> None:
    """Raise `ModelOutputError` with all that is wrong with the steps; `done` are ids of completed ones."""
    in_document = bool(state.get("place", {}).get("file_id"))
    problems = [*problems_of_shape(steps, done), *problems_of_abilities(steps, in_document=in_document)]
    if in_document and len(steps) + len(done) > MAX_STEPS_IN_DOCUMENT:
        problems.append(f"in the open document a plan has at most {MAX_STEPS_IN_DOCUMENT} steps")
    if problems:
        raise ModelOutputError("; ".join(problems))


def with_whole_folders(steps: Sequence[PlannedStep], briefing: Briefing) -> list[PlannedStep]:
    """Return the steps with whole ids of folders: the briefing has short ones."""
    return [step.model_copy(update={"folder": briefing.ids.whole(step.folder)}) for step in steps]


def _with_whole_ids(bounds: ProposedBounds | None, briefing: Briefing) -> ProposedBounds | None:
    return bounds and bounds.model_copy(update={"folders": [*map(briefing.ids.whole, bounds.folders)]})


async def _planned(
    planner: BaseChatModel, state: State, briefing: Briefing, spending: Spending
) -> tuple[list[Step], ProposedBounds | None]:
    """Ask for a plan and its bounds, once more if it is wrong; else all of it is one step for the routed specialist."""
    request = request_of(state)
    system = system_of(briefing.sections)
    for _ in range(ATTEMPTS):
        try:
            asked = [SystemMessage(system), HumanMessage(request.text)]
            plan = await ask_for(planner, TaskPlan, asked, spending=spending)
            steps = with_ids(with_whole_folders(plan.steps, briefing))
            refuse_wrong(steps, state)
        except ModelOutputError as error:
            logger.warning("The plan was wrong: %s", error)
            system = f"{system_of(briefing.sections)}\n\nYour last plan was refused: {error.detail}"
        except ModelError as error:
            logger.warning("Planning fell back to one step: %s", error)
            break
        else:
            return make_steps(steps), _with_whole_ids(plan.bounds, briefing)
    return [new_step(str(uuid4()), request.text, active_agent(state), request.text)], None
