"""The typed events of a run. Each class defines one: its type, its fields, and how it reaches clients.

`FILTERED` marks the text that passes the link filter, `KEY` the field of which a run sends each value once, `FINAL` the
type after which the run sends nothing. The filter, the replay, the OpenAPI schema and the test of docs/HTTP.md read
these classes; a class counts once it is in `GraphEvent` (the graph emits it) or `Event` (the service does).
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NotRequired, cast, get_args, get_origin

from langgraph.config import get_stream_writer
from typing_extensions import TypedDict, get_type_hints, is_typeddict

from graph.state import AgentName, Effect, LimitReached, Passage, Risk, StepStatus

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


@dataclass(frozen=True, slots=True)
class _Marker:
    name: str


FILTERED: Final = _Marker("filtered")
"""Marks text that people read: it passes the link filter. Arguments and results of tools are data and stay."""
KEY: Final = _Marker("key")
"""Marks the field that a run sends each value of once: a replay drops the second event."""
FINAL: Final = _Marker("final")
"""Marks the type of a run's last event."""


class RunEvent(TypedDict):
    """The first event of a run."""

    type: Literal["run"]
    run_id: str
    thread_id: str


class RouteDecisionEvent(TypedDict):
    """The agent that takes the turn, and why."""

    type: Literal["route_decision"]
    agent: AgentName
    confidence: float
    reason: str
    method: Literal["pattern", "sticky", "model"]


class StepView(TypedDict):
    """A step of a plan.

    `depends_on` are the steps that have to be completed before it. Steps of one `wave` don't need one another; they
    are `parallel` if there are several. A `map` step works on each file of a folder.
    """

    id: str
    title: Annotated[str, FILTERED]
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
    """The person changed the plan."""

    type: Literal["plan_edited"]
    plan_id: str
    version: int
    steps: list[StepView]


class PlanRevisedEvent(TypedDict):
    """The planner replaced the rest of the plan after a step failed. `why` is for the person."""

    type: Literal["plan_revised"]
    plan_id: str
    version: int
    why: Annotated[str, FILTERED]
    steps: list[StepView]


class TaskStepUpdateEvent(TypedDict):
    """A step has a new status. With a `question` it is pending again, until the person's next message answers it."""

    type: Literal["task_step_update"]
    step_id: str
    status: StepStatus
    result: NotRequired[Annotated[str, FILTERED]]
    question: NotRequired[Annotated[str, FILTERED]]
    error: NotRequired[Annotated[str, FILTERED]]


class MapProgressEvent(TypedDict):
    """A step over many files finished one of them; `total` is the number of files."""

    type: Literal["map_progress"]
    step_id: str
    item_id: str
    path: str
    status: Literal["read", "nothing", "failed"]
    total: int


class ToolCallStartEvent(TypedDict):
    """The model asks for a call; it may still need an approval. Exactly one `tool_call_end` follows."""

    type: Literal["tool_call_start"]
    tool_call_id: Annotated[str, KEY]
    name: str
    args: dict[str, Any]


class ToolProgressEvent(TypedDict):
    """A call is invoked, the tool reports progress, or the call needs another approval.

    `reason` says why a gated call runs without an approval: `granted`, with the grant's id, or `planned`.
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
    """A call ended. `result` is the text that the model sees; `duration_ms` is 0 if the tool was not invoked."""

    type: Literal["tool_call_end"]
    tool_call_id: Annotated[str, KEY]
    name: str
    status: Literal["done", "error", "cancelled", "rejected"]
    result: str
    duration_ms: int


class ApprovalAction(TypedDict):
    """One call that waits for the person's decision. A grant given with an approval covers calls of `grant_kind`.

    `code` is the reason's, as in docs/GATEWAY.md; `passage` is text read before that may have led to the call.
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
    """An unattended run waits for an approval; its stream may end here."""

    type: Literal["run_parked"]
    run_id: str
    approval_id: str
    expires_at: str


class DecisionView(TypedDict):
    """The decision on one call. `message` says why it was not approved; `grant_id` is the grant given with it."""

    tool_call_id: str
    type: Literal["approve", "edit", "reject", "respond"]
    message: NotRequired[str]
    grant_id: NotRequired[str]


class ApprovalResolvedEvent(TypedDict):
    """The person decided, the approval expired, or the run was cancelled."""

    type: Literal["approval_resolved"]
    approval_id: Annotated[str, KEY]
    decisions: list[DecisionView]
    status: Literal["resolved", "expired", "cancelled"]


class ApprovalExpiredEvent(TypedDict):
    """Nobody decided in time, so the calls are not made. `approval_resolved` with `expired` follows."""

    type: Literal["approval_expired"]
    approval_id: Annotated[str, KEY]
    expires_at: str
    tool_call_ids: list[str]


class ContentEvent(TypedDict):
    """A delta of the answer. The graph emits it only for text that no model streamed.

    `restarts`, after a restart of the service: this is the whole new text since the last event of another type.
    """

    type: Literal["content"]
    text: Annotated[str, FILTERED]
    restarts: NotRequired[bool]


class CitationView(TypedDict):
    """A quotation in an answer. `verified`: it stands, word for word, in that `version` at that `place`.

    `reason` says why it is not verified. `is_current`: the version was still the newest one. `uri` (a resource) and
    `address` (a page for people) open the file at the place; both are empty if it is not verified.
    """

    number: int
    quote: str
    verified: bool
    reason: WhyUnverified
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
    message_id: Annotated[str, KEY]
    citations: list[CitationView]


class ChangeView(TypedDict):
    """A change in the journal: `summary` is the journal's sentence, `text` the same in the person's language.

    `undone_by` is the change that took it back.
    """

    id: int
    tool: str
    summary: str
    item_id: str | None
    text: str
    undone_by: int | None


class ChangeGroup(TypedDict):
    """The changes of one kind, with one sentence for all; `undone` of them were taken back since."""

    action: str
    count: int
    undone: int
    text: str
    change_ids: list[int]


class DoneEvent(TypedDict):
    """The last event of a run that did not fail. `limit` is the limit that ended the turn before its answer."""

    type: Annotated[Literal["done"], FINAL]
    run_id: str
    status: Literal["success", "cancelled"]
    usage: dict[str, int]
    changes: list[ChangeView]
    groups: list[ChangeGroup]
    limit: NotRequired[LimitReached]


class ErrorEvent(TypedDict):
    """The last event of a run that failed, with the changes that it had made."""

    type: Annotated[Literal["error"], FINAL]
    run_id: str
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
"""The events that the graph emits."""

Event = GraphEvent | RunEvent | ApprovalNeededEvent | RunParkedEvent | DoneEvent | ErrorEvent


@dataclass(frozen=True, slots=True)
class EventDefinition:
    """An event as its class defines it; `filtered` are paths such as `("steps", "title")`: the title of each step."""

    name: str
    schema: type
    key: str | None
    filtered: tuple[tuple[str, ...], ...]
    is_final: bool

    def replay_key(self, event: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return the identity of an event that a run sends once; None if it may send it again."""
        return (self.name, str(event.get(self.key))) if self.key else None

    def filter_text(self, event: Mapping[str, Any], clean: Callable[[str], str]) -> dict[str, Any]:
        """Return the event with `clean` applied to its filtered text."""
        filtered: Any = dict(event)
        for path in self.filtered:
            filtered = _filtered(filtered, path, clean)
        return filtered


def definitions_of(schema: type) -> Iterator[EventDefinition]:
    """Yield the definitions of an event class: one for each of its types."""
    hints = get_type_hints(schema, include_extras=True)
    key = next((name for name, hint in hints.items() if KEY in _markers(hint)), None)
    is_final = FINAL in _markers(hints["type"])
    for event_type in get_args(_unmarked(hints["type"])):
        yield EventDefinition(event_type, schema, key, tuple(_filtered_paths(schema)), is_final)


def _unmarked(hint: Any) -> Any:
    """Return the type in `NotRequired` and `Annotated`."""
    while get_origin(hint) in {NotRequired, Annotated}:
        hint = get_args(hint)[0]
    return hint


def _markers(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is NotRequired:
        return _markers(get_args(hint)[0])
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _filtered_paths(schema: type) -> Iterator[tuple[str, ...]]:
    for name, hint in get_type_hints(schema, include_extras=True).items():
        if FILTERED in _markers(hint):
            yield (name,)
        for item in _typed_dicts(_unmarked(hint)):
            yield from ((name, *path) for path in _filtered_paths(item))


def _typed_dicts(hint: Any) -> Iterator[type]:
    """Yield the event parts in a type, also in a list or an optional one."""
    if is_typeddict(hint):
        yield hint
    for inner in get_args(hint):
        yield from _typed_dicts(inner)


def _filtered(value: Any, path: tuple[str, ...], clean: Callable[[str], str]) -> Any:
    if not path:
        return clean(value)
    if isinstance(value, list):
        return [_filtered(item, path, clean) for item in cast("list[Any]", value)]
    name, *rest = path
    return {**value, name: _filtered(value[name], tuple(rest), clean)} if value.get(name) else value


EVENTS: Final = {definition.name: definition for schema in get_args(Event) for definition in definitions_of(schema)}
"""Every event that a client may see, by its type."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a model's answer. `message_id` differs between one answer and the next."""

    message_id: str | None
    text: str


Listener = Callable[[GraphEvent | TextDelta], None]

_listener: Final = ContextVar[Listener | None]("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Send the graph's events and text deltas to the listener; LangGraph's streams carry none (they cost more)."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


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


def delta_listener() -> Callable[[TextDelta], None] | None:
    """Return the listener of text deltas; None if the caller of the graph reads LangGraph's stream."""
    return _listener.get()
