"""The planner's structured answer, the plan that it becomes in the state, and the order of its steps."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal
from uuid import uuid4

from pydantic import BaseModel, BeforeValidator, Field

from graph.state import AgentName, Plan, Step

MAX_STEPS: Final = 8
MAX_STEPS_IN_DOCUMENT: Final = 2
"""While a document is open: completed steps count."""
TITLE_CHARACTERS: Final = 80

Key = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]
"""An id that a model made up; many write numbers."""

_REFERS: Final = re.compile(r"\bsteps?\s+(\d{1,2})\b|第\s*(\d{1,2})\s*步|步骤\s*(\d{1,2})", re.IGNORECASE)
Needs = Mapping[str, Sequence[str]]
"""By the key of each step, in the order they were given: the keys of those that have to be completed before it."""


class PlannedStep(BaseModel):
    """One step of the plan."""

    id: Key = Field(default="", max_length=40, description="a short id: 1, 2, 3")
    title: str = Field(min_length=1, description="a few words for the person")
    agent: AgentName = Field(description="document_agent, drive_agent or search_agent")
    instruction: str = Field(min_length=1, description="everything the specialist needs to know")
    depends_on: list[Key] = Field(
        default_factory=list[str], max_length=MAX_STEPS, description="ids of the steps that have to succeed before it"
    )
    kind: Literal["act", "map"] = Field(
        default="act", description="map: the instruction is carried out on each file of `folder`, then on the whole"
    )
    folder: str = Field(default="", max_length=1_000, description="for map: the folder's id or path; empty: this one")


class ProposedBounds(BaseModel):
    """The bounds within which the plan need not ask each time, if the person agrees: no more than the request needs."""

    folders: list[str] = Field(min_length=1, max_length=20, description="ids or paths of folders, with what is in them")
    kinds: list[Literal["create", "write", "rename", "move", "copy", "trash"]] = Field(min_length=1)
    max_items: int = Field(ge=1, le=10_000, description="how many items may be changed in all")


class TaskPlan(BaseModel):
    """The steps that fulfil the request, in order."""

    steps: list[PlannedStep] = Field(min_length=1, max_length=MAX_STEPS)
    bounds: ProposedBounds | None = Field(default=None, description="only if many calls of one kind are needed")


class RevisedPlan(BaseModel):
    """The steps that are still to be done after one has failed. None, if nothing sensible is left to do."""

    why: str = Field(default="", max_length=1_000, description="one sentence for the person: what is done differently")
    steps: list[PlannedStep] = Field(default_factory=list[PlannedStep], max_length=MAX_STEPS)


def with_ids(steps: Sequence[PlannedStep], first: int = 1) -> list[PlannedStep]:
    """Return the steps with an id each, by default its number, and with every step they refer to as a dependency."""
    numbered = [
        step if step.id else step.model_copy(update={"id": str(number)}) for number, step in enumerate(steps, first)
    ]
    keys = [step.id for step in numbered]
    return [_with_references(step, keys) for step in numbered]


def _with_references(step: PlannedStep, keys: Sequence[str]) -> PlannedStep:
    """A step that speaks of "the folder made in step 1" needs step 1, whether it says so or not."""
    named = [next(filter(None, found.groups())) for found in _REFERS.finditer(step.instruction)]
    added = [key for key in dict.fromkeys(named) if key in keys and key not in (*step.depends_on, step.id)]
    return step.model_copy(update={"depends_on": [*dict.fromkeys(step.depends_on), *added]}) if added else step


def problems_of_shape(steps: Sequence[PlannedStep], done: Sequence[str] = ()) -> list[str]:
    """Return the problems in the order and kinds of the steps; `done` are ids of completed steps they may name."""
    needs: Needs = dict.fromkeys(done, ()) | {step.id: step.depends_on for step in steps}
    found = problems_of_order([*done, *(step.id for step in steps)], needs)
    found += [
        f"step {step.id} is of kind map, which only search_agent does"
        for step in steps
        if step.kind == "map" and step.agent != "search_agent"
    ]
    return found


def make_steps(planned: Sequence[PlannedStep], existing: dict[str, str] | None = None) -> list[Step]:
    """Return the steps for the state, ordered by their dependencies; `existing` has the ids of the others."""
    by_key = {step.id: step for step in planned}
    ids = {**(existing or {}), **{key: str(uuid4()) for key in by_key}}
    needs = {**dict.fromkeys(existing or {}, ()), **{step.id: step.depends_on for step in planned}}
    order = [key for key in topological_order(needs) if key in by_key]
    return [_step(by_key[key], ids) for key in order]


def _step(planned: PlannedStep, ids: dict[str, str]) -> Step:
    step = new_step(ids[planned.id], planned.title, planned.agent, planned.instruction)
    step["depends_on"] = [ids[key] for key in planned.depends_on]
    if planned.kind == "map":
        step["kind"], step["folder"] = "map", planned.folder
    return step


def new_step(step_id: str, title: str, agent: AgentName, instruction: str) -> Step:
    """Return a step that has not begun, and depends on none."""
    return {
        "id": step_id,
        "title": " ".join(title.split())[:TITLE_CHARACTERS] or "…",
        "agent": agent,
        "instruction": instruction,
        "status": "pending",
        "result": None,
        "error": None,
        "attempts": 0,
        "after": None,
        "depends_on": [],
    }


def dependencies_of(steps: Sequence[Step]) -> dict[str, Sequence[str]]:
    """Return the dependencies of each step, by id."""
    return {step["id"]: step.get("depends_on", []) for step in steps}


def with_waves(plan: Plan) -> Plan:
    """Return the plan with each step marked: the wave it belongs to, and whether others could be done beside it."""
    numbers = waves(dependencies_of(plan["steps"]))
    together = [*numbers.values()]
    steps: list[Step] = [
        {**step, "wave": numbers[step["id"]], "parallel": together.count(numbers[step["id"]]) > 1}
        for step in plan["steps"]
    ]
    return {**plan, "steps": steps}


def problems_of_order(keys: Sequence[str], needs: Needs) -> list[str]:
    """Return the reasons why the steps can't be ordered: keys that are used twice or unknown, and circles."""
    twice = sorted({key for key in keys if keys.count(key) > 1})
    found = [f"two steps have the id {key}" for key in twice]
    for key, after in needs.items():
        found += [f"step {key} depends on {other}, which is no step" for other in after if other not in needs]
    circle = sorted(set(needs) - set(topological_order(needs)))
    if not found and circle:
        found.append(f"the steps {', '.join(circle)} depend on one another in a circle")
    return found


def topological_order(needs: Needs) -> list[str]:
    """Return the keys so that each comes after the keys it needs, else as given; those in circles are left out."""
    done: list[str] = []
    while True:
        following = next((key for key in needs if key not in done and all(one in done for one in needs[key])), None)
        if following is None:
            return done
        done.append(following)


def waves(needs: Needs) -> dict[str, int]:
    """Return for each key, from 1, the round it could be done in if all that don't need one another went together."""
    numbers: dict[str, int] = {}
    for key in topological_order(needs):
        numbers[key] = 1 + max((numbers[one] for one in needs[key]), default=0)
    return numbers


def dependents(needs: Needs, key: str) -> set[str]:
    """Return everything that needs the key, directly or through others."""
    found: set[str] = set()
    grown = {key}
    while grown:
        grown = {one for one, after in needs.items() if one not in found and grown & set(after)}
        found |= grown
    return found
