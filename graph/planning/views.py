"""A plan as clients are told of it."""

from typing import Final

from graph.events import PlanEditedEvent, StepView
from graph.state import Plan, Step

PLAN_PAUSED: Final = "plan_paused"
"""The `type` of the interrupt in which a paused plan waits."""


def views(plan: Plan) -> list[StepView]:
    """Return the steps as they are announced."""
    return [view_of(step) for step in plan["steps"]]


def view_of(step: Step) -> StepView:
    """Return a step as it is announced."""
    return {
        "id": step["id"],
        "title": step["title"],
        "agent": step["agent"],
        "status": step["status"],
        "kind": step.get("kind", "act"),
        "depends_on": step.get("depends_on", []),
        "wave": step.get("wave", 1),
        "parallel": step.get("parallel", False),
    }


def edited_event(plan: Plan) -> PlanEditedEvent:
    """Return the event that tells of a person's changes."""
    return {
        "type": "plan_edited",
        "plan_id": plan["plan_id"],
        "version": plan.get("version", 1),
        "steps": views(plan),
    }
