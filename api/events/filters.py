"""The way of a run's events to its log: filtered for links, and without the events that clients have already.

Clients may show all `content` of a run as one text, so the filter reads it as one: texts of two messages are kept apart
by an empty line, and nothing can be made of the two.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import orjson

from api.events.frames import Event, Frame
from graph.events import EVENTS, TextDelta
from graph.link_filter import LinkFilter

PARAGRAPH: Final = "\n\n"


class ReplayFilter:
    """Drops the events that `frames`, the run's stored ones, have already.

    A run that continues after a crash repeats its last step. Events that the log has are dropped until the first new
    one, and events with a key (`graph.events.KEY`) whenever they come. While the model repeats its text, that is
    dropped too; once it differs, its whole new text is sent in one `content` event with `restarts: true`: the text
    since the last event of another type is void. `said` is the text of the steps that are not repeated.
    """

    def __init__(self, frames: Sequence[Frame] = (), said: str = "") -> None:
        events: list[Event] = [orjson.loads(frame.data) for frame in frames]
        self._sent_keys = {key for event in events if (key := _key(event))}
        self._sent_events = {_fingerprint(event) for event in events if event["type"] != "content"}
        self._sent_text = _repeatable_text(events, said)
        self._repeated = ""

    def text(self, delta: str) -> Iterator[Event]:
        """Yield the event for a text delta, or nothing while it only repeats."""
        if not self._sent_text:
            self._sent_events.clear()
            yield {"type": "content", "text": delta}
            return
        self._repeated += delta
        if not self._sent_text.startswith(self._repeated):
            yield from self.end()

    def event(self, event: Event) -> Iterator[Event]:
        """Yield the event, after the text that is due before it, or nothing if it only repeats."""
        if (key := _key(event)) and key in self._sent_keys:
            return
        if self._sent_events and _fingerprint(event) in self._sent_events:
            return
        if self._repeated:
            yield from self.end()
        self._sent_events.clear()
        yield event

    def end(self) -> Iterator[Event]:
        """Yield the text that is due when the text ends here."""
        repeated, sent = self._repeated, self._sent_text
        self._sent_text = self._repeated = ""
        if repeated in {"", sent}:
            return
        self._sent_events.clear()
        if repeated.startswith(sent):
            yield {"type": "content", "text": repeated[len(sent) :]}
        else:
            yield {"type": "content", "text": repeated, "restarts": True}


class EventFilter:
    """Turns the text deltas and events of a run into clients' events, without those of `frames`, which are stored.

    `said` is the text that stands in the thread already.
    """

    def __init__(self, link_filter: LinkFilter, frames: Sequence[Frame] = (), said: str = "") -> None:
        self._link_filter = link_filter
        self._replay = ReplayFilter(frames, said)
        self._message_id: str | None = None
        self._last = self._gap = ""
        self._feed(_earlier_text(frames, said))
        self._link_filter.end()

    def delta(self, delta: TextDelta) -> Iterator[Event]:
        """Yield the events for a text delta of a model's answer; after the last one, nothing is held back."""
        if not delta.text:
            yield from self.end()
        elif delta.message_id != self._message_id:
            yield from self._release()
            self._message_id, self._gap = delta.message_id, PARAGRAPH
        if text := self._feed(delta.text):
            yield from self._replay.text(text)

    def event(self, event: Event) -> Iterator[Event]:
        """Yield an event of the graph, after the text that is due before it."""
        yield from self._release()
        filtered = self._filtered(event)
        if event["type"] != "content":
            yield from self._replay.event(filtered)
            return
        yield from self._replay.text(filtered["text"])
        yield from self._replay.end()

    def clean(self, event: Event) -> Event:
        """Return an event without text of the answer, filtered by its definition."""
        return EVENTS[event["type"]].filter_text(event, self._link_filter.clean)

    def end(self) -> Iterator[Event]:
        """Yield the events that are due when the stream ends here."""
        yield from self._release()
        yield from self._replay.end()

    def _filtered(self, event: Event) -> Event:
        if event["type"] != "content":
            return self.clean(event)
        self._gap = PARAGRAPH
        text = self._feed(event["text"]) + self._ended()
        self._gap = PARAGRAPH
        return {**event, "text": text}

    def _feed(self, text: str) -> str:
        """Return what may be sent of a text, with the gap that is due before it."""
        if not text:
            return ""
        if self._last and not (self._last[-1].isspace() or text[0].isspace()):
            text = self._gap + text
        self._gap, self._last = "", text[-1]
        return self._link_filter.feed(text)

    def _ended(self) -> str:
        """Return what was held back, and what closes an open block of code."""
        rest = self._link_filter.end()
        self._last = rest[-1:] or self._last
        return rest

    def _release(self) -> Iterable[Event]:
        """Send what is held back. If it may begin an address, it is kept apart from what follows."""
        rest = self._ended()
        self._gap = self._gap or (" " if rest and not rest.isalnum() else "")
        return self._replay.text(rest) if rest else ()


def _key(event: Event) -> tuple[str, str] | None:
    return EVENTS[event["type"]].replay_key(event)


def _fingerprint(event: Event) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_SORT_KEYS)


def _repeatable_text(events: Sequence[Event], said: str) -> str:
    """Return the text that follows what was `said`; where that stands otherwise, that since the last other event."""
    text = before = ""
    for event in events:
        if event["type"] != "content":
            before = text
        else:
            text = (before if event.get("restarts") else text) + event["text"]
    rest = _after(text, said)
    return text.removeprefix(before) if rest is None else rest


def _after(text: str, said: str) -> str | None:
    """Return what follows the words that were said, however they are spaced; None if the text begins otherwise."""
    position = 0
    for word in said.split():
        position = text.find(word, position) + len(word) if text[position:].lstrip().startswith(word) else -1
        if position < 0:
            return None
    return text[position:]


def _earlier_text(frames: Sequence[Frame], said: str) -> str:
    """Return the text that comes before the one that a model may repeat."""
    events: list[Event] = [orjson.loads(frame.data) for frame in frames]
    text = "".join(event["text"] for event in events if event["type"] == "content")
    return text.removesuffix(_repeatable_text(events, said))
