"""The typed events of a run, as its listener hears them, or the custom stream has them, and, unchanged, clients.

`run`, `approval_needed`, `run_parked`, `done` and `error` are made by the service that owns the run; the graph emits
the others.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Final, Literal, NotRequired

from langgraph.config import get_stream_writer
from typing_extensions import TypedDict

from graph.state import AgentName, Effect, LimitReached, Passage, Risk, StepStatus

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
    """A step as it is announced.

    `depends_on`: the steps that have to be completed before it. Those of one `wave` don't need one another; they are
    `parallel` if there are several. A `map` step is carried out on each file of a folder.
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
    """The plan of the turn. `version` counts the changes of the person; an edit has to name it.

    `bounds` (folders by id, kinds, max_items) are what an approval is asked for next.
    """

    type: Literal["task_plan"]
    plan_id: str
    steps: list[StepView]
    version: int
    bounds: NotRequired[dict[str, Any]]


class PlanChangeEvent(TypedDict):
    """The plan waits for the person, or goes on."""

    type: Literal["plan_paused", "plan_resumed"]
    plan_id: str
    version: int


class PlanEditedEvent(TypedDict):
    """The person's changes of the plan now count."""

    type: Literal["plan_edited"]
    plan_id: str
    version: int
    steps: list[StepView]


class PlanRevisedEvent(TypedDict):
    """After a step failed, the planner has planned the rest anew. `why` is for the person."""

    type: Literal["plan_revised"]
    plan_id: str
    version: int
    why: str
    steps: list[StepView]


class TaskStepUpdateEvent(TypedDict):
    """A step has a new status."""

    type: Literal["task_step_update"]
    step_id: str
    status: StepStatus
    result: NotRequired[str]
    error: NotRequired[str]


class MapProgressEvent(TypedDict):
    """A step over many files is done with one of them; `total` is how many there are."""

    type: Literal["map_progress"]
    step_id: str
    item_id: str
    path: str
    status: Literal["read", "nothing", "failed"]
    total: int


class ToolCallStartEvent(TypedDict):
    """The model asks for a call; it may still need an approval. Exactly one `tool_call_end` follows."""

    type: Literal["tool_call_start"]
    tool_call_id: str
    name: str
    args: dict[str, Any]


class ToolProgressEvent(TypedDict):
    """A call goes on: it is being invoked, or the tool reports progress, or it has to be asked about again.

    `reason` says what let a call run unasked that would be asked about: `granted`, with the grant's id, or `planned`.
    """

    type: Literal["tool_progress"]
    tool_call_id: str
    name: str
    status: CallStatus
    message: NotRequired[str]
    progress: NotRequired[float]
    total: NotRequired[float]
    reason: NotRequired[Literal["granted", "planned"]]
    grant_id: NotRequired[str]


class ToolCallEndEvent(TypedDict):
    """A call is over. `result` is the text that the model sees; `duration_ms` is 0 if it was not invoked."""

    type: Literal["tool_call_end"]
    tool_call_id: str
    name: str
    status: Literal["done", "error", "cancelled", "rejected"]
    result: str
    duration_ms: int


class ApprovalAction(TypedDict):
    """One call that waits for the person's answer. `grant_kind`: what a grant given with an approval would cover.

    `code` is the reason's, as in docs/GATEWAY.md; `passage` is what was read before that may have led to the call.
    """

    tool_call_id: str
    name: str
    args: dict[str, Any]
    risk: Risk
    reason: str
    preview: str
    reversible: bool
    etag: NotRequired[str | None]
    effect: NotRequired[Effect | None]
    grant_kind: NotRequired[str | None]
    code: NotRequired[str]
    passage: NotRequired[Passage | None]


class ApprovalNeededEvent(TypedDict):
    """The run waits for the person. `expires_at` is ISO 8601 in UTC."""

    type: Literal["approval_needed"]
    approval_id: str
    expires_at: str
    actions: list[ApprovalAction]


class RunParkedEvent(TypedDict):
    """An unattended run waits for somebody, who may come much later; its stream may end here."""

    type: Literal["run_parked"]
    run_id: str
    approval_id: str
    expires_at: str


class DecisionView(TypedDict):
    """What became of one asked call. `message` says why where it was not approved.

    `grant_id` is the grant that the person gave with it.
    """

    tool_call_id: str
    type: Literal["approve", "edit", "reject", "respond"]
    message: NotRequired[str]
    grant_id: NotRequired[str]


class ApprovalResolvedEvent(TypedDict):
    """The person answered, or the time ran out."""

    type: Literal["approval_resolved"]
    approval_id: str
    decisions: list[DecisionView]
    status: Literal["resolved", "expired"]


class ApprovalExpiredEvent(TypedDict):
    """Nobody answered in time: what was asked about is not done. `approval_resolved` with `expired` follows."""

    type: Literal["approval_expired"]
    approval_id: str
    expires_at: str
    tool_call_ids: list[str]


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


class ChangeView(TypedDict):
    """A change by the journal's number: `summary` is its sentence there, `text` the same in the person's language."""

    id: int
    tool: str
    summary: str
    item_id: str | None
    text: str
    undone_by: int | None


class ChangeGroup(TypedDict):
    """The changes of one kind, and one sentence for all of them."""

    action: str
    count: int
    undone: int
    text: str
    change_ids: list[int]


class DoneEvent(TypedDict):
    """The last event of a run that did not fail. `limit` is what ended the turn before its answer, if anything did."""

    type: Literal["done"]
    run_id: str
    status: Literal["completed", "cancelled"]
    usage: dict[str, int]
    changes: list[ChangeView]
    groups: list[ChangeGroup]
    limit: NotRequired[LimitReached]


class ErrorEvent(TypedDict):
    """The last event of a run that failed, with what it had changed before."""

    type: Literal["error"]
    code: str
    message: str
    retryable: bool
    changes: NotRequired[list[ChangeView]]
    groups: NotRequired[list[ChangeGroup]]


GraphEvent = (
    RouteDecisionEvent
    | TaskPlanEvent
    | TaskStepUpdateEvent
    | PlanChangeEvent
    | PlanEditedEvent
    | PlanRevisedEvent
    | MapProgressEvent
    | ToolCallStartEvent
    | ToolProgressEvent
    | ToolCallEndEvent
    | ApprovalExpiredEvent
    | ApprovalResolvedEvent
    | ContentEvent
    | CitationsEvent
)
"""What the graph itself emits."""

Event = GraphEvent | RunEvent | ApprovalNeededEvent | RunParkedEvent | DoneEvent | ErrorEvent

EVENTS: Final[dict[str, type]] = {
    "run": RunEvent,
    "route_decision": RouteDecisionEvent,
    "task_plan": TaskPlanEvent,
    "task_step_update": TaskStepUpdateEvent,
    "plan_paused": PlanChangeEvent,
    "plan_resumed": PlanChangeEvent,
    "plan_edited": PlanEditedEvent,
    "plan_revised": PlanRevisedEvent,
    "map_progress": MapProgressEvent,
    "tool_call_start": ToolCallStartEvent,
    "tool_progress": ToolProgressEvent,
    "approval_needed": ApprovalNeededEvent,
    "run_parked": RunParkedEvent,
    "approval_expired": ApprovalExpiredEvent,
    "approval_resolved": ApprovalResolvedEvent,
    "tool_call_end": ToolCallEndEvent,
    "content": ContentEvent,
    "citations": CitationsEvent,
    "done": DoneEvent,
    "error": ErrorEvent,
}
"""Every event that a client may see, by its `type`."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of what a model says; `message_id` tells one answer from the next."""

    message_id: str | None
    text: str


Listener = Callable[[GraphEvent | Piece], None]

_listener: Final = ContextVar[Listener | None]("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Let the listener hear at once what a graph that runs inside the block emits, and each piece of its answers.

    Nothing of it goes into LangGraph's own streams then: those cost more for each token than all the rest.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def emit(event: GraphEvent) -> None:
    """Tell the run's listener, or else write to its custom stream. Only inside a node."""
    (_listener.get() or get_stream_writer())(event)


def emitter() -> Callable[[GraphEvent], None]:
    """Return what tells of the run that is active now, also from another task."""
    if listener := _listener.get():
        return listener
    # The writer asks for the run's config when it writes, which other tasks don't have.
    writer, context = get_stream_writer(), copy_context()
    return lambda event: context.run(writer, event)


def speaker() -> Callable[[Piece], None] | None:
    """Return who hears the pieces of an answer; None if whoever runs the graph reads them from LangGraph's stream."""
    return _listener.get()
