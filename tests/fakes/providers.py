"""Services that refuse what their real counterparts refuse, in their words: each is a brain of `OpenAIServer`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.fakes.openai_server import Failure, Pieces, Reply, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

Request = dict[str, Any]

UNAVAILABLE = "This response_format type is unavailable now"
NO_CHOICE = "deepseek-reasoner does not support this tool_choice"
MISSING = "Missing `reasoning_content` field in the assistant message at message index {}. For more information see ..."
REMOVE = (
    "The reasoning_content is an intermediate result for display purposes only and will not be included in the context "
    "for inference. Please remove the reasoning_content from your message to reduce network traffic."
)
NO_FORCE = (
    "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or "
    "object in thinking mode"
)
NO_JSON_MODE = (
    "<400> InternalError.Algo.InvalidParameter: Json mode response is not supported when enable_thinking is true"
)
UNSUPPORTED = "Unsupported {kind}: '{name}' is not supported with this model."
USE_OTHER = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
ID_OF_NINE = "Tool call id was {} but must be a-z, A-Z, 0-9, with a length of 9."
EXTRA = "{{'detail': [{{'type': 'extra_forbidden', 'loc': ['body', '{}'], 'msg': 'Extra inputs are not permitted'}}]}}"
NO_STRING = "[{{'loc': ('body', 'messages', {}, 'content'), 'msg': 'Input should be a valid string', 'input': None}}]"
NO_ITEM = "Item '{}' of type 'function_call' was provided without its required 'reasoning' item."
NO_TOOLS = "registry.ollama.ai/library/gemma3:4b does not support tools"
NO_OBJECT = "Forcing a function is not supported, and neither is response_format."

_SUMMARY = "response.reasoning_summary"
ITEM_DELTAS: dict[str, list[Request]] = {
    "reasoning": [
        {"type": f"{_SUMMARY}_part.added", "summary_index": 0, "part": {"type": "summary_text", "text": ""}},
        {"type": f"{_SUMMARY}_text.delta", "summary_index": 0, "delta": "Let me "},
        {"type": f"{_SUMMARY}_text.delta", "summary_index": 0, "delta": "see."},
    ],
    "message": [{"type": "response.output_text.delta", "content_index": 0, "delta": "Done.", "logprobs": []}],
    "function_call": [{"type": "response.function_call_arguments.delta", "delta": '{"name": "x"}'}],
}


def deepseek_thinking(request: Request) -> Reply:
    """DeepSeek from V3.2 on, thinking: its reasoning has to come back with the results of its calls."""
    if "response_format" in request:
        return Failure(400, UNAVAILABLE)
    if request.get("tool_choice") not in {None, "auto", "none"}:
        return Failure(400, NO_CHOICE)
    if (place := next(_calls_without_reasoning(request), None)) is not None:
        return Failure(400, MISSING.format(place))
    return _thinks_and_answers(request)


def deepseek_r1(request: Request) -> Reply:
    """DeepSeek before that: its reasoning must never come back."""
    if any("reasoning_content" in message for message in request["messages"]):
        return Failure(400, REMOVE)
    return _thinks_and_answers(request)


def fickle(request: Request) -> Reply:
    """A gateway: reasoning is demanded of it, and refused by the service behind it."""
    if any(message.get("reasoning_content") for message in request["messages"]):
        return Failure(400, REMOVE)
    if next(_calls_without_reasoning(request), None) is not None:
        return Failure(400, MISSING.format(1))
    return _thinks_and_answers(request)


def qwen_thinking(request: Request) -> Reply:
    """Qwen at DashScope, thinking."""
    if "response_format" in request:
        return Failure(400, NO_JSON_MODE, code="invalid_parameter_error")
    if request.get("tool_choice") not in {None, "auto", "none"}:
        return Failure(400, NO_FORCE, code="invalid_parameter_error")
    return _thinks_and_answers(request)


def openai_reasoning(request: Request) -> Reply:
    """The o series and GPT-5 of OpenAI."""
    if "max_tokens" in request:
        return Failure(400, USE_OTHER, code="unsupported_parameter")
    if request.get("temperature", 1) != 1:
        return Failure(400, UNSUPPORTED.format(kind="value", name="temperature"), code="unsupported_value")
    if "parallel_tool_calls" in request:
        return Failure(400, UNSUPPORTED.format(kind="parameter", name="parallel_tool_calls"))
    return _answers(request)


def mistral(request: Request) -> Reply:
    """Mistral: ids of 9 characters, no unknown field, thoughts as parts, usage in the last chunk."""
    for field in ("max_completion_tokens", "stream_options"):
        if field in request:
            return Failure(422, EXTRA.format(field))
    for key in _ids(request):
        if len(key) != 9 or not key.isalnum():
            return Failure(400, ID_OF_NINE.format(key), code="3280")
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see. "}]}
    last = {**_chunk({"content": [{"type": "text", "text": "Done."}]}, "stop"), "usage": {"prompt_tokens": 5}}
    return _body(_chunk({"content": [thinking]}), last)


def strings_only(request: Request) -> Reply:
    """Servers that want a text in every message."""
    for place, message in enumerate(request["messages"]):
        if message.get("content") is None:
            return Failure(400, NO_STRING.format(place))
    return _answers(request)


def without_tools(request: Request) -> Reply:
    """A small local model that knows no tools, and writes its thoughts into its text."""
    if "response_format" in request:
        return Failure(400, NO_OBJECT)
    if request.get("tools"):
        return Failure(400, NO_TOOLS)
    said = '<think>\nWhich {one}?\n</think>\n\nHere:\n```json\n{"name": "x"}\n```'
    return _body(*(_chunk({"content": letter}) for letter in said), _chunk({}, "stop"))


def with_schema(request: Request) -> Reply:
    """A service that keeps its models to a schema, and tells of no usage."""
    schema = request["response_format"]["json_schema"]
    properties = schema["schema"]["properties"]
    if not schema["strict"] or schema["schema"]["required"] != list(properties):
        return Failure(400, "Invalid schema for response_format")
    return _body(_chunk({"content": json.dumps(dict.fromkeys(properties, "x"))}), _chunk({}, "stop"))


def openai_responses(request: Request) -> Reply:
    """OpenAI's other protocol: an item of reasoning before each call, and both have to come back."""
    before: Request = {}
    for item in request["input"]:
        if item.get("type") == "function_call" and before.get("type") != "reasoning":
            return Failure(400, NO_ITEM.format(item.get("id")))
        before = item
    was_called = any(item.get("type") == "function_call_output" for item in request["input"])
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "patch", "arguments": '{"name": "x"}'}
    text = {"type": "output_text", "text": "Done."}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
    return _items({"type": "reasoning", "id": "rs_1", "summary": []}, said if was_called else call)


def _items(*items: Request) -> Reply:
    """Return a stream of these items, each begun empty."""
    base: Request = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "tools": [], "output": []}
    events: list[Request] = [{"type": "response.created", "response": base}]
    for place, item in enumerate(items):
        at = {"output_index": place, "item_id": item["id"]}
        begun = {key: type(value)() if key in {"arguments", "content"} else value for key, value in item.items()}
        events.append({"type": "response.output_item.added", "output_index": place, "item": begun})
        events += [{**delta, **at} for delta in ITEM_DELTAS[item["type"]]]
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    usage = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}
    events.append({"type": "response.completed", "response": {**base, "output": [*items], "usage": usage}})
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    return Pieces([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in numbered])


def _answers(request: Request) -> Reply:
    forced = request.get("tool_choice") not in {None, "auto", "none"}
    return _call(request) if forced else Stream([{"content": "Done."}])


def _thinks_and_answers(request: Request) -> Reply:
    """Think, and answer: with a call where tools are offered and none was made, with JSON where that is asked for."""
    thought = [{"content": None, "reasoning_content": "Let me "}, {"content": None, "reasoning_content": "see."}]
    if "JSON" in str(request["messages"][0]["content"]):
        return Stream([*thought, {"content": '{"name": "x"}'}])
    was_called = any(message["role"] == "tool" for message in request["messages"])
    if request.get("tools") and not was_called:
        return Stream([*thought, *_call(request).deltas], finish="tool_calls")
    return Stream([*thought, {"content": "Done."}])


def _call(request: Request) -> Stream:
    name = request["tools"][0]["function"]["name"]
    made = {"index": 0, "id": "call_0123456789", "function": {"name": name, "arguments": '{"name": "x"}'}}
    return Stream([{"tool_calls": [made]}], finish="tool_calls")


def _calls_without_reasoning(request: Request) -> Iterator[int]:
    messages: list[Request] = request["messages"]
    begun = max(place for place, message in enumerate(messages) if message["role"] == "user")
    for place, message in enumerate(messages[begun:], begun):
        if message.get("tool_calls") and "reasoning_content" not in message:
            yield place


def _ids(request: Request) -> Iterator[str]:
    for message in request["messages"]:
        yield from (call["id"] for call in message.get("tool_calls") or ())
        if message["role"] == "tool":
            yield message["tool_call_id"]


def _chunk(delta: Request, finish: str | None = None) -> Request:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _body(*chunks: Request) -> Reply:
    return Pieces([*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), b"data: [DONE]\n\n"])
