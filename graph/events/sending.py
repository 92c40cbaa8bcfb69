"""Events and pieces of text on their way from a node to the run that listens, or to LangGraph's streams."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Final

from langgraph.config import get_stream_writer

from graph.events.definitions import GraphEvent


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a model's answer, the last one of which is empty. `message_id` may differ from answer to answer."""

    message_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of a model's thoughts before it answers."""

    message_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ReadingDelta:
    """How much of the request the model's server has read before it answers, in tokens."""

    read: int
    total: int


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """The text of this message so far was none of the answer: it is said anew."""

    message_id: str | None


Delta = TextDelta | ReasoningDelta | ReadingDelta | TextWithdrawn
"""A model's words, piece by piece."""
Listener = Callable[[GraphEvent | Delta], None]
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


def delta_listener() -> Callable[[Delta], None] | None:
    """Return the listener of a model's deltas; None if the caller of the graph reads LangGraph's stream."""
    return _listener.get()
