"""Calls as strict services take them back.

Some services refuse a whole conversation in which a call's arguments are no JSON object or its name is no name, and one
such answer of a model would be the end of the thread.
"""

import re
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, ToolCall
from langchain_core.messages.tool import tool_call

from graph.messages.grouping import AnyCall

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What the name of a function may be (OpenAI API, "create chat completion")."""
NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
NO_NAME: Final = "unknown"
LONGEST_NAME: Final = 64


def sendable(message: AnyMessage) -> AnyMessage:
    """Return the message with every call in it well formed; what was wrong with a call is in its result.

    Broken calls go out without arguments. The thread keeps the message as it was.
    """
    if not isinstance(message, AIMessage) or _is_sendable(message):
        return message
    calls = [_renamed(call) for call in message.tool_calls]
    emptied = [_renamed({**call, "args": {}}) for call in message.invalid_tool_calls]
    return message.model_copy(update={"tool_calls": [*calls, *emptied], "invalid_tool_calls": []})


def _is_sendable(message: AIMessage) -> bool:
    return not message.invalid_tool_calls and all(NAME.fullmatch(call["name"]) for call in message.tool_calls)


def _renamed(call: AnyCall | dict[str, object]) -> ToolCall:
    name = NOT_IN_A_NAME.sub("_", str(call["name"] or ""))[:LONGEST_NAME].strip("_") or NO_NAME
    args = call["args"]
    return tool_call(name=name, args=args if isinstance(args, dict) else {}, id=str(call["id"]))
