"""The progress of a plan: the next step, the effect of a failure on the others, the person's edits meanwhile.

The graph's state has the finished steps. The service may keep a second copy that people edit while the graph is at
work; `merge_plans` joins the two at the one moment where steps begin.
"""

from collections.abc import Sequence
from typing import Final

from graph.events.plans import PlanEditedEvent, StepView
from graph.planning.shape import dependencies_of, dependents, with_waves
from graph.state import Plan, Step, StepStatus

OPEN: frozenset[StepStatus] = frozenset({"pending", "in-progress"})
PLAN_PAUSED: Final = "plan_paused"
"""The `type` of the interrupt in which a paused plan waits."""


def is_editable(step: Step) -> bool:
    """Say whether the step has not begun."""
    return step["status"] == "pending" and not step["attempts"]


def merge_plans(mine: Plan, shared: Plan | None) -> Plan:
    """Return the graph's plan with the edits of the shared copy: steps that have not begun, and the command.

    A step that only the copy has as begun was begun by a process that is gone before it could note it: it begins anew.
    """
    if shared is None or shared["plan_id"] != mine["plan_id"]:
        return mine
    merged: Plan = {**mine, "wanted": shared.get("wanted", "run")}
    if shared.get("revision", 0) < mine.get("revision", 0):
        return {**merged, "version": shared.get("version", 1) + 1}
    merged["version"] = shared.get("version", 1)
    own = {step["id"]: step for step in mine["steps"]}
    edited = {step["id"]: _fresh(step, own.get(step["id"])) for step in shared["steps"] if is_new(own.get(step["id"]))}
    if [step["id"] for step in shared["steps"]] == list(own):
        steps = [edited.get(key, step) for key, step in own.items()]
    else:
        steps = [*(step for step in mine["steps"] if not is_editable(step)), *edited.values()]
    return with_waves({**merged, "steps": steps})


def is_new(step: Step | None) -> bool:
    """Say whether a person may still change the step; also of one that only they know."""
    return step is None or is_editable(step)


def _fresh(step: Step, mine: Step | None) -> Step:
    """Return a step of the copy as one not begun; only the graph knows its question to the person."""
    fresh: Step = {**step, "status": "pending", "attempts": 0, "after": None, "result": None, "error": None}
    return {**fresh, "question": mine.get("question", "")} if mine else fresh


def ready_step(plan: Plan) -> Step | None:
    """Return the next step that may begin: neither it nor a step that it needs waits for the person."""
    steps = plan["steps"]
    asking = [step["id"] for step in steps if step.get("question")]
    waiting = {*asking, *(step["id"] for key in asking for step in waiting_for(plan, key))}
    return next((step for step in steps if step["status"] == "pending" and step["id"] not in waiting), None)


def advance_plan(plan: Plan, last_message: str | None) -> Plan:
    """Return the plan with its next step begun; or paused; or waiting, stopped or done, and without its contract."""
    following = ready_step(plan)
    if following is None and any(step.get("question") for step in plan["steps"]):
        return {**plan, "status": "waiting", "contract": None}
    if following is None:
        return {**plan, "status": "stopped" if plan.get("status") == "stopped" else "done", "contract": None}
    match plan.get("wanted", "run"):
        case "stop":
            steps = [_skipped(step) for step in plan["steps"]]
            return {**plan, "steps": steps, "status": "stopped", "contract": None}
        case "pause":
            return {**plan, "status": "paused"}
        case "run":
            return {**plan, "steps": _begun(plan["steps"], following, last_message), "status": "running"}


def _begun(steps: Sequence[Step], following: Step, last_message: str | None) -> list[Step]:
    begun: Step = {
        **following,
        "status": "in-progress",
        "attempts": following["attempts"] + 1,
        "after": last_message,
    }
    return [begun if step is following else step for step in steps]


def _skipped(step: Step) -> Step:
    return {**step, "status": "skipped"} if step["status"] in OPEN else step


def with_step(plan: Plan, changed: Step) -> Plan:
    """Return the plan with one step as it is now."""
    return {**plan, "steps": [changed if step["id"] == changed["id"] else step for step in plan["steps"]]}


def waiting_for(plan: Plan, step_id: str) -> list[Step]:
    """Return the steps that have not ended and need this one, directly or through others."""
    needing = dependents(dependencies_of(plan["steps"]), step_id)
    return [step for step in plan["steps"] if step["id"] in needing and step["status"] in OPEN]


def without_dependents(plan: Plan, step_id: str, why: str) -> Plan:
    """Return the plan with the steps skipped that need one which did not succeed; `why` is the error of each."""
    skipped = {step["id"] for step in waiting_for(plan, step_id)}
    steps: list[Step] = [
        {**step, "status": "skipped", "error": why} if step["id"] in skipped else step for step in plan["steps"]
    ]
    return {**plan, "steps": steps}


def changed_steps(before: Plan | None, after: Plan) -> list[Step]:
    """Return the steps whose status or attempt is another one than before, in order."""
    own = {step["id"]: (step["status"], step["attempts"]) for step in before["steps"]} if before else {}
    return [
        step for step in after["steps"] if own.get(step["id"], ("pending", 0)) != (step["status"], step["attempts"])
    ]


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
