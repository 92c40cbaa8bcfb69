"""Splits a request of several parts into steps, and starts the first."""

import logging
import re
from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from graph.context import GraphDependencies
from graph.errors import ModelError, ModelOutputError
from graph.events import TaskStepUpdateEvent, emit
from graph.models import ask_for
from graph.nodes.route import place_ids
from graph.prompts import json_section, load_prompt, section
from graph.state import AgentName, Plan, State, Step, StepStatus, Update, active_agent, running_turn

logger = logging.getLogger(__name__)

PROMPT: Final = load_prompt("plan")
MAX_STEPS: Final = 8
ATTEMPTS: Final = 2
TITLE_CHARACTERS: Final = 80

_CREATES_A_FILE: Final = re.compile(
    r"\b(?:create|make|write|save)\b.{0,24}\b(?:file|document)\b|(?:新建|创建).{0,8}(?:文件(?!夹)|文档)",
    re.IGNORECASE,
)


class PlannedStep(BaseModel):
    """One step of the plan."""

    title: str = Field(min_length=1, description="a few words for the person")
    agent: AgentName = Field(description="document_agent, drive_agent or search_agent")
    instruction: str = Field(min_length=1, description="everything the specialist needs to know")


class TaskPlan(BaseModel):
    """The steps that fulfil the request, in order."""

    steps: list[PlannedStep] = Field(min_length=1, max_length=MAX_STEPS)


def make_plan(deps: GraphDependencies) -> Any:
    """Return the node."""
    planner = deps.models["planner"]

    async def plan(state: State) -> Update:
        steps = await _planned(planner, state)
        made: Plan = {"plan_id": str(uuid4()), "steps": start(steps, 0, state)}
        emit(
            {
                "type": "task_plan",
                "plan_id": made["plan_id"],
                "steps": [
                    {"id": step["id"], "title": step["title"], "agent": step["agent"], "status": "pending"}
                    for step in made["steps"]
                ],
            }
        )
        announce(made["steps"][0])
        return {"plan": made}

    return plan


def start(steps: Sequence[Step], index: int, state: State) -> list[Step]:
    """Return the steps with the one at `index` in progress, once more if it was before."""
    begun = list(steps)
    last = state["messages"][-1].id
    attempts = begun[index]["attempts"] + 1
    begun[index] = {**begun[index], "status": "in-progress", "attempts": attempts, "after": last}
    return begun


def announce(step: Step) -> None:
    """Tell clients the step's status."""
    event: TaskStepUpdateEvent = {"type": "task_step_update", "step_id": step["id"], "status": step["status"]}
    if step["result"]:
        event["result"] = step["result"]
    if step["error"]:
        event["error"] = step["error"]
    emit(event)


async def _planned(planner: BaseChatModel, state: State) -> list[Step]:
    """Ask for a plan, once more if it is malformed; else the whole request is one step for the routed specialist."""
    request = next(message for message in reversed(state["messages"]) if isinstance(message, HumanMessage))
    system = _system(state)
    for _ in range(ATTEMPTS):
        try:
            plan = await ask_for(planner, TaskPlan, [SystemMessage(system), HumanMessage(request.text)])
            _check(plan, state)
        except ModelOutputError as error:
            logger.warning("The plan was malformed: %s", error)
            system = f"{_system(state)}\n\nYour last plan was refused: {error.detail}"
        except ModelError as error:
            logger.warning("Planning fell back to one step: %s", error)
            break
        else:
            return [_step(step.title, step.agent, step.instruction) for step in plan.steps]
    return [_step(request.text, active_agent(state), request.text)]


def _system(state: State) -> str:
    sections = [
        PROMPT,
        json_section("place", place_ids(state.get("place", {}))),
        section("language", running_turn(state)["language"]),
    ]
    return "\n\n".join(sections)


def _check(plan: TaskPlan, state: State) -> None:
    if not state.get("place", {}).get("file_id"):
        return
    for step in plan.steps:
        if step.agent != "search_agent" and _CREATES_A_FILE.search(step.instruction):
            raise ModelOutputError(f"in the open document no step may create a file: {step.title}")


def _step(title: str, agent: AgentName, instruction: str) -> Step:
    status: StepStatus = "pending"
    return {
        "id": str(uuid4()),
        "title": title[:TITLE_CHARACTERS],
        "agent": agent,
        "instruction": instruction,
        "status": status,
        "result": None,
        "error": None,
        "attempts": 0,
        "after": None,
    }
