"""Messages as chat completions take them (OpenAI API, "create chat completion")."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_data_block,
    is_data_content_block,
)

from graph.models.dialects import REASONING

NOT_SENT: Final = frozenset({"tool_use", "thinking", "reasoning", "reasoning_content", "function_call"})
"""Blocks of an answer that services do not take back."""
REASONING_MODEL: Final = re.compile(r"o\d")
"""These call the system's message the developer's."""


def request_body(model: str, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a streamed request, with all reasoning: the service's dialect decides which of it is sent.

    Raises TypeError for a message of a kind that services don't know.
    """
    body: dict[str, Any] = {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
        **{key: value for key, value in options.items() if value is not None},
    }
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    system = "developer" if REASONING_MODEL.match(model) else "system"
    body["messages"] = [_message(message, system) for message in messages]
    return body


def _message(message: BaseMessage, system: str) -> dict[str, Any]:
    if isinstance(message, ToolMessage):
        return {"content": _content(message), "role": "tool", "tool_call_id": message.tool_call_id}
    sent: dict[str, Any] = {"content": _content(message)}
    if message.name is not None:
        sent["name"] = message.name
    if isinstance(message, HumanMessage):
        return {**sent, "role": "user"}
    if isinstance(message, SystemMessage):
        return {**sent, "role": system}
    if not isinstance(message, AIMessage):
        raise TypeError(f"a message of the kind {message.type}")
    sent["role"] = "assistant"
    if reasoning := message.additional_kwargs.get(REASONING):
        sent[REASONING] = reasoning
    if message.tool_calls or message.invalid_tool_calls:
        sent["tool_calls"] = _calls(message)
        sent["content"] = sent["content"] or None
    return sent


def _calls(message: AIMessage) -> list[dict[str, Any]]:
    whole = [(call["id"], call["name"], json.dumps(call["args"], ensure_ascii=False)) for call in message.tool_calls]
    broken = [(call["id"], call["name"], call["args"]) for call in message.invalid_tool_calls]
    return [
        {"type": "function", "id": key, "function": {"name": name, "arguments": arguments}}
        for key, name, arguments in [*whole, *broken]
    ]


def _content(message: BaseMessage) -> str | list[Any]:
    content = cast("str | list[Any]", message.content)
    return [_block(block) for block in content if _is_sent(block)] if isinstance(content, list) else content


def _is_sent(block: Any) -> bool:
    return not isinstance(block, dict) or cast("dict[str, Any]", block).get("type") not in NOT_SENT


def _block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    part = cast("dict[str, Any]", block)
    if is_data_content_block(part):
        return convert_to_openai_data_block(part, api="chat/completions")
    if part.get("type") == "text" and "text" in part:
        return {"type": "text", "text": part["text"]}
    return part
