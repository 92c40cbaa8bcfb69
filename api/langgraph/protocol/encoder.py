"""Events of the log in LangGraph's second protocol, whose numbers grow over all runs of a thread.

A number is made of the run's in its thread, the event's in its run, and a slot: nothing has to be stored for it.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import orjson

from api.events.frames import Event, Frame
from api.langgraph.entrance import Json
from api.langgraph.streams.frames import CONTENT, REASONING, encode_frame
from graph.approvals.payload import ALLOWED_DECISIONS

SLOTS: Final = 10
RUN_SPAN: Final = 10**8
CHECKPOINT_SLOT: Final = 8
VALUES_SLOT: Final = 9
INPUT: Final = "input.requested"
LIFECYCLE: Final = "lifecycle"
ENDED: Final[Mapping[str, str]] = {"success": "completed", "cancelled": "interrupted"}
GOES_ON: Final = frozenset({"run", "approval_resolved", "plan_resumed"})
WORKS: Final = frozenset({*GOES_ON, "tool_call_start", CONTENT, REASONING})
"""The events that tell of work: a run that asked, and is stopped, has none of them any more."""
CHANNELS: Final = frozenset(
    {"values", "updates", "messages", "tools", LIFECYCLE, "input", "checkpoints", "tasks", "custom"}
)

Part = tuple[int, str, Any]
"""A slot, a method and its data."""


def number_of(run_number: int, seq: int, slot: int = 0) -> int:
    """Return the number of an event in its thread."""
    return run_number * RUN_SPAN + seq * SLOTS + slot


def is_channel(name: str) -> bool:
    """Say whether there is such a channel."""
    return name in CHANNELS or name.startswith("custom:")


class ProtocolEncoder:
    """Turns the events of one run into those of the protocol: of the channels, and behind a number."""

    def __init__(self, run_number: int, channels: Collection[str], since: int) -> None:
        self._run_number = run_number
        self._channels = frozenset(channels)
        self._since = since
        # The end of a run that asks is told already: clients would take it for that of the next one.
        self._asks = False
        self._message: str | None = None
        self._text = ""

    def encode(self, frame: Frame) -> bytes:
        """Return an event of the log as those of the protocol."""
        event: Event = orjson.loads(frame.data)
        return b"".join(self.part(frame.seq, *part) for part in self._parts(event))

    def part(self, seq: int, slot: int, method: str, data: Any) -> bytes:
        """Return one event of the protocol; nothing if nobody asked for its channel, or has it already."""
        number = number_of(self._run_number, seq, slot)
        if number <= self._since or not self._is_wanted(method, data):
            return b""
        about = {"namespace": [], "timestamp": number, "data": data}
        event = {"type": "event", "event_id": str(number), "seq": number, "method": method, "params": about}
        return b"id: %d\n" % number + encode_frame(method, event)

    def step_of(self, seq: int) -> int:
        """Return a number for a state after an event, which grows over all runs of the thread."""
        return number_of(self._run_number, seq) // SLOTS

    def wants(self, channel: str) -> bool:
        """Say whether a channel was asked for."""
        return channel in self._channels

    def _is_wanted(self, method: str, data: Any) -> bool:
        if method == "custom":
            return bool(self._channels & {"custom", f"custom:{data['name']}"})
        return ("input" if method == INPUT else method) in self._channels

    def _parts(self, event: Event) -> Iterator[Part]:
        kind: str = event["type"]
        if kind in WORKS and not _is_stopped(event):
            self._asks = False
        if kind in {CONTENT, REASONING}:
            yield from self._words(event)
            return
        yield from self._end_message()
        yield 5, "custom", {"name": kind, "payload": event}
        match kind:
            case _ if kind in GOES_ON and not self._asks:
                yield 6, LIFECYCLE, {"event": "running"}
            case "tool_call_start":
                called = {"tool_call_id": event["tool_call_id"], "tool_name": event["name"], "input": event["args"]}
                yield 6, "tools", {"event": "tool-started", **called}
            case "tool_call_end":
                yield 6, "tools", _ended_call(event)
            case "approval_needed":
                self._asks = True
                yield 6, INPUT, question_of(event)
                yield 7, LIFECYCLE, {"event": "interrupted"}
            case "done" if not self._asks:
                yield 6, LIFECYCLE, {"event": ENDED[event["status"]]}
            case "error":
                yield 6, LIFECYCLE, {"event": "failed", "error": event["message"]}
            case _:
                return

    def _words(self, event: Event) -> Iterator[Part]:
        key, is_thought = str(event.get("message_id")), event["type"] == REASONING
        if is_thought:
            return
        if key != self._message or event.get("restarts"):
            yield from self._end_message()
            self._message, self._text = key, ""
            yield 2, "messages", {"event": "message-start", "role": "ai", "id": key, "message_id": key}
            block = {"type": "text", "text": ""}
            yield 3, "messages", {"event": "content-block-start", "index": 0, "content": block, "message_id": key}
        self._text += event["text"]
        delta = {"type": "text-delta", "text": event["text"]}
        yield 4, "messages", {"event": "content-block-delta", "index": 0, "delta": delta, "message_id": key}

    def _end_message(self) -> Iterator[Part]:
        if self._message is None:
            return
        key, self._message = self._message, None
        block = {"type": "text", "text": self._text}
        yield 0, "messages", {"event": "content-block-finish", "index": 0, "content": block, "message_id": key}
        yield 1, "messages", {"event": "message-finish", "message_id": key}


def _is_stopped(event: Event) -> bool:
    """Say whether an event tells that a question is dropped, as its run is stopped."""
    return event["type"] == "approval_resolved" and event["status"] == "cancelled"


def question_of(event: Event) -> Json:
    """Return a question in the shape that public clients render; one of their SDKs reads `value`, one `payload`."""
    actions: list[Json] = event["actions"]
    requests = [
        {"name": one["name"], "args": one["args"], "description": f"{one['reason']}\n\n{one['preview']}"}
        for one in actions
    ]
    names = dict.fromkeys(one["name"] for one in actions)
    configs = [{"action_name": name, "allowed_decisions": [*ALLOWED_DECISIONS]} for name in names]
    value = {
        "action_requests": requests,
        "review_configs": configs,
        **{name: event[name] for name in ("approval_id", "expires_at", "actions")},
    }
    return {"interrupt_id": event["approval_id"], "payload": value, "value": value}


def _ended_call(event: Event) -> Json:
    if event["status"] == "done":
        return {"event": "tool-finished", "tool_call_id": event["tool_call_id"], "output": event["result"]}
    return {"event": "tool-error", "tool_call_id": event["tool_call_id"], "message": str(event["result"])}
