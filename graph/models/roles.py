"""The roles of a request's messages in the order that every chat template takes.

The templates of Mistral and Gemma refuse two messages of one role in a row, a first message of the assistant, and words
of the person right behind a tool's result (Hugging Face, "chat templates"; the models' `chat_template.jinja`). Threads
have such places: after a turn that failed, was stopped, or was cut out of the window, and where a plan's step follows
the person's request.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graph.messages.steps import STEP
from graph.messages.turn_context import context_of

GO_ON: Final = "Go on with the request."
NO_ANSWER: Final = "…"
"""Stands for an answer that never came. Small models repeat a sentence that stands here."""
LEFT_OUT: Final = "(Earlier messages are left out.)"
BETWEEN: Final = "\n\n"


def alternating(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """Return the messages with roles that alternate and end with the person or a tool; the same ones if they do.

    The person's messages in a row become one, as do answers; a missing answer or message is stood in for.
    """
    return messages if is_alternating(messages) else [*_ended(_opened(_filled(_joined(messages))))]


def ended_with_turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """Return the messages with one of the person's last if it would be the assistant's."""
    return [*_ended(iter(messages))]


def is_alternating(messages: Sequence[BaseMessage]) -> bool:
    """Say whether every chat template takes the roles in this order."""
    roles = [_role(message) for message in messages if not isinstance(message, SystemMessage)]
    pairs = zip(["assistant", *roles], roles, strict=False)
    is_whole = all(_is_said(message) for message in messages if isinstance(message, AIMessage))
    return bool(roles) and is_whole and roles[-1] != "assistant" and all(pair in FOLLOWING for pair in pairs)


FOLLOWING: Final = frozenset(
    {
        ("assistant", "user"),
        ("user", "assistant"),
        ("user", "calls"),
        ("calls", "tool"),
        ("tool", "tool"),
        ("tool", "calls"),
        ("tool", "assistant"),
    }
)
"""Which role may follow which; an answer with calls is a role of its own."""


def _role(message: BaseMessage) -> str:
    if isinstance(message, AIMessage):
        return "calls" if message.tool_calls or message.invalid_tool_calls else "assistant"
    return "tool" if isinstance(message, ToolMessage) else "user"


def _is_said(message: AIMessage) -> bool:
    return _role(message) == "calls" or bool(message.content)


def _joined(messages: Sequence[BaseMessage]) -> Iterator[BaseMessage]:
    """Yield the messages with neighbours of one role joined, except for results and system messages."""
    said = (message for message in messages if not isinstance(message, AIMessage) or _is_said(message))
    for kind, group in groupby(said, key=type):
        parts = [*group]
        if not issubclass(kind, HumanMessage | AIMessage):
            yield from parts
            continue
        while parts:
            joined = parts.pop(0)
            while parts and _role(joined) != "calls":
                joined = _merged(joined, parts.pop(0))
            yield joined


def _merged(first: BaseMessage, second: BaseMessage) -> BaseMessage:
    """Return the second message with the words of the first before its own; the product's part stays in front."""
    if isinstance(first.content, str) and isinstance(second.content, str):
        context = context_of(second)
        words = (first.content, second.content[len(context) :])
        content: Any = context + BETWEEN.join(filter(None, words))
    else:
        content = [*_parts(first), *_parts(second)]
    return second.model_copy(update={"content": content})


def _parts(message: BaseMessage) -> list[Any]:
    return [{"type": "text", "text": message.content}] if isinstance(message.content, str) else [*message.content]


def _filled(messages: Iterator[BaseMessage]) -> Iterator[BaseMessage]:
    """Yield the messages, with an answer between a tool's result, or a call without any, and the person's words."""
    before = ""
    for message in messages:
        role = _role(message)
        if role == "user" and before in {"tool", "calls"} and not isinstance(message, SystemMessage):
            yield AIMessage(NO_ANSWER)
        before = role
        yield message


def _opened(messages: Iterator[BaseMessage]) -> Iterator[BaseMessage]:
    """Yield the messages, with one of the person's first after the system messages."""
    has_begun = False
    for message in messages:
        if not has_begun and not isinstance(message, SystemMessage):
            has_begun = True
            if not isinstance(message, HumanMessage):
                yield HumanMessage(LEFT_OUT, additional_kwargs={STEP: True})
        yield message


def _ended(messages: Iterator[BaseMessage]) -> Iterator[BaseMessage]:
    """Yield the messages, with one of the person's last if it would be the assistant's, or the system's alone."""
    last: BaseMessage | None = None
    for message in messages:
        last = message
        yield message
    if last is not None and (isinstance(last, SystemMessage) or _role(last) == "assistant"):
        yield HumanMessage(GO_ON, additional_kwargs={STEP: True})
