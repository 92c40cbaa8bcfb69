"""The way of a run's events to its log: filtered for links, and without the events that clients have already.

Clients may show all `content` of a run as one text, so the filter reads it as one: texts of two messages are kept apart
by an empty line, and nothing can be made of the two.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

import orjson

from api.events.frames import Event, Frame
from api.events.reasoning import ASIDE, READING, ReasoningStream
from graph.events.definitions import EVENTS
from graph.events.sending import Delta, ReadingDelta, ReasoningDelta, TextWithdrawn
from graph.links.filter import LinkFilter

PARAGRAPH: Final = "\n\n"


class ReplayFilter:
    """Drops the events that `frames`, the run's stored ones, have already.

    A run that continues after a crash repeats its last steps. Events that the log has are dropped until the first new
    one, and events with a `KEY` (`graph.events`) whenever they come. While the model repeats its texts, those are
    dropped too; once one differs, its whole new text is sent in one `content` event with `restarts: true`: the text
    since the last event of another type is void. Reasoning that may be a repetition is dropped, and ends no text.
    `said` are the texts of the steps that are not repeated.
    """

    def __init__(self, frames: Sequence[Frame] = (), said: Sequence[str] = ()) -> None:
        stored: list[Event] = [orjson.loads(frame.data) for frame in frames]
        events = [event for event in stored if event["type"] not in ASIDE]
        self._sent_keys = {key for event in events if (key := _key(event))}
        self._sent_events = {_fingerprint(event) for event in events if event["type"] != "content"}
        self.earlier, self._sent_texts = _split_text(events, said)
        self._repeated = ""

    def text(self, delta: str) -> Iterator[Event]:
        """Yield the event for a text delta, or nothing while it only repeats."""
        if not self._sent_texts:
            self._sent_events.clear()
            yield {"type": "content", "text": delta}
            return
        self._repeated += delta
        if not self._sent_texts[0].startswith(self._repeated):
            yield from self.end()

    def reasoning(self, event: Event) -> Iterator[Event]:
        """Yield an event beside the answer, its reasoning or progress, or nothing while anything may repeat."""
        if not (self._sent_texts or self._sent_events):
            yield event

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

    def end_text(self) -> None:
        """Note that a text ends here: if it was the same as before, the next one may be too."""
        if self._sent_texts and self._repeated == self._sent_texts[0]:
            del self._sent_texts[0]
            self._repeated = ""

    def end(self) -> Iterator[Event]:
        """Yield the text that is due when the repetition ends here."""
        self.end_text()
        repeated, sent = self._repeated, next(iter(self._sent_texts), "")
        self._sent_texts, self._repeated = [], ""
        if not repeated:
            return
        self._sent_events.clear()
        if repeated.startswith(sent):
            yield {"type": "content", "text": repeated[len(sent) :]}
        else:
            yield {"type": "content", "text": repeated, "restarts": True}


class EventFilter:
    """Turns the text deltas and events of a run into clients' events, without those of `frames`, which are stored.

    `said` are the texts of the run that stand in the thread already.
    """

    def __init__(self, link_filter: LinkFilter, frames: Sequence[Frame] = (), said: Sequence[str] = ()) -> None:
        self._link_filter = link_filter
        self._reasoning = ReasoningStream(link_filter.another())
        self._replay = ReplayFilter(frames, said)
        self._message_id: str | None = None
        self._step_id = self._repeated_id = ""
        for frame in frames:
            self._note(orjson.loads(frame.data))
        self._since, self._begun = "", 0
        self._last = self._gap = ""
        self._feed(self._replay.earlier)
        self._link_filter.end()
        self._gap = PARAGRAPH

    def delta(self, delta: Delta) -> Iterator[Event]:
        """Yield the events for a delta of a model; after the last one of an answer, nothing is held back."""
        if isinstance(delta, TextWithdrawn):
            yield from self._withdraw()
            return
        if isinstance(delta, ReadingDelta):
            yield from self._thought([{"type": READING, "read": delta.read, "total": delta.total}])
            return
        if isinstance(delta, ReasoningDelta):
            yield from self._thought(self._reasoning.feed(delta))
            return
        yield from self._thought(self._reasoning.end())
        if not delta.text:
            yield from self._release()
            self._replay.end_text()
            self._gap, self._repeated_id = PARAGRAPH, ""
        elif delta.message_id != self._message_id:
            yield from self._release()
            self._message_id, self._gap, self._begun = delta.message_id, PARAGRAPH, len(self._since)
        if text := self._feed(delta.text):
            yield from self._marked(self._replay.text(text))

    def event(self, event: Event) -> Iterator[Event]:
        """Yield an event of the graph, after the text that is due before it."""
        yield from self._thought(self._reasoning.end())
        yield from self._release()
        if event["type"] != "content":
            yield from self._marked(self._replay.event(self.clean(event)))
            self._note(event)
            return
        self._message_id = event["message_id"]
        yield from self._marked(self._replay.text(self._whole(event["text"])))
        self._replay.end_text()
        self._repeated_id = ""

    def clean(self, event: Event) -> Event:
        """Return an event without text of the answer, filtered by its definition."""
        return EVENTS[event["type"]].filter_text(event, self._link_filter.clean)

    def end(self) -> Iterator[Event]:
        """Yield the events that are due when the stream ends here."""
        yield from self._thought(self._reasoning.end())
        yield from self._release()
        yield from self._marked(self._replay.end())

    def _withdraw(self) -> Iterator[Event]:
        """Yield the event that takes back the text of the message so far: clients show the text before it again."""
        yield from self._release()
        yield from self._marked(self._replay.end())
        kept = self._since[: self._begun]
        self._gap, self._last, self._since = PARAGRAPH, kept[-1:], ""
        yield from self._marked([{"type": "content", "text": kept, "restarts": True}])

    def _marked(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events, texts with the ids of their message and step.

        Text that continues a stored text keeps the id of the stored message; the repeated one has another.
        """
        for event in events:
            if event["type"] != "content":
                self._since, self._begun = "", 0
                yield event
                continue
            if event.get("restarts"):
                self._repeated_id = self._since = ""
            self._since += event["text"]
            of_step = {"step_id": self._step_id} if self._step_id else {}
            yield {**event, "message_id": self._repeated_id or self._message_id or "", **of_step}

    def _thought(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events beside the answer that are no repetition, with the step's id."""
        of_step = {"step_id": self._step_id} if self._step_id else {}
        for event in events:
            yield from self._replay.reasoning({**event, **of_step})

    def _note(self, event: Event) -> None:
        """Note the step that is carried out, and the message that a repetition goes on with."""
        if event["type"] in ASIDE:
            return
        if event["type"] == "task_step_update":
            self._step_id = event["step_id"] if event["status"] == "in-progress" else ""
        self._repeated_id = event.get("message_id", "") if event["type"] == "content" else ""

    def _whole(self, text: str) -> str:
        """Return a text that is a message, or a paragraph of one, as it may be sent."""
        self._gap = PARAGRAPH
        filtered = self._feed(text) + self._ended()
        self._gap = PARAGRAPH
        return filtered

    def _feed(self, text: str) -> str:
        """Return the part of a text that may be sent, with the gap that is due before it."""
        if not text:
            return ""
        if self._last and not (self._last[-1].isspace() or text[0].isspace()):
            text = self._gap + text
        self._gap, self._last = "", text[-1]
        return self._link_filter.feed(text)

    def _ended(self) -> str:
        """Return the held-back text, and the end of an open block of code."""
        rest = self._link_filter.end()
        self._last = rest[-1:] or self._last
        return rest

    def _release(self) -> Iterator[Event]:
        """Send the held-back text. If it may begin an address, keep it apart from the text that follows."""
        rest = self._ended()
        self._gap = self._gap or (" " if rest and not rest.isalnum() else "")
        if rest:
            yield from self._marked(self._replay.text(rest))


def _key(event: Event) -> tuple[str, str] | None:
    return EVENTS[event["type"]].replay_key(event)


def _fingerprint(event: Event) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_SORT_KEYS)


def _split_text(events: Sequence[Event], said: Sequence[str]) -> tuple[str, list[str]]:
    """Return the text that stands in the thread, and the texts that follow it, which may be repeated.

    If the thread has other words, the text since the last other event may be repeated.
    """
    texts = [""]
    for event in events:
        if event["type"] != "content":
            texts.append("")
        else:
            texts[-1] = ("" if event.get("restarts") else texts[-1]) + event["text"]
    whole = "".join(texts)
    end = _end_of(said, whole)
    end = len(whole) - len(texts[-1]) if end is None else end
    begins = accumulate((len(text) for text in texts), initial=0)
    rest = [text[max(0, end - begin) :] for begin, text in zip(begins, texts, strict=False)]
    return whole[:end], [text for text in rest if text]


def _end_of(said: Sequence[str], text: str) -> int | None:
    """Return where these texts end in a text that begins with them and the gaps between them; None if it does not."""
    end = 0
    for one in said:
        gap = next((gap for gap in ("", PARAGRAPH, " ") if text.startswith(f"{gap}{one}", end)), None)
        if gap is None:
            return None
        end += len(gap) + len(one)
    return end
