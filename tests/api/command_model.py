"""A chat model that does what the message says to the letter: `share_item {"item_id": "..."}` calls that tool."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from tests.fakes.chat_model import FakeChatModel, route_to, tool_call, tool_calls, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND = re.compile(r"^(\w+) (\{.*\})$", re.MULTILINE)


def command(tool: str, **args: Any) -> str:
    """Return the message that has the model call the tool."""
    return f"{tool} {json.dumps(args, ensure_ascii=False)}"


class CommandModel(FakeChatModel):
    """Calls the tool that a person's message names, in every line of it, then tells the results; else says it back."""

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        if "RouteDecision" in offered:
            return route_to("drive_agent")
        last = messages[-1]
        if not isinstance(last, HumanMessage):
            return AIMessage(f"Done: {last.text[:200]}")
        calls = [
            tool_call(name, f"call_{uuid4().hex}", **json.loads(args)) for name, args in COMMAND.findall(words_of(last))
        ]
        return tool_calls(*calls) if calls else AIMessage(f"You said {words_of(last)}")
