"""Anthropic's protocol and rules in front of a brain that speaks chat completions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.fakes.openai_server import Failure, Pieces, Reply, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Request = dict[str, Any]

LAST_IS_ASSISTANT = "This model does not support assistant message prefill. It must end with a user message."
EMPTY = "messages: text content blocks must be non-empty"
NO_RESULT = "`tool_use` ids were found without `tool_result` blocks immediately after: {}"
NO_CALL = "unexpected `tool_use_id` found in `tool_result` blocks: {}"
NO_LIMIT = "max_tokens: Field required"


def in_front_of(brain: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """Return a brain for Anthropic's requests: its refusals, else what the other one answers, in its events."""

    def answer(request: Request) -> Reply:
        if refusal := next(_refusals(request), None):
            return Failure(400, refusal, code="invalid_request_error")
        reply = brain(_translated(request))
        return _events(reply) if isinstance(reply, Stream) else reply

    return answer


def _refusals(request: Request) -> Iterator[str]:
    messages: list[Request] = request["messages"]
    if "max_tokens" not in request:
        yield NO_LIMIT
    if messages[-1]["role"] == "assistant":
        yield LAST_IS_ASSISTANT
    waiting = set[str]()
    for message in messages:
        blocks = _blocks(message["content"])
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            yield EMPTY
        answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if waiting - answered:
            yield NO_RESULT.format(waiting - answered)
        if answered - waiting:
            yield NO_CALL.format(answered - waiting)
        waiting = {block["id"] for block in blocks if block["type"] == "tool_use"}


def _blocks(content: Any) -> list[Request]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: Any) -> str:
    return "".join(block.get("text", "") for block in _blocks(content))


def _translated(request: Request) -> Request:
    messages: list[Request] = [{"role": "system", "content": _text(request["system"])}] if "system" in request else []
    for message in request["messages"]:
        blocks = _blocks(message["content"])
        results = [block for block in blocks if block["type"] == "tool_result"]
        messages += [
            {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _text(block["content"])}
            for block in results
        ]
        if len(results) == len(blocks):
            continue
        calls = [_call(block) for block in blocks if block["type"] == "tool_use"]
        messages.append(
            {"role": message["role"], "content": _text(message["content"]), **({"tool_calls": calls} if calls else {})}
        )
    tools = [{"function": {"name": tool["name"]}} for tool in request.get("tools", [])]
    choice = {"any": "required", "tool": "required"}.get(request.get("tool_choice", {}).get("type"))
    return {"messages": messages, **({"tools": tools} if tools else {}), **({"tool_choice": choice} if choice else {})}


def _call(block: Request) -> Request:
    return {"id": block["id"], "function": {"name": block["name"], "arguments": json.dumps(block["input"])}}


def _events(reply: Stream) -> Pieces:
    text = "".join(delta.get("content") or "" for delta in reply.deltas)
    made = [call for delta in reply.deltas for call in delta.get("tool_calls", ())]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []}
    usage = {"input_tokens": 7, "output_tokens": 1}
    events: list[Request] = [{"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}]
    blocks: list[tuple[Request, Request]] = []
    if text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": text}))
    for call in made:
        begun = {"type": "tool_use", "id": f"toolu_{call['id']}", "name": call["function"]["name"], "input": {}}
        blocks.append((begun, {"type": "input_json_delta", "partial_json": call["function"]["arguments"]}))
    for index, (begun, delta) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    reason = "tool_use" if made else "max_tokens" if reply.finish == "length" else "end_turn"
    ended = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 3}})
    events.append({"type": "message_stop"})
    return Pieces([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])
