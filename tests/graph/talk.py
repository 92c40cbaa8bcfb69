"""Turns of a conversation, as messages."""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage


def asking(key: str, *calls: str) -> AIMessage:
    """Return a message of a model that calls a tool once for each id."""
    return AIMessage("", id=key, tool_calls=[{"name": "read_file", "args": {}, "id": call} for call in calls])


def turn(number: int, size: int = 100) -> list[AnyMessage]:
    """Return a question, a call with a result of so many characters, and an answer."""
    return [
        HumanMessage(f"question {number}", id=f"h{number}"),
        asking(f"a{number}", f"c{number}"),
        ToolMessage("r" * size, id=f"t{number}", tool_call_id=f"c{number}"),
        AIMessage(f"answer {number}", id=f"e{number}"),
    ]


def turns(count: int, size: int = 100) -> list[AnyMessage]:
    """Return several turns."""
    return [message for number in range(count) for message in turn(number, size)]
