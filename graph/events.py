"""The typed events of a run. Each class defines one: its type, its fields, and how it reaches clients.

Text passes the link filter unless its type says that the product made it or that it is data (`text_fields`). `KEY` is
the field of which a run sends each value once, `FINAL` the type after which the run sends nothing. The filter, the
replay, the OpenAPI schema and the test of docs/HTTP.md read these classes; a class counts once it is in `GraphEvent`
(the graph emits it) or `Event` (the service does).
"""

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NotRequired, get_args

from langgraph.config import get_stream_writer
from typing_extensions import TypedDict, get_type_hints

from graph.state import AgentName, Effect, Language, LimitReached, Passage, Risk, RouteMethod, StepStatus
from graph.text_fields import DATA, PRODUCT, Marker, ProductText, cleaned, markers, unmarked

CallStatus = Literal["pending", "invoking", "done", "error", "cancelled", "rejected"]
WhyUnverified = Literal[
    "",
    "absent",
    "translation",
    "summary",
    "not_found",
    "earlier_version",
    "unavailable",
    "no_words",
    "no_source",
    "too_long",
]


KEY: Final = Marker("key")
"""Marks the field that a run sends each value of once: a replay drops the second event."""
FINAL: Final = Marker("final")
"""Marks the type of a run's last event."""


class ChangeView(TypedDict):
    """A change in the journal: `summary` is the journal's sentence, `text` the same in the person's language.

    `undone_by` is the change that took it back.
    """

    id: int
    tool: str
    summary: str
    item_id: ProductText | None
    text: str
    undone_by: int | None


class ChangeGroup(TypedDict):
    """The changes of one kind, with one sentence for all; `undone` of them were taken back since."""

    action: ProductText
    count: int
    undone: int
    text: str
    change_ids: list[int]


class ReplacedRun(TypedDict):
    """The run whose message this run's takes the place of, with its changes in the drive that were not taken back.

    `undo` is the address that takes them back, null without any. Nothing is undone unasked.
    """

    run_id: ProductText
    changes: list[ChangeView]
    groups: list[ChangeGroup]
    undo: ProductText | None


class RunEvent(TypedDict):
    """The first event of a run. `replaces` is the run of the version of its message before this one."""

    type: Literal["run"]
    run_id: ProductText
    thread_id: ProductText
    replaces: NotRequired[ReplacedRun]


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


class ToolCallStartEvent(TypedDict):
    """The model asks for a call; it may still need an approval. Exactly one `tool_call_end` follows."""

    type: Literal["tool_call_start"]
    tool_call_id: Annotated[str, PRODUCT, KEY]
    name: str
    args: Annotated[dict[str, Any], DATA]


class ToolProgressEvent(TypedDict):
    """A call is invoked, the tool reports progress, or the call needs another approval.

    `reason` says why a gated call runs without an approval: `granted`, with the grant's id, or `planned`.
    """

    type: Literal["tool_progress"]
    tool_call_id: ProductText
    name: str
    status: CallStatus
    message: NotRequired[str]
    progress: NotRequired[float]
    total: NotRequired[float]
    reason: NotRequired[Literal["granted", "planned"]]
    grant_id: NotRequired[ProductText]


class ToolCallEndEvent(TypedDict):
    """A call ended. `result` is the text that the model sees; `duration_ms` is 0 if the tool was not invoked."""

    type: Literal["tool_call_end"]
    tool_call_id: Annotated[str, PRODUCT, KEY]
    name: str
    status: Literal["done", "error", "cancelled", "rejected"]
    result: Annotated[str, DATA]
    duration_ms: int


class ToolCallRecord(TypedDict):
    """A call of a tool of one of the person's own MCP servers, in the assistant's message.

    `response` is what came back, or why nothing did; empty while nothing has.
    """

    id: ProductText
    serverId: ProductText
    serverName: str
    toolName: str
    displayName: str
    arguments: Annotated[dict[str, Any], DATA]
    status: CallStatus
    response: str
    isError: bool


class ToolCallUpdatedEvent(TypedDict):
    """The record of a call in the message `messageId`, as it is now: it takes the place of the one before."""

    type: Literal["assistant.toolCall.updated"]
    messageId: ProductText
    toolCall: ToolCallRecord


class QuestionView(TypedDict):
    """A question of one of the person's own MCP servers, which waits for the answer in the middle of a call.

    The server wrote `message`, the texts in `schema` and `url`. `schema` has the fields of a form, `url` is an address
    that only the person opens, `host` the one it leads to. `warning` says what is wrong with the question, `problem`
    why the last answer could not be used; both may be empty.
    """

    server_id: ProductText
    server_name: str
    tool: str
    mode: Literal["form", "url"]
    message: str
    schema: Annotated[dict[str, Any], DATA]
    url: Annotated[str, DATA]
    host: ProductText
    warning: str
    problem: str
    language: Language


class ApprovalAction(TypedDict):
    """One call that waits for the person's decision. A grant given with an approval covers calls of `grant_kind`.

    `code` is the reason's, as in docs/GATEWAY.md; `passage` is text read before that may have led to the call. With a
    `question` the call is under way, and `args` are the values that the form begins with.
    """

    tool_call_id: ProductText
    name: str
    args: Annotated[dict[str, Any], DATA]
    risk: Risk
    reason: str
    preview: str
    reversible: bool
    etag: NotRequired[ProductText | None]
    effect: NotRequired[Effect | None]
    grant_kind: NotRequired[ProductText | None]
    code: NotRequired[ProductText]
    passage: NotRequired[Passage | None]
    question: NotRequired[QuestionView | None]


class ApprovalNeededEvent(TypedDict):
    """The run waits for the person. `expires_at` is ISO 8601 in UTC."""

    type: Literal["approval_needed"]
    approval_id: ProductText
    expires_at: ProductText
    actions: list[ApprovalAction]


class RunParkedEvent(TypedDict):
    """An unattended run waits for an approval; its stream may end here."""

    type: Literal["run_parked"]
    run_id: ProductText
    approval_id: ProductText
    expires_at: ProductText


class DecisionView(TypedDict):
    """The decision on one call. `message` says why it was not approved; `grant_id` is the grant given with it."""

    tool_call_id: ProductText
    type: Literal["approve", "edit", "reject", "respond"]
    message: NotRequired[str]
    grant_id: NotRequired[ProductText]


class ApprovalResolvedEvent(TypedDict):
    """The person decided, the approval expired, or the run was cancelled."""

    type: Literal["approval_resolved"]
    approval_id: Annotated[str, PRODUCT, KEY]
    decisions: list[DecisionView]
    status: Literal["resolved", "expired", "cancelled"]


class ApprovalExpiredEvent(TypedDict):
    """Nobody decided in time, so the calls are not made. `approval_resolved` with `expired` follows."""

    type: Literal["approval_expired"]
    approval_id: Annotated[str, PRODUCT, KEY]
    expires_at: ProductText
    tool_call_ids: list[ProductText]


class ContentEvent(TypedDict):
    """A delta of the message `message_id` of the thread. The graph emits it only for text that no model streamed.

    `step_id` is the step of the plan that is carried out.
    `restarts`, after a restart of the service: this is the whole new text since the last event of another type.
    """

    type: Literal["content"]
    text: str
    message_id: Annotated[str, PRODUCT]
    step_id: NotRequired[Annotated[str, PRODUCT]]
    restarts: NotRequired[bool]


class ReasoningEvent(TypedDict):
    """A delta of what the model thinks before it answers, in the message `message_id`; no part of the answer.

    `step_id` is the step of the plan that is carried out. Not every model tells, and a replay may leave it out.
    """

    type: Literal["reasoning"]
    text: str
    message_id: Annotated[str, PRODUCT]
    step_id: NotRequired[Annotated[str, PRODUCT]]


class CitationView(TypedDict):
    """A quotation in an answer. `verified`: it stands, word for word, in that `version` at that `place`.

    `reason` says why it is not verified. `is_current`: the version was still the newest one. `uri` (a resource) and
    `address` (a page for people) open the file at the place; both are empty if it is not verified.
    """

    number: int
    quote: str
    verified: bool
    reason: WhyUnverified
    file_id: ProductText
    name: str
    path: str
    version: int | None
    is_current: bool
    place: str
    heading: str
    uri: ProductText
    address: ProductText


class CitationsEvent(TypedDict):
    """The citations of an answer, after its text; `message_id` is the answer's in the thread."""

    type: Literal["citations"]
    message_id: Annotated[str, KEY]
    citations: list[CitationView]


class DoneEvent(TypedDict):
    """The last event of a run that did not fail. `limit` is the limit that ended the turn before its answer."""

    type: Annotated[Literal["done"], FINAL]
    run_id: ProductText
    status: Literal["success", "cancelled"]
    usage: dict[str, int]
    changes: list[ChangeView]
    groups: list[ChangeGroup]
    limit: NotRequired[LimitReached]


class ErrorEvent(TypedDict):
    """The last event of a run that failed, with the changes that it had made."""

    type: Annotated[Literal["error"], FINAL]
    run_id: ProductText
    code: ProductText
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
    | ToolCallUpdatedEvent
    | ApprovalExpiredEvent
    | ApprovalResolvedEvent
    | ContentEvent
    | CitationsEvent
)
"""The events that the graph emits."""

Event = GraphEvent | ReasoningEvent | RunEvent | ApprovalNeededEvent | RunParkedEvent | DoneEvent | ErrorEvent


@dataclass(frozen=True, slots=True)
class EventDefinition:
    """An event as its class defines it."""

    name: str
    schema: type
    key: str | None
    is_final: bool

    def replay_key(self, event: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return the identity of an event that a run sends once; None if it may send it again."""
        return (self.name, str(event.get(self.key))) if self.key else None

    def filter_text(self, event: Mapping[str, Any], clean: Callable[[str], str]) -> dict[str, Any]:
        """Return the event with `clean` applied to its text."""
        return cleaned(self.schema, dict(event), clean)


def definitions_of(schema: type) -> Iterator[EventDefinition]:
    """Yield the definitions of an event class: one for each of its types."""
    hints = get_type_hints(schema, include_extras=True)
    key = next((name for name, hint in hints.items() if KEY in markers(hint)), None)
    is_final = FINAL in markers(hints["type"])
    for event_type in get_args(unmarked(hints["type"])):
        yield EventDefinition(event_type, schema, key, is_final)


EVENTS: Final = {definition.name: definition for schema in get_args(Event) for definition in definitions_of(schema)}
"""Every event that a client may see, by its type."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a model's answer, the last one of which is empty. `message_id` may differ from answer to answer."""

    message_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what a model thinks before it answers."""

    message_id: str | None
    text: str


Listener = Callable[[GraphEvent | TextDelta | ReasoningDelta], None]
Store = Callable[[], Awaitable[object]]

_listener: Final = ContextVar[Listener | None]("listener", default=None)
_store: Final = ContextVar[Store | None]("store", default=None)


@contextmanager
def listening(listener: Listener, store: Store | None = None) -> Generator[None]:
    """Send the graph's events and text deltas to the listener; LangGraph's streams carry none (they cost more).

    `store` returns once all that the listener heard is stored.
    """
    heard, stored = _listener.set(listener), _store.set(store)
    try:
        yield
    finally:
        _listener.reset(heard)
        _store.reset(stored)


async def store_events() -> None:
    """Return once the events of this run so far are stored: a checkpoint that makes them past must not come before."""
    if store := _store.get():
        await store()


def emit(event: GraphEvent) -> None:
    """Send an event to the run's listener, or to its custom stream without one. Call it only inside a node."""
    (_listener.get() or get_stream_writer())(event)


def emitter() -> Callable[[GraphEvent], None]:
    """Return a function that emits events of the current run, also from another task."""
    if listener := _listener.get():
        return listener
    # The writer asks for the run's config when it writes, which other tasks don't have.
    writer, context = get_stream_writer(), copy_context()
    return lambda event: context.run(writer, event)


def delta_listener() -> Callable[[TextDelta | ReasoningDelta], None] | None:
    """Return the listener of a model's deltas; None if the caller of the graph reads LangGraph's stream."""
    return _listener.get()
