"""The table of all events: their types, their schemas, and how each reaches clients."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from typing_extensions import get_type_hints

from graph.events.answers import CitationsEvent, ContentEvent, ReadingEvent, ReasoningEvent
from graph.events.approvals import ApprovalExpiredEvent, ApprovalNeededEvent, ApprovalResolvedEvent, RunParkedEvent
from graph.events.calls import ToolCallEndEvent, ToolCallStartEvent, ToolCallUpdatedEvent, ToolProgressEvent
from graph.events.markers import FINAL, KEY
from graph.events.plans import (
    MapProgressEvent,
    PlanChangeEvent,
    PlanEditedEvent,
    PlanRevisedEvent,
    RouteDecisionEvent,
    TaskPlanEvent,
    TaskStepUpdateEvent,
)
from graph.events.runs import DoneEvent, ErrorEvent, RunEvent
from graph.links.text_fields import cleaned, markers, unmarked

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
Event = (
    GraphEvent
    | ReasoningEvent
    | ReadingEvent
    | RunEvent
    | ApprovalNeededEvent
    | RunParkedEvent
    | DoneEvent
    | ErrorEvent
)


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
