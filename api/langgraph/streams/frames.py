"""Server-sent events in LangGraph's first format: `messages` and `custom` frames from events of the log.

The id of a frame is the number of its event and its place among the frames of that: a client that lost its connection
goes on behind it. Frames that show a state have none: only the newest state counts.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from api.events.frames import LINE_SEPARATORS, Event, Frame
from api.langgraph.streams.modes import Mode

HEARTBEAT: Final = b": heartbeat\n\n"
CONTENT: Final = "content"
REASONING: Final = "reasoning"
MESSAGES_SLOT: Final = 0
CUSTOM_SLOT: Final = 1
AGENT: Final = "drive_agent"
"""The node of an answer until the route says another one."""
FrameNumber = tuple[int, int]
"""An event's number, and the slot of a frame of it."""
_PLACE: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]))?")


def encode_frame(event: str, data: Any, place: FrameNumber | None = None, prefix: bytes = b"") -> bytes:
    """Return a frame; with an id, if it has a place. `prefix` stands before that."""
    encoded = data if isinstance(data, bytes) else orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS)
    for separator, escaped in LINE_SEPARATORS:
        encoded = encoded.replace(separator, escaped)
    named = b"id: %b%d-%d\n" % (prefix, *place) if place else b""
    return b"%bevent: %b\ndata: %b\n\n" % (named, event.encode(), encoded)


def read_place(last_event_id: str | None) -> FrameNumber | None:
    """Return the place behind which a client goes on; None: from the beginning. A malformed one is the beginning."""
    found = _PLACE.fullmatch(last_event_id or "")
    return (int(found[1]), int(found[2] or CUSTOM_SLOT)) if found else None


class FrameEncoder:
    """Turns the events of one run into frames of the modes, with ids behind a prefix if the stream is resumable."""

    def __init__(
        self, modes: frozenset[Mode], *, is_resumable: bool, after: FrameNumber | None = None, prefix: bytes = b""
    ) -> None:
        self._prefix = prefix
        self._modes = modes
        self._is_resumable = is_resumable
        self._after = after or (0, 0)
        self._node = AGENT
        self._since: dict[str, None] = {}

    @property
    def node(self) -> str:
        """The specialist that has the turn."""
        return self._node

    def encode(self, frame: Frame) -> bytes:
        """Return the frames of an event."""
        event: Event = orjson.loads(frame.data)
        if frame.type == "route_decision":
            self._node = event["agent"]
        shown = b""
        if "messages" in self._modes:
            shown += self._placed("messages", self._messages(event), (frame.seq, MESSAGES_SLOT))
        if "custom" in self._modes and frame.type not in {CONTENT, REASONING}:
            shown += self._placed("custom", iter([frame.data]), (frame.seq, CUSTOM_SLOT))
        return shown

    def _placed(self, name: str, data: Iterator[Any], place: FrameNumber) -> bytes:
        listed = [*data]
        if place <= self._after and self._after != (0, 0):
            return b""
        shown = place if self._is_resumable else None
        return b"".join(encode_frame(name, one, shown, self._prefix) for one in listed)

    def _messages(self, event: Event) -> Iterator[list[Any]]:
        """Yield the messages frames of an event: a piece of an answer, behind the removal of the text it replaces."""
        about = {"langgraph_node": self._node}
        if event["type"] == REASONING:
            thought = {"reasoning_content": event["text"]}
            yield [{**_chunk(event, ""), "additional_kwargs": thought}, about]
            return
        if event["type"] != CONTENT:
            self._since.clear()
            return
        if event.get("restarts"):
            for key in self._since:
                yield [{"type": "remove", "id": key, "content": ""}, about]
            self._since.clear()
        self._since[str(event.get("message_id"))] = None
        yield [_chunk(event, event["text"]), about]


def _chunk(event: Event, text: str) -> dict[str, Any]:
    return {"type": "AIMessageChunk", "id": event.get("message_id"), "content": text}
