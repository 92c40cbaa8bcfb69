"""A thread of an export on its way back into the service, in parts of bounded size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from api.cli.client import ServiceClient

MAX_BYTES: Final = 1_000_000
MAX_MESSAGES: Final = 500
MAX_CHARACTERS: Final = 200_000
CUT: Final = "…"


def send_thread(client: ServiceClient, export_id: str, thread: dict[str, Any]) -> tuple[str, bool]:
    """Restore a thread; return its id here, and whether it was not there yet. Raises `ServiceError`."""
    shown = {name: thread[name] for name in ("thread_id", "title", "created_at", "updated_at")}
    parts = [*_parts(thread["messages"])] or [[]]
    made: dict[str, Any] = {}
    for number, messages in enumerate(parts, 1):
        body = {**shown, "export_id": export_id, "messages": messages, "is_last": number == len(parts)}
        made = client.post("/api/threads/import", body)
        if not made["is_new"]:
            break
    return made["thread_id"], made["is_new"]


def _parts(messages: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages in parts; results stay without a call that is not in the thread."""
    part: list[dict[str, Any]] = []
    size, called = 0, set[str]()
    for number, message in enumerate(messages):
        called |= {call["tool_call_id"] for call in message.get("tool_calls", ())}
        if message["role"] == "tool" and message.get("tool_call_id") not in called:
            continue
        shown = _message(number, message)
        more = len(json.dumps(shown))
        if part and (size + more > MAX_BYTES or len(part) == MAX_MESSAGES):
            yield part
            part, size = [], 0
        part.append(shown)
        size += more
    if part:
        yield part


def _message(number: int, message: dict[str, Any]) -> dict[str, Any]:
    text = message["text"]
    calls = [
        {"tool_call_id": call["tool_call_id"], "name": call["name"], "args": call["args"]}
        for call in message.get("tool_calls", ())
    ]
    return {
        "id": message["id"] or str(number),
        "role": message["role"],
        "text": text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + CUT,
        "tool_calls": calls,
        "citations": message.get("citations") or [],
        "tool_call_id": message.get("tool_call_id") or "",
        "name": message.get("name") or "",
        "status": message.get("status") or "",
    }
