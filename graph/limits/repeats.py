"""Detect loops of a model: the same tool with the same arguments and the same result each time."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.messages.grouping import AnyCall
from graph.messages.window import result_identity


def messages_of_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """Return what came after the person's newest message."""
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage):
            return messages[index + 1 :]
    return messages


def repeated_calls(messages: Sequence[AnyMessage]) -> Counter[str]:
    """Return how often each call of a turn (by `fingerprint`) had the result that it had most often."""
    results = {
        message.tool_call_id: result_identity(message) for message in messages if isinstance(message, ToolMessage)
    }
    outcomes: Counter[tuple[str, str]] = Counter()
    for message in messages:
        if isinstance(message, AIMessage):
            calls: list[AnyCall] = [*message.tool_calls, *message.invalid_tool_calls]
            outcomes.update((fingerprint(call), results[str(call["id"])]) for call in calls if call["id"] in results)
    most: Counter[str] = Counter()
    for (call, _), times in outcomes.items():
        most[call] = max(most[call], times)
    return most


def fingerprint(call: AnyCall | Mapping[str, Any]) -> str:
    """Return what tells one call from another: its tool and its arguments, in whatever order they stand."""
    text = json.dumps([call["name"], call["args"]], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
