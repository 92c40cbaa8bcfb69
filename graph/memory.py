"""What a model sees of a thread: the newest messages that fit, and a summary of what fell out. Destroys nothing.

The summary is extractive and made without a model: who asked what, and the beginning of what was answered. It is
deterministic, so the same thread always gives the same one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, InvalidToolCall, ToolCall, ToolMessage

SUMMARY_CHARACTERS: Final = 4_000
ASKED_CHARACTERS: Final = 300
ANSWERED_CHARACTERS: Final = 500
KEPT_ROUNDS: Final = 2
LEFT_OUT: Final = "[Left out to save room. Call the tool again if you need it.]"

AnyCall = ToolCall | InvalidToolCall
Block = list[AnyMessage]
"""A person's message, or a model's message together with the results of its calls."""


@dataclass(frozen=True, slots=True)
class Folded:
    """`summary` tells of the turns before `window_start`, the id of the first message that is still seen in full."""

    summary: str
    window_start: str | None


def fold(messages: Sequence[AnyMessage], budget: int) -> Folded:
    """Keep as many of the newest turns as fit in `budget` characters, at least the newest, and summarise the rest."""
    turns = _turns(messages)
    kept = len(turns) - 1
    room = budget - _size(turns[-1]) if turns else 0
    while kept > 0 and _size(turns[kept - 1]) <= room:
        kept -= 1
        room -= _size(turns[kept])
    if kept <= 0:
        return Folded("", None)
    return Folded(_summary(turns[:kept]), turns[kept][0].id)


def window(messages: Sequence[AnyMessage], start: str | None, budget: int) -> list[AnyMessage]:
    """Return the messages from the one with the id `start` on, each result right after its call.

    If they are longer than `budget` characters, the oldest tool results are replaced by a note; calls stay with their
    results, and those of the newest rounds stay whole.
    """
    first = next((index for index, message in enumerate(messages) if start and message.id == start), 0)
    blocks = blocks_of(messages[first:])
    excess = sum(_size(block) for block in blocks) - budget
    for index, block in enumerate(blocks[:-KEPT_ROUNDS]):
        if excess <= 0:
            break
        blocks[index] = [_without_content(message) for message in block]
        excess -= _size(block) - _size(blocks[index])
    return [message for block in blocks for message in block]


def blocks_of(messages: Sequence[AnyMessage]) -> list[Block]:
    """Group the messages so that each call is together with its results, wherever those were written.

    Results without a call, empty answers, and what is neither of a person, a model nor a tool are left out.
    """
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


def unanswered(messages: Sequence[AnyMessage]) -> list[AnyCall]:
    """Return the calls that have no result yet, in order."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = [call for message in messages if isinstance(message, AIMessage) for call in _calls(message)]
    return [call for call in calls if str(call["id"]) not in answered]


def _calls(message: AIMessage) -> list[AnyCall]:
    return [*message.tool_calls, *message.invalid_tool_calls]


def _turns(messages: Sequence[AnyMessage]) -> list[Block]:
    turns: list[Block] = []
    for block in blocks_of(messages):
        if isinstance(block[0], HumanMessage) or not turns:
            turns.append([])
        turns[-1].extend(block)
    return turns


def _size(block: Iterable[AnyMessage]) -> int:
    return sum(len(message.text) + _size_of_calls(message) for message in block)


def _size_of_calls(message: AnyMessage) -> int:
    return sum(len(str(call["args"])) for call in message.tool_calls) if isinstance(message, AIMessage) else 0


def _without_content(message: AnyMessage) -> AnyMessage:
    if isinstance(message, ToolMessage) and len(message.text) > len(LEFT_OUT):
        return message.model_copy(update={"content": LEFT_OUT})
    return message


def _summary(turns: Sequence[Block]) -> str:
    """Join the turns' extracts, the newest ones where not all fit."""
    lines: list[str] = []
    room = SUMMARY_CHARACTERS
    for turn in reversed(turns):
        line = _extract(turn)
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def _extract(turn: Block) -> str:
    asked = next((message.text for message in turn if isinstance(message, HumanMessage)), "")
    models = [message for message in turn if isinstance(message, AIMessage)]
    answers = [message.text for message in models if message.text]
    tools = dict.fromkeys(call["name"] for message in models for call in message.tool_calls)
    parts = [f"Person: {_cut(asked, ASKED_CHARACTERS)}"]
    if tools:
        parts.append(f"Tools: {', '.join(tools)}")
    if answers:
        parts.append(f"Assistant: {_cut(answers[-1], ANSWERED_CHARACTERS)}")
    return "\n".join(parts)


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
