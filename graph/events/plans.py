"""The route of a turn, and its plan: made, changed, carried out step by step."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from graph.links.text_fields import ProductText
from graph.state import AgentName, RouteMethod, StepStatus


class RouteDecisionEvent(TypedDict):
    """The agent that takes the turn, and why; after a handover, that takes the rest of it, or of the step `step_id`."""

    type: Literal["route_decision"]
    agent: AgentName
    confidence: float
    reason: str
    method: RouteMethod
    step_id: NotRequired[str]


class StepView(TypedDict):
    """A step of a plan.

    `depends_on` are the steps that have to be completed before it. Steps of one `wave` don't need one another; they
    are `parallel` if there are several. A `map` step works on each file of a folder.
    """

    id: str
    title: str
    agent: AgentName
    status: StepStatus
    kind: Literal["act", "map"]
    depends_on: list[str]
    wave: int
    parallel: bool


class TaskPlanEvent(TypedDict):
    """The plan of the turn. `version` counts the person's changes; an edit has to name it.

    `bounds` (folders by id, kinds, max_items): the next approval asks for them.
    """

    type: Literal["task_plan"]
    plan_id: ProductText
    steps: list[StepView]
    version: int
    bounds: NotRequired[dict[str, Any]]


class PlanChangeEvent(TypedDict):
    """The plan waits for the person, or goes on."""

    type: Literal["plan_paused", "plan_resumed"]
    plan_id: ProductText
    version: int


class PlanEditedEvent(TypedDict):
    """The person changed the plan."""

    type: Literal["plan_edited"]
    plan_id: ProductText
    version: int
    steps: list[StepView]


class PlanRevisedEvent(TypedDict):
    """The planner replaced the rest of the plan after a step failed. `why` is for the person."""

    type: Literal["plan_revised"]
    plan_id: ProductText
    version: int
    why: str
    steps: list[StepView]


class TaskStepUpdateEvent(TypedDict):
    """A step has a new status. With a `question` it is pending again, until the person's next message answers it."""

    type: Literal["task_step_update"]
    step_id: str
    status: StepStatus
    result: NotRequired[str]
    question: NotRequired[str]
    error: NotRequired[str]


class MapProgressEvent(TypedDict):
    """A step over many files finished one of them; `total` is the number of files."""

    type: Literal["map_progress"]
    step_id: str
    item_id: ProductText
    path: str
    status: Literal["read", "nothing", "failed"]
    total: int
