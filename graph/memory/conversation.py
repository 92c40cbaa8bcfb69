"""The conversation for the router and the planner: the specialist's view of it, as text within a budget."""

import json
from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.messages.others import made_of
from graph.messages.tokens import tokens_of
from graph.prompts import section

CONVERSATION_TOKENS: Final = 3_000
MESSAGE_CHARACTERS: Final = 2_000
ARGUMENT_CHARACTERS: Final = 300
RESULT_CHARACTERS: Final = 300
OF_OTHERS: Final = "[about what others share]"


def conversation_section(view: Sequence[AnyMessage], budget: int = CONVERSATION_TOKENS) -> str:
    """Return the conversation before the person's newest message, the newest first to fit; empty without any.

    Words that rest on other people's items are left out: a plan or a reason made of them would outlive their shares.
    """
    end = next((index for index in range(len(view), 0, -1) if isinstance(view[index - 1], HumanMessage)), 0) - 1
    lines: list[str] = []
    for message, others in reversed([*made_of(view[: max(end, 0)])]):
        line = _line(message, is_of_others=bool(others))
        budget -= tokens_of(line)
        if budget < 0:
            break
        lines.append(line)
    return section("conversation", "\n".join(filter(None, reversed(lines)))) if any(lines) else ""


def _line(message: AnyMessage, *, is_of_others: bool) -> str:
    if isinstance(message, HumanMessage):
        return f"human: {message.text[:MESSAGE_CHARACTERS]}"
    if isinstance(message, ToolMessage):
        return f"tool: {message.name} {OF_OTHERS if is_of_others else _short(message.text, RESULT_CHARACTERS)}"
    if not isinstance(message, AIMessage):
        return ""
    calls = [f"{call['name']} {_short(json.dumps(call['args'], ensure_ascii=False))}" for call in message.tool_calls]
    said = OF_OTHERS if is_of_others and message.text else message.text[:MESSAGE_CHARACTERS]
    return "\n".join([*([f"ai: {said}"] if said.strip() else []), *(f"ai calls: {call}" for call in calls)])


def _short(text: str, limit: int = ARGUMENT_CHARACTERS) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
