"""A run that is taken up after a crash does its last step again, and so says again what clients have already."""

from collections.abc import Iterator, Sequence

import orjson

from api.events.events import Event, Frame

# Of these there is one for each id in a run, whenever it comes.
ONCE = {
    "tool_call_start": "tool_call_id",
    "tool_call_end": "tool_call_id",
    "approval_resolved": "approval_id",
    "approval_expired": "approval_id",
    "citations": "message_id",
}


class Replay:
    """Lets only what is new through. Without `frames`, the run's stored ones, that is everything.

    Events that are in the log are dropped until the first new one. While the model says the same as before, its text
    is not sent twice; where it says something else, its whole new text is sent in one `content` event with
    `restarts: true`: the text since the last event of another type is void.
    """

    def __init__(self, frames: Sequence[Frame] = ()) -> None:
        events: list[Event] = [orjson.loads(frame.data) for frame in frames]
        self._once = {key for event in events if (key := _once_key(event))}
        self._known = {_fingerprint(event) for event in events if event["type"] != "content"}
        self._sent = _last_text(events)
        self._again = ""

    def text(self, delta: str) -> Iterator[Event]:
        """Yield the event for a piece of text, or nothing while it only repeats."""
        if not self._sent:
            yield {"type": "content", "text": delta}
            return
        self._again += delta
        if not self._sent.startswith(self._again):
            yield from self.end()

    def event(self, event: Event) -> Iterator[Event]:
        """Yield the event, after what is due before it, or nothing if it only repeats."""
        if (key := _once_key(event)) and key in self._once:
            return
        if self._known and _fingerprint(event) in self._known:
            return
        yield from self.end()
        yield event

    def end(self) -> Iterator[Event]:
        """Yield what is due when the repetition ends here."""
        again, sent = self._again, self._sent
        self._sent = self._again = ""
        self._known.clear()
        if again.startswith(sent) and again != sent:
            yield {"type": "content", "text": again[len(sent) :]}
        elif again and again != sent:
            yield {"type": "content", "text": again, "restarts": True}


def _once_key(event: Event) -> tuple[str, str] | None:
    name = ONCE.get(event["type"])
    return (event["type"], str(event.get(name))) if name else None


def _fingerprint(event: Event) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_SORT_KEYS)


def _last_text(events: Sequence[Event]) -> str:
    """Return the text since the last event of another type."""
    text = ""
    for event in events:
        text = text + event["text"] if event["type"] == "content" else ""
    return text
