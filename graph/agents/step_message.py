"""The message that asks a specialist for a plan's step, with the results of the steps before it."""

from collections.abc import Sequence
from typing import Any, Final

from graph.drive.connections import Toolbox
from graph.messages.step_items import step_items
from graph.messages.steps import StepMessage
from graph.prompts import json_section
from graph.state import Plan, State, Step, current_step

RESULT_CHARACTERS: Final = 2_000
DO_THE_STEP: Final = (
    "Carry out this step of the plan now, and no other part of the request. `<earlier_results>`, if it is there, has"
    " what came before it, with the items that were changed and found: act on those. Give in your answer the names and"
    " paths that later steps will need."
)


def step_message(state: State, toolbox: Toolbox) -> StepMessage | None:
    """Return the step that is to be carried out; the person's whole request stands before it."""
    plan, step = state.get("plan"), current_step(state)
    text = "\n\n".join(_of_plan(plan, step, state, toolbox)) if plan and step else ""
    return StepMessage(step["after"] or "", text) if step and text else None


def _of_plan(plan: Plan, step: Step, state: State, toolbox: Toolbox) -> list[str]:
    steps = plan["steps"]
    shown: dict[str, Any] = {
        "title": step["title"],
        "instruction": step["instruction"],
        "number": steps.index(step) + 1,
        "of": len(steps),
    }
    if step["error"]:
        shown["failed_before_with"] = step["error"]
    earlier = _earlier_results(steps[: steps.index(step) + 1], state, toolbox)
    told = [json_section("earlier_results", earlier)] if earlier else []
    return [*told, json_section("step", shown), DO_THE_STEP]


def _earlier_results(steps: Sequence[Step], state: State, toolbox: Toolbox) -> list[dict[str, Any]]:
    """Return the results of the steps before the last of these: their words, and the items they found and changed."""

    def changes(name: str) -> bool:
        rule = toolbox.facts_of(name).rule
        return rule is not None and rule.changes

    items = step_items(state["messages"], steps, changes)
    return [{**_step_view(done), **named} for done, named in zip(steps, items, strict=False)]


def _step_view(done: Step) -> dict[str, str]:
    result = done["result"] or done["error"] or ""
    return {"title": done["title"], "status": done["status"], "result": result[:RESULT_CHARACTERS]}
