"""A run as a conversation shows it: its events become pieces of an answer, always the same ones for the same events."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from api.events.frames import Event, Frame
from api.openai.words import TEXTS, say
from graph.language import Language

PARAGRAPH: Final = "\n\n"
_ADDRESS: Final = re.compile(r"(?:https?:/)?/\S*\Z")

Kind = Literal["text", "thought", "citations", "approval", "end"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer: words of the answer or beside it, a call that waits for a decision, or the end.

    `seq` is the number of its event. The `event` is there for all but words.
    """

    kind: Kind
    text: str = ""
    seq: int = 0
    event: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Rendering:
    """Turns the events of a run into pieces. `address_of` names the page on which an approval is decided,
    `clean` filters links.

    Addresses of the drive itself are all that it adds: everything else of the events has passed the link filter.
    """

    def __init__(self, language: Language, address_of: Callable[[str], str], clean: Callable[[str], str]) -> None:
        self._language: Language = language
        self._address_of = address_of
        self._clean = clean
        self._shown = self._since = ""
        self._thought = "\n"

    def take(self, frames: Sequence[Frame]) -> Iterator[Piece]:
        """Yield the pieces of the events, in order."""
        for frame in frames:
            render = getattr(self, f"_{frame.type.replace('.', '_')}", None)
            if frame.type != "content":
                self._since = ""
            if render is not None:
                yield from render(frame.seq, orjson.loads(frame.data))

    def _content(self, seq: int, event: Event) -> Iterator[Piece]:
        text = event["text"]
        if event.get("restarts"):
            text = self._rest_of(text)
        else:
            self._since += text
        if text:
            yield self._words(text, seq)

    def _rest_of(self, whole: str) -> str:
        """Return the rest of a text that takes the place of the one shown: nothing can be taken back here."""
        before, self._since = self._since, whole
        if whole.startswith(before) or before.startswith(whole):
            return whole[len(before) :]
        return f"{PARAGRAPH}{whole}"

    def _words(self, text: str, seq: int) -> Piece:
        self._shown = (self._shown + text)[-2:]
        return Piece("text", text, seq)

    def _paragraph(self, text: str, seq: int) -> Piece:
        return self._words(f"{PARAGRAPH if self._shown else ''}{text}", seq)

    def _reasoning(self, seq: int, event: Event) -> Iterator[Piece]:
        self._thought = event["text"][-1:] or self._thought
        yield Piece("thought", event["text"], seq)

    def _line(self, text: str, seq: int) -> Piece:
        gap, self._thought = "" if self._thought == "\n" else "\n", "\n"
        return Piece("thought", f"{gap}{self._clean(text)}\n", seq)

    def _task_plan(self, seq: int, event: Event) -> Iterator[Piece]:
        titles = [f"{number}. {step['title']}" for number, step in enumerate(event["steps"], 1)]
        yield self._line("\n".join(titles), seq)

    def _tool_call_start(self, seq: int, event: Event) -> Iterator[Piece]:
        yield self._line(say("call.begun", self._language, name=event["name"]), seq)

    def _tool_call_end(self, seq: int, event: Event) -> Iterator[Piece]:
        code = f"call.{event['status']}"
        yield self._line(say(code if code in TEXTS else "call.error", self._language, name=event["name"]), seq)

    def _approval_needed(self, seq: int, event: Event) -> Iterator[Piece]:
        lines = [say("waits", self._language), *(f"- {sentence_of(action)}" for action in event["actions"])]
        where = say("decide", self._language, address=self._address_of(event["approval_id"]))
        yield self._paragraph(f"{self._clean(chr(10).join(lines))}{PARAGRAPH}{where}{PARAGRAPH}", seq)
        yield Piece("approval", seq=seq, event=event)

    def _plan_paused(self, seq: int, event: Event) -> Iterator[Piece]:
        yield self._paragraph(say("paused", self._language), seq)
        yield Piece("end", seq=seq, event={**event, "status": "paused"})

    def _citations(self, seq: int, event: Event) -> Iterator[Piece]:
        # A withheld one has a sentence in place of its address.
        verified = [one for one in event["citations"] if one["verified"] and _ADDRESS.match(one["address"])]
        if verified:
            lines = [f"[{one['number']}] [{_label(one, self._language)}]({one['address']})  " for one in verified]
            yield self._paragraph("\n".join([say("sources", self._language), "", *lines]), seq)
            yield Piece("citations", seq=seq, event={**event, "citations": verified})

    def _done(self, seq: int, event: Event) -> Iterator[Piece]:
        if event["status"] == "cancelled":
            yield self._paragraph(say("cancelled", self._language), seq)
        yield Piece("end", seq=seq, event=event)

    def _error(self, seq: int, event: Event) -> Iterator[Piece]:
        yield Piece("end", seq=seq, event=event)


def sentence_of(action: Mapping[str, Any]) -> str:
    """Return a line that describes a call."""
    question: Mapping[str, Any] | None = action.get("question")
    said = question["message"] if question else action["preview"]
    return next((line.strip() for line in said.splitlines() if line.strip()), "") or action["name"]


def _label(citation: Mapping[str, Any], language: Language) -> str:
    """Return the name of a source as the text of a link, of which nothing is markup."""
    place = f", {citation['place']}" if citation.get("place") else ""
    text = (
        f"{citation['path'] or citation['name']}, {say('version', language, version=str(citation['version']))}{place}"
    )
    return "".join(f"\\{sign}" if sign in "\\[]`<>*_!" else sign for sign in " ".join(text.split()))
