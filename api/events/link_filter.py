"""What a run says, on its way to clients: as it may leave, and only what they do not have yet."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from api.events.events import Event, Frame
from api.events.replay import Replay
from graph.events import Piece
from graph.link_filter import Outgoing


class Speech:
    """Turns the parts of a run's stream into events. Text is held back while it may become a link that must not leave.

    With `frames`, what another process had said already is not said again.
    """

    def __init__(self, outgoing: Outgoing, frames: Sequence[Frame] = ()) -> None:
        self._outgoing = outgoing
        self._replay = Replay(frames)
        self._speaking: str | None = None

    def piece(self, piece: Piece) -> Iterator[Event]:
        """Yield the events for a piece of a model's answer."""
        if piece.message_id != self._speaking:
            yield from self._pause()
            self._speaking = piece.message_id
        if out := self._outgoing.feed(piece.text):
            yield from self._replay.text(out)

    def event(self, event: Event) -> Iterator[Event]:
        """Yield an event of the graph, after what is due before it."""
        yield from self._pause()
        yield from self._replay.event(self._cleaned(event))

    def end(self) -> Iterator[Event]:
        """Yield what is due when the stream ends here."""
        yield from self._pause()
        yield from self._replay.end()

    def _pause(self) -> Iterable[Event]:
        rest = self._outgoing.end()
        return self._replay.text(rest) if rest else ()

    def _cleaned(self, event: Event) -> Event:
        """Clean what people read of an event; what tools were given and answered is data, and stays as it is."""
        texts: dict[str, Any] = {
            name: self._outgoing.clean(event[name]) for name in TEXTS.get(event["type"], ()) if event.get(name)
        }
        steps: list[dict[str, Any]] | None = event.get("steps")
        if steps:
            texts["steps"] = [{**step, "title": self._outgoing.clean(str(step.get("title", "")))} for step in steps]
        return {**event, **texts} if texts else event


TEXTS = {
    "content": ("text",),
    "task_step_update": ("result", "error"),
    "plan_revised": ("why",),
}
"""What people read as text, by the type of event; the titles of steps beside."""
