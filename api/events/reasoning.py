"""The reasoning of a model, on its way to clients: filtered for links, as a text of its own."""

from collections.abc import Iterator
from typing import Final

from api.events.frames import Event
from graph.events.sending import ReasoningDelta
from graph.links.filter import LinkFilter

REASONING: Final = "reasoning"
READING: Final = "reading"
ASIDE: Final = frozenset({REASONING, READING})
"""The types of events that say nothing of the answer: they end no text of it, and a replay may leave them out."""
GAP: Final = "\n\n"
"""Keeps two texts apart, so that nothing can be made of the two."""


class ReasoningStream:
    """Turns the deltas of a run's reasoning into events. Its filter must not be that of the answers."""

    def __init__(self, link_filter: LinkFilter) -> None:
        self._filter = link_filter
        self._message_id: str | None = None
        self._is_open = False
        self._gap = ""

    def feed(self, delta: ReasoningDelta) -> Iterator[Event]:
        """Yield the event for a delta; the end of its text may be held back."""
        if delta.message_id != self._message_id:
            yield from self.end()
        text, self._gap = self._gap + delta.text, ""
        self._message_id, self._is_open = delta.message_id, True
        yield from self._event(self._filter.feed(text))

    def end(self) -> Iterator[Event]:
        """Yield the held-back text, as something else follows."""
        if self._is_open:
            self._is_open, self._gap = False, GAP
            yield from self._event(self._filter.end())

    def _event(self, text: str) -> Iterator[Event]:
        if text:
            yield {"type": REASONING, "text": text, "message_id": self._message_id or ""}
