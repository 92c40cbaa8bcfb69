"""The messages of a thread as models need them: each call with its results, and the calls still open."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, InvalidToolCall, ToolCall, ToolMessage

AnyCall = ToolCall | InvalidToolCall
_RANDOM: Final = re.compile(r"(?:call_|toolu_|chatcmpl-tool-)[A-Za-z0-9_-]{20,}$")
"""Ids that services draw at random; others count anew in every answer."""
Block = list[AnyMessage]
"""A person's message, or a model's message together with the results of its calls."""


def blocks_of(messages: Sequence[AnyMessage]) -> list[Block]:
    """Group each call with its results, wherever those were written; orphans and empty answers are left out."""
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    blocks: list[Block] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            blocks.append([message])
        elif isinstance(message, AIMessage) and (message.text or call_ids(message)):
            blocks.append([message, *(results[key] for key in call_ids(message) if key in results)])
    return blocks


def call_ids(message: AIMessage) -> list[str]:
    """Return the ids of all calls in the message, the malformed ones too."""
    return [str(call["id"]) for call in _calls(message)]


def used_call_ids(messages: Sequence[AnyMessage], wanted: Sequence[str]) -> set[str]:
    """Return the ids that `wanted` calls may collide with: of the whole thread, unless all of them are random."""
    if all(_RANDOM.match(key) for key in wanted):
        messages = current_turn(messages)
    results = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return results | {
        key for message in current_turn(messages) if isinstance(message, AIMessage) for key in call_ids(message)
    }


def unanswered(messages: Sequence[AnyMessage]) -> list[AnyCall]:
    """Return the calls of the running turn that have no result yet, in order; see `open_calls` for earlier turns."""
    return open_calls(list(current_turn(messages)))


def open_calls(messages: Sequence[AnyMessage]) -> list[AnyCall]:
    """Return all calls that have no result, in order."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = [call for message in messages if isinstance(message, AIMessage) for call in _calls(message)]
    return [call for call in calls if str(call["id"]) not in answered]


def current_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """Return the messages since the person's newest one, with it; all of them if there is none."""
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage):
            return messages[index:]
    return messages


def turns_of(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield the blocks of each turn: a turn begins with a message of the person."""
    turn: list[Block] = []
    for block in blocks:
        if turn and isinstance(block[0], HumanMessage):
            yield turn
            turn = []
        turn.append(block)
    if turn:
        yield turn


def messages_from(messages: Sequence[AnyMessage], first: str | None) -> Sequence[AnyMessage]:
    """Return the messages from the one with this id on; all of them if there is none. Looks from the end."""
    for index in range(len(messages) - 1, -1, -1) if first else ():
        if messages[index].id == first:
            return messages[index:]
    return messages


def _calls(message: AIMessage) -> list[AnyCall]:
    return [*message.tool_calls, *message.invalid_tool_calls]
