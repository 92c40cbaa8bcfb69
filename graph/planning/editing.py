"""Edits of a plan by a person: only steps that have not begun, under the rules that hold for a planner."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal
from uuid import uuid4

from typing_extensions import TypedDict

from graph.planning.progress import is_editable
from graph.planning.shape import MAX_STEPS, PlannedStep, new_step, problems_of_shape, with_waves
from graph.state import AgentName, Plan, Step

MAX_EDITED_STEPS: Final = 2 * MAX_STEPS
SUCCEEDING: Final = frozenset({"completed", "in-progress", "pending"})


class StepEdit(TypedDict, total=False):
    """A step as the person wants it; missing fields stay as they are. Without an `id` of the plan it is a new one."""

    id: str
    title: str
    agent: AgentName
    instruction: str
    depends_on: list[str]
    kind: Literal["act", "map"]
    folder: str


class PlanEditError(Exception):
    """The plan can't be changed so; `problems` says why, `begun` names the steps that have begun meanwhile."""

    def __init__(self, problems: Sequence[str], begun: Sequence[str] = ()) -> None:
        super().__init__("; ".join([*problems, *begun]))
        self.problems = list(problems)
        self.begun = list(begun)


def apply_edits(plan: Plan, edits: Sequence[StepEdit]) -> Plan:
    """Return the plan with these steps not begun, in this order; others are removed. Raises `PlanEditError`."""
    by_id = {step["id"]: step for step in plan["steps"]}
    named = [edit["id"] for edit in edits if "id" in edit]
    begun = [key for key in named if key in by_id and not is_editable(by_id[key])]
    if begun:
        raise PlanEditError([], begun)
    begun_steps = [step for step in plan["steps"] if not is_editable(step)]
    edited = [_edited(edit, by_id, number) for number, edit in enumerate(edits, 1)]
    refuse_wrong_shape(begun_steps, edited)
    return with_waves({**plan, "steps": [*begun_steps, *_with_own_ids(edited, by_id)]})


def _with_own_ids(edited: Sequence[Step], by_id: Mapping[str, Step]) -> list[Step]:
    """Give each new step an id that no other has; dependencies on the old id follow."""
    ids = {step["id"]: str(uuid4()) for step in edited if step["id"] not in by_id}
    return [
        {
            **step,
            "id": ids.get(step["id"], step["id"]),
            "depends_on": [ids.get(key, key) for key in step.get("depends_on", [])],
        }
        for step in edited
    ]


def refuse_wrong_shape(begun_steps: Sequence[Step], edited: Sequence[Step]) -> None:
    """Raise `PlanEditError` for steps that can't follow those that have begun, in this order."""
    problems: list[str] = []
    if len(begun_steps) + len(edited) > MAX_EDITED_STEPS:
        problems.append(f"a plan has {MAX_EDITED_STEPS} steps at most")
    before = {step["id"]: step["status"] for step in begun_steps}
    lost = [step["title"] for step in edited for key in step.get("depends_on", []) if _is_lost(before.get(key))]
    problems += [f"“{title}” depends on a step that did not succeed" for title in dict.fromkeys(lost)]
    problems += problems_of_shape([planned_step_of(step) for step in edited], list(before))
    placed = set(before)
    for step in edited:
        later = set(step.get("depends_on", [])) - placed
        if later and not problems:
            problems.append(f"“{step['title']}” stands before a step that it depends on")
        placed.add(step["id"])
    if problems:
        raise PlanEditError(problems)


def planned_step_of(step: Step) -> PlannedStep:
    """Return a step in the shape that the checks read."""
    return PlannedStep(
        id=step["id"],
        title=step["title"],
        agent=step["agent"],
        instruction=step["instruction"],
        depends_on=step.get("depends_on", []),
        kind=step.get("kind", "act"),
        folder=step.get("folder", ""),
    )


def _is_lost(status: str | None) -> bool:
    return status is not None and status not in SUCCEEDING


def _edited(edit: StepEdit, by_id: Mapping[str, Step], number: int) -> Step:
    old = by_id.get(edit.get("id", ""))
    if old is None:
        return _new(edit, number)
    step: Step = {
        **old,
        "title": _title(edit.get("title", old["title"])),
        "agent": edit.get("agent", old["agent"]),
        "instruction": edit.get("instruction", old["instruction"]),
        "depends_on": edit.get("depends_on", old.get("depends_on", [])),
    }
    return _with_kind(step, edit)


def _new(edit: StepEdit, number: int) -> Step:
    instruction = edit.get("instruction", "").strip()
    agent = edit.get("agent")
    if agent is None or not instruction:
        raise PlanEditError([f"step {number} of the list is new: it needs an agent and an instruction"])
    step = new_step(edit.get("id") or f"new-{number}", edit.get("title") or instruction, agent, instruction)
    step["depends_on"] = edit.get("depends_on", [])
    return _with_kind(step, edit)


def _with_kind(step: Step, edit: StepEdit) -> Step:
    if "kind" in edit:
        step["kind"] = edit["kind"]
    if "folder" in edit:
        step["folder"] = edit["folder"]
    return step


def _title(text: str) -> str:
    return new_step("", text, "drive_agent", "")["title"]
