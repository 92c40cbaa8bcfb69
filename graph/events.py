"""The typed events of a run, as they travel on the custom stream and, unchanged, to clients.

`run`, `approval_needed`, `done` and `error` are made by the service that owns the run; the graph emits the others.
"""

from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Final, Literal, NotRequired

from langgraph.config import get_stream_writer
from typing_extensions import TypedDict

from graph.state import AgentName, ChangeNote, Risk, StepStatus

CallStatus = Literal["pending", "invoking", "done", "error", "cancelled", "rejected"]
WhyUnverified = Literal[
    "", "absent", "not_found", "earlier_version", "unavailable", "no_words", "no_source", "too_long"
]


class RunEvent(TypedDict):
    """The first event of a run."""

    type: Literal["run"]
    run_id: str
    thread_id: str


class RouteDecisionEvent(TypedDict):
    """Who takes the turn and why."""

    type: Literal["route_decision"]
    agent: AgentName
    confidence: float
    reason: str
    method: Literal["pattern", "sticky", "model"]


class StepView(TypedDict):
    """A step as it is announced."""

    id: str
    title: str
    agent: AgentName
    status: StepStatus


class TaskPlanEvent(TypedDict):
    """The plan of the turn."""

    type: Literal["task_plan"]
    plan_id: str
    steps: list[StepView]


class TaskStepUpdateEvent(TypedDict):
    """A step has a new status."""

    type: Literal["task_step_update"]
    step_id: str
    status: StepStatus
    result: NotRequired[str]
    error: NotRequired[str]


class ToolCallStartEvent(TypedDict):
    """The model asks for a call; it may still need an approval. Exactly one `tool_call_end` follows."""

    type: Literal["tool_call_start"]
    tool_call_id: str
    name: str
    args: dict[str, Any]


class ToolProgressEvent(TypedDict):
    """A call goes on: it is being invoked, or the tool reports progress, or it has to be asked about again."""

    type: Literal["tool_progress"]
    tool_call_id: str
    name: str
    status: CallStatus
    message: NotRequired[str]
    progress: NotRequired[float]
    total: NotRequired[float]


class ToolCallEndEvent(TypedDict):
    """A call is over. `result` is the text that the model sees; `duration_ms` is 0 if it was not invoked."""

    type: Literal["tool_call_end"]
    tool_call_id: str
    name: str
    status: Literal["done", "error", "cancelled", "rejected"]
    result: str
    duration_ms: int


class ApprovalAction(TypedDict):
    """One call that waits for the person's answer."""

    tool_call_id: str
    name: str
    args: dict[str, Any]
    risk: Risk
    reason: str
    preview: str
    reversible: bool
    etag: NotRequired[str | None]


class ApprovalNeededEvent(TypedDict):
    """The run waits for the person. `expires_at` is ISO 8601 in UTC."""

    type: Literal["approval_needed"]
    approval_id: str
    expires_at: str
    actions: list[ApprovalAction]


class DecisionView(TypedDict):
    """What became of one asked call. `message` says why where it was not approved."""

    tool_call_id: str
    type: Literal["approve", "edit", "reject", "respond"]
    message: NotRequired[str]


class ApprovalResolvedEvent(TypedDict):
    """The person answered, or the time ran out."""

    type: Literal["approval_resolved"]
    approval_id: str
    decisions: list[DecisionView]
    status: Literal["resolved", "expired"]


class ContentEvent(TypedDict):
    """A piece of the answer. Emitted by the graph only for text that no model streamed."""

    type: Literal["content"]
    text: str


class CitationView(TypedDict):
    """What an answer quotes. `verified`: the quotation stands, word for word, in that `version` at that `place`.

    `reason` says why it is not. `is_current`: the version still was the newest one. `uri` (a resource) and `address` (a
    page for people) open the file at the place; both are empty where it is not verified.
    """

    number: int
    quote: str
    verified: bool
    reason: "WhyUnverified"
    file_id: str
    name: str
    path: str
    version: int | None
    is_current: bool
    place: str
    heading: str
    uri: str
    address: str


class CitationsEvent(TypedDict):
    """The citations of an answer, after its text; `message_id` is the answer's in the thread."""

    type: Literal["citations"]
    message_id: str
    citations: list[CitationView]


class DoneEvent(TypedDict):
    """The last event of a run that did not fail."""

    type: Literal["done"]
    run_id: str
    status: Literal["completed", "cancelled"]
    usage: dict[str, int]
    changes: list[ChangeNote]


class ErrorEvent(TypedDict):
    """The last event of a run that failed."""

    type: Literal["error"]
    code: str
    message: str
    retryable: bool


GraphEvent = (
    RouteDecisionEvent
    | TaskPlanEvent
    | TaskStepUpdateEvent
    | ToolCallStartEvent
    | ToolProgressEvent
    | ToolCallEndEvent
    | ApprovalResolvedEvent
    | ContentEvent
    | CitationsEvent
)
"""What the graph itself emits."""

Event = GraphEvent | RunEvent | ApprovalNeededEvent | DoneEvent | ErrorEvent

EVENTS: Final[dict[str, type]] = {
    "run": RunEvent,
    "route_decision": RouteDecisionEvent,
    "task_plan": TaskPlanEvent,
    "task_step_update": TaskStepUpdateEvent,
    "tool_call_start": ToolCallStartEvent,
    "tool_progress": ToolProgressEvent,
    "approval_needed": ApprovalNeededEvent,
    "approval_resolved": ApprovalResolvedEvent,
    "tool_call_end": ToolCallEndEvent,
    "content": ContentEvent,
    "citations": CitationsEvent,
    "done": DoneEvent,
    "error": ErrorEvent,
}
"""Every event that a client may see, by its `type`."""


def emit(event: GraphEvent) -> None:
    """Write the event to the run's custom stream. Only inside a node."""
    get_stream_writer()(event)


def emitter() -> Callable[[GraphEvent], None]:
    """Return what writes to the stream of the run that is active now, also from another task."""
    # The writer asks for the run's config when it writes, which other tasks don't have.
    writer, context = get_stream_writer(), copy_context()
    return lambda event: context.run(writer, event)
