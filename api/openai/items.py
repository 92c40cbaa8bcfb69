"""The output of a response: its items, and the events by which a stream builds them up, in OpenAI's order."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from api.openai.decisions import request_items
from api.openai.pieces import Piece

Event = dict[str, Any]
LABELS: Final = {"text": "message", "thought": "reasoning"}


class Output:
    """Adds pieces to items; one that is open ends when another kind of words begins."""

    def __init__(self, answer_id: str) -> None:
        self._id = answer_id
        self.items: list[dict[str, Any]] = []
        self._open = ""
        self._text = ""
        self._citations: list[dict[str, Any]] = []

    @property
    def text(self) -> str:
        """Return the words of all messages so far."""
        return "".join(item["content"][0]["text"] for item in self.items if item["type"] == "message")

    def take(self, piece: Piece) -> list[Event]:
        """Return the events for a piece."""
        if piece.kind in LABELS:
            begun = [] if self._open == piece.kind else [*self.close(), *self._begin(piece.kind)]
            self._text += piece.text
            return [*begun, self._delta(piece.text)]
        if piece.kind == "citations":
            self._citations = _annotations(piece.event["citations"])
            return [self._annotation(number, one) for number, one in enumerate(self._citations)] if self._open else []
        if piece.kind == "approval":
            return [*self.close(), *self._requests(piece.event)]
        return []

    def close(self) -> list[Event]:
        """Return the events that end the open item."""
        if not self._open:
            return []
        kind, item, at = self._open, self.items[-1], self._place()
        self._open, text, self._text = "", self._text, ""
        if kind == "text":
            part = {**_text_part(text), "annotations": self._citations}
            self._citations = []
            item.update(status="completed", content=[part])
            part_at = {**at, "content_index": 0}
            ended = {"type": "response.output_text.done", **part_at, "text": text, "logprobs": []}
            done = {"type": "response.content_part.done", **part_at, "part": part}
        else:
            summary = {"type": "summary_text", "text": text}
            item.update(status="completed", summary=[summary])
            part_at = {**at, "summary_index": 0}
            ended = {"type": "response.reasoning_summary_text.done", **part_at, "text": text}
            done = {"type": "response.reasoning_summary_part.done", **part_at, "part": summary}
        return [ended, done, self._item_event("done", item)]

    def _begin(self, kind: str) -> list[Event]:
        self._open, number = kind, len(self.items)
        if kind == "text":
            item: dict[str, Any] = {"id": f"msg_{self._id}_{number}", "type": "message", "status": "in_progress"}
            item |= {"role": "assistant", "content": []}
            part_type, part, where = "response.content_part.added", _text_part(""), {"content_index": 0}
        else:
            item = {"id": f"rs_{self._id}_{number}", "type": "reasoning", "status": "in_progress", "summary": []}
            part, where = {"type": "summary_text", "text": ""}, {"summary_index": 0}
            part_type = "response.reasoning_summary_part.added"
        added = self._item_event("added", dict(item), number)
        self.items.append(item)
        return [added, {"type": part_type, **self._place(), **where, "part": part}]

    def _delta(self, text: str) -> Event:
        if self._open == "text":
            kind: Event = {"type": "response.output_text.delta", **self._place(), "content_index": 0}
            return {**kind, "delta": text, "logprobs": []}
        kind = {"type": "response.reasoning_summary_text.delta", **self._place(), "summary_index": 0}
        return {**kind, "delta": text}

    def _annotation(self, number: int, annotation: Mapping[str, Any]) -> Event:
        at = {**self._place(), "content_index": 0, "annotation_index": number}
        return {"type": "response.output_text.annotation.added", **at, "annotation": annotation}

    def _requests(self, event: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        for item in request_items(event):
            added = self._item_event("added", item, len(self.items))
            self.items.append(item)
            events += [added, self._item_event("done", item)]
        return events

    def _place(self) -> dict[str, Any]:
        return {"item_id": self.items[-1]["id"], "output_index": len(self.items) - 1}

    def _item_event(self, what: str, item: Mapping[str, Any], number: int | None = None) -> Event:
        index = len(self.items) - 1 if number is None else number
        return {"type": f"response.output_item.{what}", "output_index": index, "item": dict(item)}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _annotations(citations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the sources of an answer, which stand at its end in words too."""
    found = {"type": "url_citation", "start_index": 0, "end_index": 0}
    return [{**found, "url": one["address"], "title": one["path"] or one["name"]} for one in citations]
